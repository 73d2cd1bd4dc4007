// What a field list names stands in JSON, in CSV and, where it asks for a column, in a table: no writer can forget one.
#include "timeline/fields.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/points.hpp"
#include "report/record.hpp"
#include "report/reports.hpp"

namespace farandole::fields_test { namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;

struct Expected {
  std::vector<std::string> keys;     // of the point's own record
  std::vector<std::string> columns;  // of CSV
  std::vector<std::string> figures;  // headings of the table
};

/// Reads the names off a list; what nests another list is told by its name alone.
struct Names {
  Expected& expected;

  template <class T>
  void operator()(const char* name, const T&, const Field& field = {}) {
    if (!field.stated) return;
    expected.keys.emplace_back(name);
    if (field.in_rows) expected.columns.emplace_back(name);
    if (field.column != nullptr) expected.figures.emplace_back(field.column);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value, const Field& field = {}) {
    if (value) (*this)(name, *value, field);
  }
  template <class T>
  void derived(const char* name, const T& value, const Field& field = {}) {
    (*this)(name, value, field);
  }
  template <class T>
  void part(const T& part, const Field& = {}) {
    T::fields(part, *this);
  }
  template <class T>
  void part(const std::optional<T>& part, const Field& = {}) {
    if (part) T::fields(*part, *this);
  }
  template <class T>
  void unwritten(const T&) {}
};

/// With something in every part that may be missing.
TrainingPoint full_point() {
  TrainingPoint point = vgg16_on_512_ranks();
  point.utilisation = {512, 1e6, 100, 0.5, 0.4, 0.5, "full"};
  point.anchoring.emplace();
  point.bands.emplace();
  point.swept = {{"/strategy/settings/x", "1"}};
  point.notes = {"a note"};
  point.run.emplace();
  point.cost.emplace();
  point.explanation.emplace();
  point.learning.emplace();
  point.neighbours.emplace_back();
  point.links.emplace_back();
  point.tuning.emplace();
  return point;
}

CollectivePoint full_collective() {
  CollectivePoint point = allreduce_of_a_mebibyte();
  point.choice.emplace();
  point.links.emplace_back();
  return point;
}

template <class Point>
Expected expected_of(const Point& point) {
  Expected expected;
  Names names{expected};
  Point::fields(point, names);
  return expected;
}

std::vector<std::string> keys_of(const Record& record) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : record.items()) keys.push_back(key);
  return keys;
}

template <class Write, class Point>
std::string text_of(Write write, Format format, const Point& point) {
  std::ostringstream out;
  write(out, format, heading(), std::vector{point});
  return out.str();
}

/// The cells of the first line; names of keys hold no comma.
std::vector<std::string> header_of(const std::string& csv) {
  std::istringstream line(csv.substr(0, csv.find('\n')));
  std::vector<std::string> cells;
  for (std::string cell; std::getline(line, cell, ',');) cells.push_back(cell);
  return cells;
}

/// As it is, or what it nests: two ends, or keys of its own.
bool has_column(const std::vector<std::string>& header, const std::string& name) {
  return std::ranges::any_of(
      header, [&](const std::string& column) { return column == name || column.starts_with(name + "_"); });
}

TEST(FieldsOfATrainingPoint, AreTheKeysOfItsJsonInTheirOrder) {
  const TrainingPoint point = full_point();
  EXPECT_EQ(keys_of(to_record(point)), expected_of(point).keys);
}

TEST(FieldsOfATrainingPoint, AreColumnsOfItsCsvButForListsOfStructs) {
  const TrainingPoint point = full_point();
  const auto header = header_of(text_of(write_training, Format::csv, point));
  for (const std::string& name : expected_of(point).columns) {
    const bool has_no_leaves = to_record(point).at(name) == Record::object();
    EXPECT_TRUE(has_no_leaves || has_column(header, name)) << name;
  }
  EXPECT_FALSE(has_column(header, "links"));
  EXPECT_FALSE(has_column(header, "neighbours"));
}

TEST(FieldsOfATrainingPoint, WithAHeadingAreColumnsOfItsTables) {
  const TrainingPoint point = full_point();
  const std::string table = text_of(write_training, Format::table, point);
  const auto figures = expected_of(point).figures;
  EXPECT_THAT(figures, IsSupersetOf({"iteration", "samples/s", "tokens/s"}));
  for (const std::string& heading : figures) EXPECT_THAT(table, HasSubstr("  " + heading)) << heading;
}

TEST(FieldsOfACollectivePoint, AreTheKeysOfItsJsonAndTheColumnsOfItsCsv) {
  const CollectivePoint point = full_collective();
  const Expected expected = expected_of(point);
  EXPECT_EQ(keys_of(to_record(point)), expected.keys);
  EXPECT_EQ(header_of(text_of(write_collective, Format::csv, point)), expected.columns);
  EXPECT_THAT(expected.keys, Contains("links"));
}

}}  // namespace farandole::fields_test
