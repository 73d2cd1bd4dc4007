// Columns and properties of tables from field lists (timeline/fields.hpp).
//
// Used by the table writers of this room: a field with a `column` is a column of figures, one with a place among the
// properties tells points apart (report/facet.hpp).
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "report/facet.hpp"
#include "report/page.hpp"
#include "timeline/bands.hpp"
#include "timeline/fields.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {

/// Visits the fields of one struct, not those of its parts: their headings and what one row has in their columns.
class ColumnReader {
 public:
  explicit ColumnReader(const TimeColumn& iterations) : iterations_(iterations) {}

  void operator()(const char*, const auto& value, const Field& field = {}) {
    if (field.column == nullptr) return;
    const bool names_its_unit = field.unit == FigureUnit::iteration;
    headings.push_back(field.column + (names_its_unit ? " (" + iterations_.unit + ")" : std::string()));
    cells.push_back(field.stated ? cell(value, field) : std::string());
  }
  void derived(const char* name, const auto& value, const Field& field = {}) { (*this)(name, value, field); }
  void part(const auto&, const Field& = {}) {}
  void unwritten(const auto&) {}

  std::vector<std::string> headings;
  std::vector<std::string> cells;

 private:
  template <class T>
  std::string cell(const std::optional<T>& value, const Field& field) const {
    return value ? cell(*value, field) : std::string();
  }
  std::string cell(std::integral auto value, const Field&) const { return std::to_string(value); }
  template <class T>
  requires std::is_class_v<T> std::string cell(const T&, const Field& field)
  const { throw std::logic_error(std::string(field.column) + ": no figure"); }
  std::string cell(Bytes value, const Field&) const { return decimal(value); }
  std::string cell(Seconds value, const Field& field) const { return cell(value.si(), field); }
  std::string cell(const Interval& value, const Field& field) const {
    return cell(value.low, field) + " .. " + cell(value.high, field);
  }
  std::string cell(double value, const Field& field) const {
    switch (field.unit) {
      case FigureUnit::plain:
        return grouped(value, field.decimals);
      case FigureUnit::percent:
        return grouped(value * 100, field.decimals);
      case FigureUnit::hours:
        return grouped(value / 3600, field.decimals);
      case FigureUnit::iteration:
        return iterations_.text(Seconds(value));
    }
    return {};
  }

  const TimeColumn& iterations_;
};

/// Visits all fields, those of parts too: what the property at one place is in words.
class PropertyReader {
 public:
  explicit PropertyReader(int place) : place_(place) {}

  void operator()(const char*, const auto& value, const Field& field = {}) {
    if (field.property == place_ && field.stated) text = words(value);
  }
  template <class T>
  void part(const T& part, const Field& = {}) {
    T::fields(part, *this);
  }
  template <class T>
  void part(const std::optional<T>& part, const Field& = {}) {
    if (part) T::fields(*part, *this);
  }
  void derived(const char*, const auto&, const Field& = {}) {}
  void unwritten(const auto&) {}

  std::string text;

 private:
  template <class T>
  static std::string words(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "yes" : "no";
    } else if constexpr (std::is_integral_v<T>) {
      return std::to_string(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return value;
    } else {
      throw std::logic_error("no property");
    }
  }

  int place_;
};

/// Visits all fields, those of parts too, whether they are there or not.
template <class Point>
class PropertyFinder {
 public:
  template <class T>
  void operator()(const char* name, const T&, const Field& field = {}) {
    if (field.property == 0) return;
    constexpr bool is_number = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    found.push_back({std::string(name), [place = field.property](const Point& point) { return text_of(point, place); },
                     is_number ? Align::right : Align::left, field.always_a_column, field.usual, field.property});
    std::ranges::replace(found.back().name, '_', ' ');
  }
  template <class T>
  void part(const T& part, const Field& = {}) {
    T::fields(part, *this);
  }
  template <class T>
  void part(const std::optional<T>&, const Field& = {}) {
    const T any{};
    T::fields(any, *this);
  }
  void derived(const char*, const auto&, const Field& = {}) {}
  void unwritten(const auto&) {}

  std::vector<Facet<Point>> found;

 private:
  static std::string text_of(const Point& point, int place) {
    PropertyReader reader(place);
    Point::fields(point, reader);
    return reader.text;
  }
};

/// The properties of a point in the order of their places.
template <class Point>
std::vector<Facet<Point>> properties_of() {
  PropertyFinder<Point> finder;
  const Point any{};
  Point::fields(any, finder);
  std::ranges::sort(finder.found, {}, &Facet<Point>::place);
  return finder.found;
}

template <class T>
std::vector<std::string> column_headings(const TimeColumn& iterations = {}) {
  ColumnReader reader(iterations);
  const T any{};
  T::fields(any, reader);
  return reader.headings;
}

template <class T>
std::vector<std::string> column_cells(const T& row, const TimeColumn& iterations = {}) {
  ColumnReader reader(iterations);
  T::fields(row, reader);
  return reader.cells;
}

}}  // namespace farandole::report
