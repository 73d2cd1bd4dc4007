// A result point as the flat or nested record that JSON and CSV share, so that the two can never disagree.
//
// The outward names of a point's keys are those of its field list (timeline/fields.hpp): scripts rely on them, so keys
// may be added but never renamed. Used by the writers of this room; other structs become records by
// report/field_record.hpp.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/heading.hpp"
#include "timeline/result.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace report {

using Record = nlohmann::ordered_json;

/// A row of CSV has no place for lists of structs, and two columns for an interval.
enum class RecordForm : char { document, row };

Record to_record(const TrainingPoint& point, RecordForm form = RecordForm::document);
Record to_record(const CollectivePoint& point, RecordForm form = RecordForm::document);

/// A number for a record. JSON has no word for infinity or "not a number", and a result that holds one is wrong:
/// std::logic_error. Negative zero becomes zero.
double finite(double number, std::string_view key);

template <class Point>
std::vector<Record> to_records(std::span<const Point> points, RecordForm form = RecordForm::document) {
  return mapped(points, [&](const Point& point) { return to_record(point, form); });
}

/// The document of section "Results as JSON" of the outward contract, indented by two. `question`: what the study
/// asked, answered; null where it asked nothing.
void write_json(std::ostream& out, const Heading& heading, const std::vector<Record>& records,
                const Record& question = {});

/// A line of names, then a line per record (RFC 4180, lines end in LF). Nested keys are joined with '_'. `example`
/// gives the first columns, so that a result without points still has its header line; what only some records have
/// follows, empty in the others. Texts that a spreadsheet would take for a formula begin with an apostrophe.
void write_csv(std::ostream& out, const Record& example, const std::vector<Record>& records);

/// `record` as JSON text on one line or indented; bytes that are not UTF-8 are replaced, never a reason to fail.
/// Control characters are escaped, those above 0x7f too, which JSON may hold and terminals obey.
std::string json_text(const Record& record, int indent = -1);

// A result point back from its record: the inverse of to_record (report/record.hpp).
//
// Called by study/ for points that were written down by another process. Numbers come back exactly: JSON holds the
// shortest text that gives the same double.

/// std::logic_error where the record is not one that to_record gives.
TrainingPoint training_point(const Record& record);
/// Of record_of; Record::exception where it is not.
Question question_of(const Record& record);

}}  // namespace farandole::report
