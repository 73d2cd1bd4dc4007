#include "report/html.hpp"

namespace farandole {
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

}  // namespace farandole
