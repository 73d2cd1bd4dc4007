#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "config/section.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace config {
namespace {

struct Line {
  int number;
  std::size_t indent;
  std::string text;  // without indentation and comment; never empty
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// Where a comment begins, outside of quotes.
std::size_t end_of_content(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool may_begin = i == 0 || is_blank(text[i - 1]);
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && (may_begin || text[i - 1] == '[' || text[i - 1] == ',')) {
      quote = c;
    } else if (c == '#' && may_begin) {
      return i;
    }
  }
  return text.size();
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : source_(std::make_shared<const std::string>(source)) {
    if (!is_utf8(text)) throw InputError(Place{source, 1, ""}, "text in UTF-8", "other bytes");
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      add_line(++number, text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  Node read() {
    if (lines_.empty()) return make(1, Node::Object{});
    Node root = block(lines_.front().indent, 0);
    if (at_ < lines_.size()) fail(lines_[at_].number, "a key at the indentation of those before it", lines_[at_].text);
    return root;
  }

 private:
  [[noreturn]] void fail(int line, std::string_view expected, std::string_view got) const {
    throw InputError(Place{*source_, line, ""}, expected, quoted(got));
  }

  Node make(int line, decltype(Node::value) value) const { return {std::move(value), line, source_}; }

  void add_line(int number, std::string_view text) {
    const std::string_view content = trimmed(text.substr(0, end_of_content(text)));
    if (content.empty() || (content == "---" && lines_.empty())) return;
    if (content == "---" || content == "...") fail(number, "one YAML document", content);
    const std::size_t indent = text.find_first_not_of(' ');
    if (text[indent] == '\t') fail(number, "indentation by blanks", "a tab");
    lines_.push_back({number, indent, std::string(content)});
  }

  static bool is_element(const Line& line) { return line.text == "-" || line.text.starts_with("- "); }

  Node block(std::size_t indent, std::size_t level) {
    if (level > most_levels) fail(lines_[at_].number, fmt::format("at most {} levels", most_levels), "more");
    return is_element(lines_[at_]) ? sequence(indent, level) : mapping(indent, level);
  }

  Node sequence(std::size_t indent, std::size_t level) {
    Node result = make(lines_[at_].number, Node::Array{});
    auto& elements = std::get<Node::Array>(result.value);
    while (at_ < lines_.size() && lines_[at_].indent == indent && is_element(lines_[at_])) {
      Line& line = lines_[at_];
      const std::string rest(trimmed(std::string_view(line.text).substr(1)));
      const std::size_t inner = indent + line.text.size() - rest.size();
      if (!rest.empty() && (colon_of(rest) != std::string::npos || rest.starts_with("- "))) {
        line = {line.number, inner, rest};  // a block begins on the line of its dash
        elements.push_back(block(inner, level + 1));
        continue;
      }
      const int number = line.number;
      ++at_;
      elements.push_back(rest.empty() ? below(indent, number, level) : scalar(rest, number));
    }
    return result;
  }

  Node mapping(std::size_t indent, std::size_t level) {
    Node result = make(lines_[at_].number, Node::Object{});
    auto& members = std::get<Node::Object>(result.value);
    std::set<std::string> seen;
    while (at_ < lines_.size() && lines_[at_].indent == indent && !is_element(lines_[at_])) {
      const Line& line = lines_[at_];
      const std::size_t colon = colon_of(line.text);
      if (colon == std::string::npos) fail(line.number, "KEY: VALUE", line.text);
      std::string key = unquoted(trimmed(std::string_view(line.text).substr(0, colon)), line.number);
      if (!seen.insert(key).second) fail(line.number, "every key once", key);
      const std::string rest(trimmed(std::string_view(line.text).substr(colon + 1)));
      const int number = line.number;
      ++at_;
      Node value = rest.empty() ? below(indent, number, level) : scalar(rest, number);
      members.push_back({std::move(key), std::move(value)});
    }
    return result;
  }

  /// What stands under a key or a dash without a value of its own; sequences may stand at the key's own indentation.
  Node below(std::size_t indent, int number, std::size_t level) {
    if (at_ == lines_.size()) return make(number, nullptr);
    const Line& next = lines_[at_];
    if (next.indent > indent) return block(next.indent, level + 1);
    if (next.indent == indent && is_element(next) && !is_element_at(number)) return block(indent, level + 1);
    return make(number, nullptr);
  }

  [[nodiscard]] bool is_element_at(int number) const {
    const auto line = std::ranges::lower_bound(lines_, number, {}, &Line::number);
    return line != lines_.end() && line->number == number && is_element(*line);
  }

  /// Behind a key; npos where the text is no key and value.
  static std::size_t colon_of(std::string_view text) {
    std::size_t from = 0;
    if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
      from = text.find(text.front(), 1);
      if (from == std::string::npos) return from;
    }
    for (std::size_t i = from; i < text.size(); ++i) {
      if (text[i] == ':' && (i + 1 == text.size() || is_blank(text[i + 1]))) return i;
    }
    return std::string::npos;
  }

  [[nodiscard]] std::string unquoted(std::string_view text, int line) const {
    if (text.empty() || (text.front() != '"' && text.front() != '\'')) return std::string(text);
    const bool is_closed = text.size() > 1 && text.back() == text.front() &&
                           text.substr(1, text.size() - 2).find(text.front()) == std::string_view::npos;
    if (!is_closed || (text.front() == '"' && text.find('\\') != std::string_view::npos)) {
      fail(line, "text in quotes without escapes", text);
    }
    return std::string(text.substr(1, text.size() - 2));
  }

  Node scalar(std::string_view text, int line) {
    if (text == "{}") return make(line, Node::Object{});
    if (text.front() == '[') return brackets(text, line);
    if (text.front() == '"' || text.front() == '\'') return make(line, unquoted(text, line));
    constexpr std::string_view beyond = "{&*!|>%@`";
    if (beyond.find(text.front()) != std::string_view::npos) {
      fail(line, "a plain value, or one in quotes (of YAML no more is read than mappings, sequences and scalars)",
           text);
    }
    return make(line, plain(text));
  }

  Node brackets(std::string_view text, int line) {
    if (text.back() != ']') fail(line, "a sequence that ends on its line", text);
    Node result = make(line, Node::Array{});
    text = trimmed(text.substr(1, text.size() - 2));
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(','), text.size());
      const std::string_view element = trimmed(text.substr(0, end));
      if (element.empty() || element.front() == '[') fail(line, "a sequence of scalars", text);
      std::get<Node::Array>(result.value).push_back(scalar(element, line));
      text = trimmed(text.substr(std::min(end + 1, text.size())));
    }
    return result;
  }

  static decltype(Node::value) plain(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 3> trues{"true", "yes", "on"};
    constexpr std::array<std::string_view, 3> falses{"false", "no", "off"};
    if (std::ranges::find(trues, lower) != trues.end()) return true;
    if (std::ranges::find(falses, lower) != falses.end()) return false;
    if (lower == "null" || lower == "~") return nullptr;
    std::int64_t integer = 0;
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, integer); read.ec == std::errc() && read.ptr == end) {
      return integer;
    }
    double number = 0;
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end && std::isfinite(number)) return number;
    return std::string(text);
  }

  std::shared_ptr<const std::string> source_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

Node parse_yaml(std::string_view text, const std::string& source) {
  return Reader(text, source).read();
}

}}  // namespace farandole::config
