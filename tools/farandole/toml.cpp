#include "toml.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include "config/section.hpp"
#include "config/text.hpp"

namespace farandole {
namespace {

constexpr std::string_view blanks_of_toml = " \t\r";

class TomlReader {
 public:
  TomlReader(std::string_view text, const std::string& source)
      : rest_(text), source_(std::make_shared<const std::string>(source)) {}

  Node read() {
    Node root = make(1, Node::Object{});
    Node* table = &root;
    for (skip_lines(); !rest_.empty(); skip_lines()) {
      if (take('[')) {
        table = &open_table(root);
      } else {
        add_member(*table);
      }
      skip_blanks();
      if (!rest_.empty() && rest_.front() != '\n') fail("the end of the line");
    }
    return root;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    std::string_view got = rest_.substr(0, rest_.find('\n'));
    while (!got.empty() && blanks_of_toml.find(got.back()) != std::string_view::npos) got.remove_suffix(1);
    throw InputError(Place{*source_, line_, ""}, expected, got.empty() ? "the end of the line" : quoted(got));
  }

  [[noreturn]] void fail_twice(const std::string& name, int before) const {
    throw InputError(Place{*source_, line_, ""}, quoted(name) + " once",
                     "it again, after line " + std::to_string(before));
  }

  Node make(int line, decltype(Node::value) value) const { return {std::move(value), line, source_}; }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// And a comment behind them.
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks_of_toml), rest_.size()));
    if (rest_.starts_with('#')) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
  }

  void skip_lines() {
    for (skip_blanks(); take('\n'); skip_blanks()) ++line_;
  }

  std::string take_key() {
    if (rest_.starts_with('"') || rest_.starts_with('\'')) return take_string();
    const auto belongs = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
    const auto end = std::ranges::find_if_not(rest_, belongs) - rest_.begin();
    if (end == 0) fail("a key, or a table in brackets");
    std::string key(rest_.substr(0, static_cast<std::size_t>(end)));
    rest_.remove_prefix(key.size());
    return key;
  }

  /// Its header, whose bracket has been taken.
  Node& open_table(Node& root) {
    Node* table = &root;
    std::string whole;
    do {
      skip_blanks();
      const std::string name = take_key();
      whole += (whole.empty() ? "" : ".") + name;
      auto& members = std::get<Node::Object>(table->value);
      auto place = std::ranges::find(members, name, &Node::Member::key);
      if (place == members.end()) place = members.insert(place, {name, make(line_, Node::Object{})});
      table = &place->node;
      if (!std::holds_alternative<Node::Object>(table->value)) fail_twice(name, table->line);
      skip_blanks();
    } while (take('.'));
    if (!take(']')) fail("\"]\" behind the name of a table");
    if (!headers_.insert(whole).second) fail_twice("[" + whole + "]", table->line);
    return *table;
  }

  void add_member(Node& table) {
    const std::string key = take_key();
    auto& members = std::get<Node::Object>(table.value);
    const auto before = std::ranges::find(members, key, &Node::Member::key);
    if (before != members.end()) fail_twice(key, before->node.line);
    skip_blanks();
    if (!take('=')) fail("\"=\" behind a key without dots");
    skip_blanks();
    members.push_back({key, take_value(1)});
  }

  Node take_value(std::size_t depth) {
    const int line = line_;
    if (rest_.starts_with('"') || rest_.starts_with('\'')) return make(line, take_string());
    if (rest_.starts_with('[') && depth < most_levels) return take_array(depth);
    const std::string_view word = rest_.substr(0, std::min(rest_.find_first_of(",] \t\r\n#"), rest_.size()));
    Node node = make(line, word == "true");
    if (word != "true" && word != "false" && !read_number(word, node)) {
      fail("a text, a number, true, false or an array of these");
    }
    rest_.remove_prefix(word.size());
    return node;
  }

  static bool read_number(std::string_view word, Node& node) {
    std::string digits(word.substr(word.starts_with('+') ? 1 : 0));
    std::erase(digits, '_');
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    if (first == digits.size() || std::isdigit(static_cast<unsigned char>(digits[first])) == 0) return false;
    const char* end = digits.data() + digits.size();
    std::int64_t whole = 0;
    double number = 0;
    if (std::from_chars(digits.data(), end, whole).ptr == end) {
      node.value = whole;
      return std::from_chars(digits.data(), end, whole).ec == std::errc{};
    }
    const auto read = std::from_chars(digits.data(), end, number);
    node.value = number;
    return read.ptr == end && read.ec == std::errc{};
  }

  Node take_array(std::size_t depth) {
    Node array = make(line_, Node::Array{});
    take('[');
    for (skip_lines(); !take(']'); skip_lines()) {
      auto& elements = std::get<Node::Array>(array.value);
      elements.push_back(take_value(depth + 1));
      skip_lines();
      if (!take(',') && !rest_.starts_with(']')) fail("\",\" or \"]\" in an array");
    }
    return array;
  }

  std::string take_string() {
    const char quote = rest_.front();
    if (rest_.substr(0, 3) == std::string(3, quote)) fail("a text of one line");
    const std::string_view whole = rest_;
    take(quote);
    std::string text;
    while (!take(quote)) {
      if (rest_.empty() || rest_.front() == '\n') {
        rest_ = whole;
        fail(std::string("a closing ") + quote);
      }
      text += quote == '"' && rest_.front() == '\\' ? take_escape() : rest_.front();
      rest_.remove_prefix(1);
    }
    return text;
  }

  /// Up to its last letter.
  char take_escape() {
    constexpr std::string_view letters = "\"\\ntr";
    constexpr std::string_view meant = "\"\\\n\t\r";
    const auto which = rest_.size() < 2 ? std::string_view::npos : letters.find(rest_[1]);
    if (which == std::string_view::npos) fail(R"(\", \\, \n, \t or \r)");
    take('\\');
    return meant[which];
  }

  std::string_view rest_;
  std::shared_ptr<const std::string> source_;
  int line_ = 1;
  std::set<std::string> headers_;
};

}  // namespace

bool is_toml(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(blanks_of_toml), line.size()));
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') return line.size() > 1 && line.find(']') != std::string_view::npos;
    return line.find('=') < line.find(':');
  }
  return false;
}

Node parse_toml(std::string_view text, const std::string& source) {
  return TomlReader(text, source).read();
}

}  // namespace farandole
