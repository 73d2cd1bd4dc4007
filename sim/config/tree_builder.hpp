// Builds the Node tree of a document from the events of the JSON parser. Used by Document::parse only.
//
// The parser reads through a CountingIterator, which knows the line of the last token; every event takes its line from
// there. What our documents do not allow (duplicate keys, deep nesting) is refused as soon as it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/document.hpp"

namespace farandole { inline namespace config {

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

/// The parser's listener; the names of its public functions are nlohmann's.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::shared_ptr<const std::string> source, const Progress& progress)
      : text_(text), source_(std::move(source)), progress_(&progress) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value);
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // JSON text has none
  bool start_object(std::size_t) { return open(Node::Object{}); }
  bool key(std::string& name);
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(Node::Array{}); }
  bool end_array() { return close(); }
  [[noreturn]] bool parse_error(std::size_t offset, const std::string& token, const nlohmann::json::exception& error);

  Node take_root() { return std::move(root_); }

 private:
  struct Level {
    Node node;
    std::optional<std::string> key;         // read, its value not yet
    std::unordered_set<std::string> names;  // of an object; asked only whether a key is there
  };

  bool add(decltype(Node::value) value);
  bool attach(Node node);
  bool open(decltype(Node::value) container);
  void count_one_more();
  bool close();
  [[nodiscard]] std::string pointer(bool with_next) const;
  [[nodiscard]] Place place(std::string pointer) const;

  std::string_view text_;
  std::shared_ptr<const std::string> source_;
  const Progress* progress_;
  std::vector<Level> open_;
  std::size_t values_ = 0;
  Node root_;
};

// Says in human words why a text is not JSON, from what the JSON lexer reports.

struct SyntaxError {
  std::string expected;
  std::string got;
  bool after_value = false;  // the value before was complete: the place is its container, not the next element
};

/// `report` is the lexer's own message, `token` the last token it read, `offset` how much of `text` that took.
SyntaxError explain_syntax_error(std::string_view report, std::string_view token, std::string_view text,
                                 std::size_t offset);

}}  // namespace farandole::config
