#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "config/error.hpp"
#include "config/tree_builder.hpp"

namespace farandole { inline namespace config {
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
