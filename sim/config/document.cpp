#include "config/document.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/text.hpp"
#include "config/tree_builder.hpp"

namespace farandole { inline namespace config {
namespace {

/// The lexer takes a zero byte for the end of the text, and would let pass what follows.
void refuse_zero_bytes(std::string_view text, const std::string& source) {
  const auto at = text.find('\0');
  if (at == std::string_view::npos) return;
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw InputError(Place{source, static_cast<int>(line), ""}, "JSON text in UTF-8", "a zero byte");
}

/// `Json` keeps the members of an object in the order of the file, or sorts them.
template <class Json>
struct To {
  Json operator()(const Node::Array& array) const {
    auto result = Json::array();
    for (const Node& element : array) result.push_back(std::visit(*this, element.value));
    return result;
  }
  Json operator()(const Node::Object& object) const {
    auto result = Json::object();
    for (const auto& [key, node] : object) result[key] = std::visit(*this, node.value);
    return result;
  }
  template <class Scalar>
  Json operator()(const Scalar& scalar) const {
    return scalar;
  }
};

}  // namespace

Document Document::read(const std::filesystem::path& file) {
  return parse(read_text(file), file.string());
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

nlohmann::ordered_json Document::to_ordered_json() const {
  return std::visit(To<nlohmann::ordered_json>{}, root_.value);
}

nlohmann::json to_json(const Node& node) {
  return std::visit(To<nlohmann::json>{}, node.value);
}

}}  // namespace farandole::config
