#include "config/tree_builder.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "config/section.hpp"

namespace farandole { inline namespace config {
namespace {

constexpr std::size_t longest_key = 1000;

/// Each takes some hundred bytes, be it two in the file: half a gigabyte of them.
constexpr std::size_t most_values = std::size_t{1} << 22;

int line_of(const Node::Object& object, const std::string& key) {
  const auto found = std::find_if(object.begin(), object.end(), [&](const auto& member) { return member.key == key; });
  return found == object.end() ? 0 : found->node.line;
}

}  // namespace

bool TreeBuilder::number_unsigned(std::uint64_t value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value <= most ? add(static_cast<std::int64_t>(value)) : add(static_cast<double>(value));
}

bool TreeBuilder::key(std::string& name) {
  if (name.size() > longest_key) {
    throw InputError(place(pointer(false)), fmt::format("keys of at most {} bytes", longest_key), quoted(name));
  }
  Level& level = open_.back();
  if (!level.names.insert(name).second) {
    const int first = line_of(std::get<Node::Object>(level.node.value), name);
    throw InputError(place(pointer(false) + "/" + pointer_token(name)), "every key once",
                     fmt::format("{} again (first on line {})", quoted(name), first));
  }
  level.key = std::move(name);
  return true;
}

bool TreeBuilder::parse_error(std::size_t offset, const std::string& token, const nlohmann::json::exception& error) {
  constexpr int number_overflow = 406;
  if (error.id == number_overflow) throw InputError(place(pointer(true)), "a finite number", quoted(token));
  const auto why = explain_syntax_error(error.what(), token, text_, offset);
  throw InputError(place(pointer(!why.after_value)), why.expected, why.got);
}

void TreeBuilder::count_one_more() {
  if (++values_ > most_values)
    throw InputError(place(""), fmt::format("at most {} values", counted(most_values)), "more");
}

bool TreeBuilder::add(decltype(Node::value) value) {
  count_one_more();
  return attach(Node{std::move(value), progress_->token_line, source_});
}

bool TreeBuilder::attach(Node node) {
  if (open_.empty()) {
    root_ = std::move(node);
    return true;
  }
  Level& level = open_.back();
  if (auto* array = std::get_if<Node::Array>(&level.node.value)) {
    array->push_back(std::move(node));
  } else {
    std::get<Node::Object>(level.node.value).push_back({std::move(level.key).value(), std::move(node)});
    level.key.reset();
  }
  return true;
}

bool TreeBuilder::open(decltype(Node::value) container) {
  count_one_more();
  if (open_.size() == most_levels) {
    throw InputError(place(pointer(true)), fmt::format("at most {} levels of nesting", most_levels), "more");
  }
  open_.push_back(Level{Node{std::move(container), progress_->token_line, source_}, {}, {}});
  return true;
}

bool TreeBuilder::close() {
  Node node = std::move(open_.back().node);
  open_.pop_back();
  return attach(std::move(node));
}

/// The containers that are open, and with `with_next` the element that would come next in the innermost.
std::string TreeBuilder::pointer(bool with_next) const {
  std::string result;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (i + 1 == open_.size() && !with_next) break;
    const Level& level = open_[i];
    if (const auto* array = std::get_if<Node::Array>(&level.node.value)) {
      result += fmt::format("/{}", array->size());
    } else if (level.key) {
      result += "/" + pointer_token(*level.key);
    }
  }
  return result;
}

Place TreeBuilder::place(std::string pointer) const {
  return Place{*source_, progress_->token_line, std::move(pointer)};
}

}}  // namespace farandole::config
