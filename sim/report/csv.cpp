#include <ostream>
#include <string>

#include "report/record.hpp"

namespace farandole {
namespace {

std::string quoted_where_needed(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string plain_text(const Record& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

/// Calls `visit(name, value)` for every leaf, in order.
template <class Visit>
void for_each_leaf(const Record& record, const std::string& prefix, const Visit& visit) {
  for (const auto& [key, value] : record.items()) {
    if (value.is_object()) {
      for_each_leaf(value, prefix + key + '_', visit);
    } else {
      visit(prefix + key, value);
    }
  }
}

/// One line: what `text(name, value)` gives for every leaf.
template <class Text>
void write_line(std::ostream& out, const Record& record, const Text& text) {
  bool first = true;
  for_each_leaf(record, "", [&](const std::string& name, const Record& value) {
    if (!first) out << ',';
    first = false;
    out << quoted_where_needed(text(name, value));
  });
  out << '\n';
}

}  // namespace

void write_csv(std::ostream& out, const Record& example, const std::vector<Record>& records) {
  write_line(out, example, [](const std::string& name, const Record&) { return name; });
  for (const Record& record : records) {
    write_line(out, record, [](const std::string&, const Record& value) { return plain_text(value); });
  }
}

}  // namespace farandole
