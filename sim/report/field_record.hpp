// Records from field lists (timeline/fields.hpp), and structs back from their records.
//
// Used by the writers of this room for everything that has a field list. In JSON a duration is a number of seconds, a
// size a number of bytes, whole where it is; all other quantities are numbers in SI units, money in its currency.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "report/record.hpp"
#include "timeline/bands.hpp"
#include "timeline/fields.hpp"
#include "units/mapped.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace report {

/// std::logic_error where a number is not finite.
template <class T>
Record record_of(const T& fields, RecordForm form = RecordForm::document);

class FieldWriter {
 public:
  FieldWriter(Record& record, RecordForm form) : record_(record), form_(form) {}

  void operator()(const char* name, const auto& value, const Field& field = {}) {
    if (field.stated && (field.in_rows || form_ == RecordForm::document)) put(name, value, field);
  }
  void derived(const char* name, const auto& value, const Field& field = {}) { (*this)(name, value, field); }
  template <class T>
  void part(const T& part, const Field& = {}) {
    T::fields(part, *this);
  }
  template <class T>
  void part(const std::optional<T>& part, const Field& field = {}) {
    if (part) return T::fields(*part, *this);
    if (!field.null_where_empty) return;
    const Record none = record_of(T{}, form_);
    for (const auto& [name, value] : none.items()) record_[name] = nullptr;
  }
  void ends(const char* name, const std::optional<double>& low, const std::optional<double>& high) {
    if (low) put_ends(name, finite(*low, name), high ? Record(finite(*high, name)) : Record());
  }
  void entry(const std::string& name, const auto& value) { record_[name] = json(value, name); }
  void json_entry(const std::string& name, const std::string& text) { record_[name] = Record::parse(text); }
  void unwritten(const auto&) {}
  void settled(const auto&, const auto&) {}

 private:
  void put(const char* name, const auto& value, const Field& field) { record_[name] = json(value, name, field); }
  template <class T>
  void put(const char* name, const std::optional<T>& value, const Field& field) {
    if (value) return put(name, *value, field);
    if (field.null_where_empty) record_[name] = nullptr;
  }
  void put(const char* name, const Interval& value, const Field&) {
    put_ends(name, finite(value.low, name), finite(value.high, name));
  }
  void put_ends(const std::string& name, const Record& low, const Record& high) {
    if (form_ == RecordForm::document) {
      record_[name] = {low, high};
    } else {
      record_[name + "_low"] = low;
      record_[name + "_high"] = high;
    }
  }

  static Record json(double value, std::string_view name, const Field& = {}) { return finite(value, name); }
  static Record json(const std::string& value, std::string_view, const Field& = {}) { return value; }
  static Record json(std::integral auto value, std::string_view, const Field& = {}) { return value; }
  static Record json(Bytes value, std::string_view name, const Field& field = {}) {
    constexpr double largest_exact = 9007199254740992.0;  // 2^53, which a double holds
    const double bytes = finite(value.si(), name);
    const bool is_whole = bytes == std::floor(bytes) && std::abs(bytes) <= largest_exact;
    return field.is_whole && is_whole ? Record(static_cast<std::int64_t>(bytes)) : Record(bytes);
  }
  template <int... D>
  static Record json(Quantity<D...> value, std::string_view name, const Field& = {}) {
    return finite(value.si(), name);
  }
  template <class T>
  requires std::is_class_v<T> Record json(const T& value, std::string_view, const Field& = {}) {
    return record_of(value, form_);
  }
  template <class T>
  Record json(const std::vector<T>& values, std::string_view name, const Field& = {}) {
    if constexpr (is_entry<T>) {
      Record record = Record::object();
      FieldWriter writer(record, form_);
      for (const T& value : values) T::fields(value, writer);
      return record;
    } else {
      return mapped(values, [&](const T& value) { return json(value, name); });
    }
  }

  Record& record_;
  RecordForm form_;
};

template <class T>
Record record_of(const T& fields, RecordForm form) {
  Record record = Record::object();
  FieldWriter writer(record, form);
  T::fields(fields, writer);
  return record;
}

template <class Items>
std::vector<Record> records_of(const Items& items) {
  return mapped(items, [](const auto& item) { return record_of(item); });
}

}}  // namespace farandole::report
