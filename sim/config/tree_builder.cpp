#include "config/tree_builder.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "config/error.hpp"
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

namespace {

using Wording = std::pair<std::string_view, std::string_view>;  // of the parser's report, and ours

// The first match counts, so "object key" stands before "object".
constexpr std::array<Wording, 4> expectations{{{"while parsing object key", "a key in double quotes"},
                                               {"while parsing object separator", "':' after the key"},
                                               {"while parsing array", "',' or ']'"},
                                               {"while parsing object", "',' or '}'"}}};

constexpr std::array<Wording, 7> findings{{{"unexpected end of input", "the end of the text"},
                                           {"missing closing quote", "a string without its closing quote"},
                                           {"ill-formed UTF-8", "bytes that are not UTF-8"},
                                           {"invalid BOM", "bytes that are not UTF-8"},
                                           {"forbidden character", "an escape that JSON does not have"},
                                           {"'\\u' must be", "an escape that JSON does not have"},
                                           {"surrogate", "half of a surrogate pair"}}};

constexpr std::array<std::string_view, 6> not_finite{"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view find_words(const auto& table, std::string_view report) {
  for (const auto& [part, words] : table) {
    if (contains(report, part)) return words;
  }
  return {};
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || contains("_+-.", {&c, 1});
}

/// The whole word around the place where the lexer gave up, which it does at the first wrong character.
std::string_view word_before(std::string_view text, std::size_t offset) {
  std::size_t end = std::clamp<std::size_t>(offset, 1, text.size());
  if (end > 1 && !is_word(text[end - 1]) && is_word(text[end - 2])) --end;
  if (!is_word(text[end - 1])) return text.substr(end - 1, 1);
  std::size_t begin = end - 1;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// The one character where the lexer gave up, or the word it stands in.
std::string found(std::string_view report, std::string_view token, std::string_view text, std::size_t offset) {
  const char last = text[std::clamp<std::size_t>(offset, 1, text.size()) - 1];
  if (contains(report, "control character")) {
    return last == '\n' || last == '\r' ? "a line break inside a string" : "a control character inside a string";
  }
  if (last == '"' && token.size() >= 2) return quoted(token.substr(1, token.size() - 2));
  if (contains(report, "unexpected '")) return quoted(std::string_view(&last, 1));
  const auto word = word_before(text, offset);
  if (word == "/" || word == "#") return "a comment (JSON has none; write a \"comment\" key)";
  return quoted(word);
}

}  // namespace

SyntaxError explain_syntax_error(std::string_view report, std::string_view token, std::string_view text,
                                 std::size_t offset) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return {"a JSON value", "nothing", false};
  SyntaxError result{"a JSON value", {}, false};
  // What follows was copied from the text, and must not be taken for the lexer's words.
  const auto own = report.substr(0, report.find("; last read: '"));
  if (report.ends_with("expected end of input")) {
    result.expected = "the end of the text";
    result.after_value = true;
  } else if (const auto words = find_words(expectations, own); !words.empty()) {
    result.expected = words;
    result.after_value = words.starts_with("','");
  }
  const auto words = find_words(findings, own);
  result.got = words.empty() ? found(own, token, text, offset) : std::string(words);
  const auto word = word_before(text, offset);
  if (words.empty() && std::find(not_finite.begin(), not_finite.end(), word) != not_finite.end()) {
    result.expected = "a finite number";
  }
  return result;
}

}}  // namespace farandole::config
