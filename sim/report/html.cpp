#include "report/html.hpp"

#include <cstdint>

namespace farandole { inline namespace report {
namespace {

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const std::string_view known = entity(c);
    if (known.empty()) {
      result += c;
    } else {
      result += known;
    }
  }
  return result;
}

std::string script_json(const Record& record) {
  std::string result;
  for (const char c : json_text(record)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string script_source(std::string_view digest) {
  constexpr std::string_view symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "'sha256-";
  // Three bytes, six hexadecimal digits, make four symbols; a group that ends early is filled up.
  for (std::size_t at = 0; at < digest.size(); at += 6) {
    const std::string_view group = digest.substr(at, 6);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const char digit = i < group.size() ? group[i] : '0';
      bits = bits * 16 + static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_filled_up = i > group.size() / 2;
      text += is_filled_up ? '=' : symbols[(bits >> (18 - 6 * i)) & 63U];
    }
  }
  return text + "'";
}

}}  // namespace farandole::report
