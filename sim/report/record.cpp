#include "report/record.hpp"

#include <cmath>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/field_record.hpp"

namespace farandole { inline namespace report {

double finite(double number, std::string_view key) {
  if (!std::isfinite(number)) throw std::logic_error(fmt::format("the result \"{}\" is not a finite number", key));
  return number + 0.0;  // -0.0 + 0.0 is 0.0
}

Record to_record(const TrainingPoint& point) {
  return record_of(point);
}

Record to_record(const CollectivePoint& point) {
  return record_of(point);
}

Record to_row(const TrainingPoint& point) {
  return record_of(point, RecordForm::row);
}

Record to_row(const CollectivePoint& point) {
  return record_of(point, RecordForm::row);
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

}}  // namespace farandole::report
