#include <concepts>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "report/record.hpp"
#include "timeline/fields.hpp"

namespace farandole { inline namespace report {
namespace {

/// The name of the first field of a list: an optional part is there where its first key is.
struct FirstName {
  std::string_view name;

  void operator()(const char* field, const auto&, const Field& = {}) {
    if (name.empty()) name = field;
  }
};

/// Gives every field of a list what its record holds. Keys that are not there leave alone what has nothing to say of
/// itself; Record::exception for all others.
class FieldReader {
 public:
  explicit FieldReader(const Record& record) : record_(record) {}

  void operator()(const char* name, auto& value, const Field& field = {}) {
    if (field.stated || record_.contains(name)) take(record_.at(name), value);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value, const Field& field = {}) {
    const bool is_there = field.null_where_empty ? !record_.at(name).is_null() : record_.contains(name);
    if (is_there) take(record_.at(name), value.emplace());
  }
  template <class T>
  void part(T& part, const Field& = {}) {
    T::fields(part, *this);
  }
  template <class T>
  void part(std::optional<T>& part, const Field& = {}) {
    FirstName first;
    const T none;
    T::fields(none, first);
    if (record_.contains(first.name)) T::fields(part.emplace(), *this);
  }
  void ends(const char* name, std::optional<double>& low, std::optional<double>& high) {
    if (!record_.contains(name)) return;
    low = record_.at(name).at(0).get<double>();
    if (const Record& end = record_.at(name).at(1); !end.is_null()) high = end.get<double>();
  }
  void derived(const char*, const auto&, const Field& = {}) {}
  void unwritten(const auto&) {}
  void settled(auto& value, const auto& always) { value = always; }

 private:
  /// A number of another kind, or one that T does not hold, does not come back as it was.
  template <std::integral T>
  static void take(const Record& record, T& value) {
    if (record.is_number_float()) throw std::logic_error("a whole number that has a fraction");
    value = record.get<T>();
  }
  static void take(const Record& record, double& value) { value = record.get<double>(); }
  static void take(const Record& record, std::string& value) { value = record.get<std::string>(); }
  static void take(const Record& record, Interval& value) {
    value = {record.at(0).get<double>(), record.at(1).get<double>()};
  }
  template <int... D>
  static void take(const Record& record, Quantity<D...>& value) {
    value = Quantity<D...>(record.get<double>());
  }
  template <class T>
  requires std::is_class_v<T>
  static void take(const Record& record, T& value) {
    FieldReader reader(record);
    T::fields(value, reader);
  }
  template <class T>
  static void take(const Record& record, std::vector<T>& values) {
    if constexpr (is_entry<T>) {
      for (const auto& [name, value] : record.items()) {
        const Entry entry{name, value};
        T::fields(values.emplace_back(), entry);
      }
    } else {
      for (const Record& value : record) take(value, values.emplace_back());
    }
  }

  /// One key of an object with its value.
  struct Entry {
    const std::string& key;
    const Record& value;

    void entry(std::string& name, auto& held) const {
      name = key;
      take(value, held);
    }
    void json_entry(std::string& name, std::string& text) const {
      name = key;
      text = value.dump();
    }
  };

  const Record& record_;
};

}  // namespace

Question question_of(const Record& record) {
  Question question;
  FieldReader reader(record);
  Question::fields(question, reader);
  return question;
}

TrainingPoint training_point(const Record& record) {
  TrainingPoint point;
  try {
    FieldReader reader(record);
    TrainingPoint::fields(point, reader);
  } catch (const Record::exception& error) {
    throw std::logic_error(std::string("not the record of a point: ") + error.what());
  }
  // A key that is written and not read would be lost without a word.
  if (to_record(point) != record) throw std::logic_error("a record that does not come back as it was");
  return point;
}

}}  // namespace farandole::report
