// Strict, typed reading of one JSON object.
//
// A configuration section is a struct; its reader makes a Section, takes every key by name and type, and calls
// `finish()`, which refuses what nobody took (with the nearest known name). This is the only place with defaults.
//
//   Section section(value);
//   link.rate = section.required<BytesPerSecond>("rate");
//   link.latency = section.optional<Seconds>("latency", 0_s);
//   section.finish();
//
// "$schema" and "comment" are allowed in every object and ignored here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/document.hpp"
#include "units/count.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace config {

/// A percentage in the file ("10 %"), a fraction (0.1) in the program.
struct Fraction {
  double value = 0;
  friend auto operator<=>(const Fraction&, const Fraction&) = default;
};

/// A string that says something: not empty.
struct Text {
  std::string value;
};

/// What files, outputs and messages have as a name: letters, digits, "_", "-" and ".", a letter or a digit first.
struct Name {
  std::string value;
};

/// `T` is bool, int, std::int64_t, double, std::string, Text, Name, Fraction, Bytes, Seconds, BytesPerSecond, Flop,
/// FlopPerSecond or a std::vector of one of these. Quantities are strings with their unit and must not be negative. An
/// int is a JSON integer (1.0 and true are not); a double is any JSON number.
template <class T>
T read(const Value& value);

/// An integer of at least `least`.
int read_at_least(const Value& value, int least);

/// A percentage above 0 % and up to 100 %.
double read_part(const Value& where);

/// `T` is double or a quantity.
template <class T>
T read_above_zero(const Value& where) {
  const T value = read<T>(where);
  constexpr bool is_number = std::is_same_v<T, double>;
  constexpr bool is_time = std::is_same_v<T, Seconds>;
  if (!(value > T{})) where.fail(is_number ? "a number above 0" : is_time ? "a time above 0" : "a quantity above 0");
  return value;
}

class Section {
 public:
  explicit Section(const Value& value);

  template <class T>
  T required(std::string_view key) {
    return read<T>(child(key));
  }
  template <class T>
  T above_zero(std::string_view key) {
    return read_above_zero<T>(child(key));
  }
  template <class T>
  T optional(std::string_view key, T fallback) {
    const auto value = maybe(key);
    return value ? read<T>(*value) : fallback;
  }
  template <class T>
  std::optional<T> maybe_read(std::string_view key) {
    const auto value = maybe(key);
    return value ? std::optional<T>(read<T>(*value)) : std::nullopt;
  }

  /// The member, which must be there ("expected a key \"rate\"").
  Value child(std::string_view key);
  /// The member, if it is there.
  std::optional<Value> maybe(std::string_view key);
  [[nodiscard]] const Value& value() const { return value_; }

  /// Refuses keys nobody asked for.
  void finish() const;

 private:
  Value value_;
  std::vector<std::string> known_;
};

// Integers of an input between two bounds, and counts that come out of several of them.
//
// Called by readers wherever a number that is far too large would be believed, and fill the memory or run for ever. A
// bound is no judgement of what is sensible: it lies far above anything that is built or trained, and low enough that
// what follows from it can still be held. The message says the bound and the number.

/// Objects and arrays in one another.
inline constexpr std::size_t most_levels = 64;

/// "expected an integer from 1 to 1,000,000, got 2147483647".
int read_between(const Value& value, int least, int most);

/// Fails at `where` with "expected at most 4,194,304 ranks, got 9,000,000" where there are more than `most`. `what` is
/// the plural.
void require_at_most(Count count, Count most, std::string_view what, const Value& where);

/// 1234567 is "1,234,567"; what no number holds is "more than 9 x 10^18".
std::string counted(Count count);

// The members of an object whose keys the user chooses: pointers of a sweep, patterns of links, names of variants.
//
// Called where a Section, which knows its keys, does not fit.

/// All but "comment", which must be a string, here as everywhere. Fails where `where` is no object.
std::vector<std::pair<std::string, Value>> listed_members(const Value& where);

}}  // namespace farandole::config
