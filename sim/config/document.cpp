#include "config/document.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/tree_builder.hpp"

namespace farandole {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20U;

[[noreturn]] void refuse_file(const std::filesystem::path& file, std::string_view got) {
  throw InputError(fmt::format("{}: expected a readable file, got {}", file.string(), got));
}

std::string text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse_file(file, "a directory");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_file(file, fmt::format("\"{}\"", std::generic_category().message(errno)));
  // By pieces, because pipes and devices do not tell their size.
  std::string text;
  std::string piece(std::size_t{1} << 16U, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) || stream.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest_file) refuse_file(file, "more than 64 MiB");
  }
  if (stream.bad()) refuse_file(file, fmt::format("\"{}\"", std::generic_category().message(errno)));
  return text;
}

/// The lexer takes a zero byte for the end of the text, and would let pass what follows.
void refuse_zero_bytes(std::string_view text, const std::string& source) {
  const auto at = text.find('\0');
  if (at == std::string_view::npos) return;
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw InputError(Place{source, static_cast<int>(line), ""}, "JSON text in UTF-8", "a zero byte");
}

struct ToJson {
  nlohmann::json operator()(const Node::Array& array) const {
    auto result = nlohmann::json::array();
    for (const Node& element : array) result.push_back(to_json(element));
    return result;
  }
  nlohmann::json operator()(const Node::Object& object) const {
    auto result = nlohmann::json::object();
    for (const auto& [key, node] : object) result[key] = to_json(node);
    return result;
  }
  template <class Scalar>
  nlohmann::json operator()(const Scalar& scalar) const {
    return scalar;
  }
};

}  // namespace

Document Document::read(const std::filesystem::path& file) {
  return parse(text_of(file), file.string());
}

Document Document::parse(std::string_view text, std::string source) {
  refuse_zero_bytes(text, source);
  Progress progress;
  TreeBuilder builder(text, std::make_shared<const std::string>(std::move(source)), progress);
  nlohmann::json::sax_parse(CountingIterator(text.data(), progress),
                            CountingIterator(text.data() + text.size(), progress), &builder);
  Document result;
  result.root_ = builder.take_root();
  return result;
}

nlohmann::json Document::to_json() const {
  return farandole::to_json(root_);
}

nlohmann::json to_json(const Node& node) {
  return std::visit(ToJson{}, node.value);
}

}  // namespace farandole
