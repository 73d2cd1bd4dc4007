#include "report/record.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/field_record.hpp"

namespace farandole { inline namespace report {

double finite(double number, std::string_view key) {
  if (!std::isfinite(number)) throw std::logic_error(fmt::format("the result \"{}\" is not a finite number", key));
  return number + 0.0;  // -0.0 + 0.0 is 0.0
}

Record to_record(const TrainingPoint& point, RecordForm form) {
  return record_of(point, form);
}

Record to_record(const CollectivePoint& point, RecordForm form) {
  return record_of(point, form);
}

std::string json_text(const Record& record, int indent) {
  const std::string raw = record.dump(indent, ' ', false, Record::error_handler_t::replace);
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    const auto next = i + 1 < raw.size() ? static_cast<unsigned char>(raw[i + 1]) : 0U;
    if (byte == 0x7F) {
      text += "\\u007f";
    } else if (byte == 0xC2 && next < 0xA0) {
      text += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      text += raw[i];
    }
  }
  return text;
}

void write_json(std::ostream& out, const Heading& heading, const std::vector<Record>& records, const Record& question) {
  Record document{{"farandole", version()}, {"scenario", heading.scenario}};
  if (!heading.answer.empty()) document["answer"] = heading.answer;
  if (heading.optimum) document["optimum"] = record_of(*heading.optimum);
  for (const auto& [point, reason] : heading.failed) {
    document["failed"].push_back({{"point", point}, {"reason", reason}});
  }
  if (!question.is_null()) document["question"] = question;
  document["settings"] = Record(heading.settings);
  document["points"] = Record(records);
  out << json_text(document, 2) << '\n';
}

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

/// A text that spreadsheets would take for a formula stands behind an apostrophe, which they do not show
/// (owasp.org/www-community/attacks/CSV_Injection); one that is a number is none.
std::string defused(const std::string& text) {
  const bool may_be_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  if (!may_be_formula) return text;
  const bool is_negative_number = text.front() == '-' && Record::parse(text, nullptr, false).is_number();
  return is_negative_number ? text : "'" + text;
}

std::string plain_text(const Record& value) {
  return value.is_string() ? defused(value.get<std::string>()) : json_text(value);
}

/// Calls `visit(name, value)` for every leaf, in order.
void for_each_leaf(const Record& record, const std::string& prefix, const auto& visit) {
  for (const auto& [key, value] : record.items()) {
    if (value.is_object()) {
      for_each_leaf(value, prefix + key + '_', visit);
    } else {
      visit(prefix + key, value);
    }
  }
}

void write_csv_line(std::ostream& out, const std::vector<std::string>& cells) {
  out << fmt::format("{}\n", fmt::join(mapped(cells, quoted_where_needed), ","));
}

}  // namespace

void write_csv(std::ostream& out, const Record& example, const std::vector<Record>& records) {
  std::vector<std::string> columns;
  const auto add_columns = [&](const std::string& name, const Record&) {
    if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  };
  for_each_leaf(example, "", add_columns);
  for (const Record& record : records) for_each_leaf(record, "", add_columns);
  write_csv_line(out, mapped(columns, defused));
  for (const Record& record : records) {
    std::map<std::string, std::string> texts;
    for_each_leaf(record, "", [&](const std::string& name, const Record& value) { texts[name] = plain_text(value); });
    write_csv_line(out, mapped(columns, [&](const std::string& column) { return texts[column]; }));
  }
}

}}  // namespace farandole::report
