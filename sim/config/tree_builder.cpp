// Builds the Node tree of a document from the events of the JSON parser.
//
// The parser reads through a CountingIterator, which knows the line of the last token; every event takes its line from
// there. What our documents do not allow (duplicate keys, deep nesting) is refused as soon as it is read.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace config {
namespace {

// Says in human words why a text is not JSON, from what the JSON lexer reports.

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

struct SyntaxError {
  std::string expected;
  std::string got;
  bool after_value = false;  // the value before was complete: the place is its container, not the next element
};

/// `report` is the lexer's own message, `token` the last token it read, `offset` how much of `text` that took.
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

/// Where the parser is: the line it reads, and the line of the last character that was not white space. The parser
/// looks one character ahead after a number, so only the latter is the line of a value.
struct Progress {
  int line = 1;
  int token_line = 1;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Progress& progress) : at_(at), progress_(&progress) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') {
      ++progress_->line;
    } else if (*at_ != ' ' && *at_ != '\t' && *at_ != '\r') {
      progress_->token_line = progress_->line;
    }
    ++at_;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  Progress* progress_;
};

constexpr std::size_t longest_key = 1000;

/// Each takes some hundred bytes, be it two in the file: half a gigabyte of them.
constexpr std::size_t most_values = std::size_t{1} << 22;

/// The parser's listener; the names of its public functions are nlohmann's.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::shared_ptr<const std::string> source, const Progress& progress)
      : text_(text), source_(std::move(source)), progress_(&progress) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return value <= most ? add(static_cast<std::int64_t>(value)) : add(static_cast<double>(value));
  }
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // JSON text has none
  bool start_object(std::size_t) { return open(Node::Object{}); }
  bool key(std::string& name) {
    if (name.size() > longest_key) {
      throw InputError(place(pointer(false)), fmt::format("keys of at most {} bytes", longest_key), quoted(name));
    }
    Level& level = open_.back();
    if (!level.names.insert(name).second) {
      const auto first = std::ranges::find(std::get<Node::Object>(level.node.value), name, &Node::Member::key);
      throw InputError(place(pointer(false) + "/" + pointer_token(name)), "every key once",
                       fmt::format("{} again (first on line {})", quoted(name), first->node.line));
    }
    level.key = std::move(name);
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(Node::Array{}); }
  bool end_array() { return close(); }
  [[noreturn]] bool parse_error(std::size_t offset, const std::string& token, const nlohmann::json::exception& error) {
    constexpr int number_overflow = 406;
    if (error.id == number_overflow) throw InputError(place(pointer(true)), "a finite number", quoted(token));
    const auto why = explain_syntax_error(error.what(), token, text_, offset);
    throw InputError(place(pointer(!why.after_value)), why.expected, why.got);
  }

  Node take_root() { return std::move(root_); }

 private:
  struct Level {
    Node node;
    std::optional<std::string> key;         // read, its value not yet
    std::unordered_set<std::string> names;  // of an object; asked only whether a key is there
  };

  void count_one_more() {
    if (++values_ > most_values)
      throw InputError(place(""), fmt::format("at most {} values", counted(most_values)), "more");
  }

  bool add(decltype(Node::value) value) {
    count_one_more();
    return attach(Node{std::move(value), progress_->token_line, source_});
  }

  bool attach(Node node) {
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

  bool open(decltype(Node::value) container) {
    count_one_more();
    if (open_.size() == most_levels) {
      throw InputError(place(pointer(true)), fmt::format("at most {} levels of nesting", most_levels), "more");
    }
    open_.push_back(Level{Node{std::move(container), progress_->token_line, source_}, {}, {}});
    return true;
  }

  bool close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    return attach(std::move(node));
  }

  /// The containers that are open, and with `with_next` the element that would come next in the innermost.
  [[nodiscard]] std::string pointer(bool with_next) const {
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

  [[nodiscard]] Place place(std::string pointer) const {
    return Place{*source_, progress_->token_line, std::move(pointer)};
  }

  std::string_view text_;
  std::shared_ptr<const std::string> source_;
  const Progress* progress_;
  std::vector<Level> open_;
  std::size_t values_ = 0;
  Node root_;
};

/// The lexer takes a zero byte for the end of the text, and would let pass what follows.
void refuse_zero_bytes(std::string_view text, const std::string& source) {
  const auto at = text.find('\0');
  if (at == std::string_view::npos) return;
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw InputError(Place{source, static_cast<int>(line), ""}, "JSON text in UTF-8", "a zero byte");
}

}  // namespace

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

}}  // namespace farandole::config
