#include "units/format.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace farandole { inline namespace units {
namespace {

struct Unit {
  std::string_view symbol;
  double si;
};

constexpr std::array<Unit, 7> decimal_sizes{
    {{"EB", 1e18}, {"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}};
constexpr std::array<Unit, 6> times{{{"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};

template <std::size_t N>
std::string with_largest_fitting(double si, const std::array<Unit, N>& steps, int digits = 4) {
  // Half a unit in the last digit keeps 999.96 us from being printed as "1000 us".
  const double nearly_one = 1 - 0.5 * std::pow(10, -digits);
  const double most = std::pow(10, digits);
  // What even the largest unit does not bring below that has all its digits, not an exponent.
  if (si / steps.front().si >= most * nearly_one)
    return fmt::format("{:.0f} {}", si / steps.front().si, steps.front().symbol);
  for (const Unit& step : steps) {
    if (std::abs(si) >= step.si * nearly_one) return fmt::format("{:.{}g} {}", si / step.si, digits, step.symbol);
  }
  return fmt::format("{:.{}g} {}", si / steps.back().si, digits, steps.back().symbol);
}

bool is_whole(double number) {
  return number == std::floor(number);
}

}  // namespace

std::string format(Bytes size) {
  constexpr std::array<Unit, 3> binary{{{"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0}}};
  for (const Unit& step : binary) {
    if (size.si() >= step.si && is_whole(size.si() / step.si))
      return fmt::format("{} {}", size.si() / step.si, step.symbol);
  }
  return with_largest_fitting(size.si(),
                              std::array<Unit, 5>{{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}});
}

std::string format(Seconds time) {
  return with_largest_fitting(time.si(), times);
}

std::string format(BytesPerSecond rate) {
  constexpr std::array<Unit, 3> bits{{{"Tbit/s", 1e12 / 8}, {"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}}};
  for (const Unit& step : bits) {
    const double number = rate.si() / step.si;
    if (number >= 1 && number < 1000 && is_whole(number)) return fmt::format("{} {}", number, step.symbol);
  }
  return with_largest_fitting(
      rate.si(), std::array<Unit, 5>{{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}}});
}

std::string format(FlopPerSecond rate) {
  return with_largest_fitting(rate.si(), std::array<Unit, 3>{{{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"FLOP/s", 1}}});
}

std::string decimal(Bytes size) {
  return with_largest_fitting(size.si(), decimal_sizes, 3);
}

std::string decimal(Seconds time) {
  return with_largest_fitting(time.si(), times, 3);
}

namespace {

/// What a dimension is called, how a right value looks, and its units without prefix; the rest are none.
struct Dimension {
  std::string_view name;
  std::string_view example;
  std::array<Unit, 3> units;
};
template <class T>
constexpr Dimension dimension{};
template <>
constexpr Dimension dimension<Bytes>{"a size", "64 MiB", {{{"B", 1.0}, {"bit", 0.125}}}};
template <>
constexpr Dimension dimension<Seconds>{"a time", "2 us", {{{"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}}};
template <>
constexpr Dimension dimension<BytesPerSecond>{"a rate", "25 Gbit/s", {{{"B/s", 1.0}, {"bit/s", 0.125}}}};
template <>
constexpr Dimension dimension<Flop>{"an amount of work", "7.8 GFLOP", {{{"FLOP", 1.0}}}};
template <>
constexpr Dimension dimension<FlopPerSecond>{"a compute rate", "9.3 TFLOP/s", {{{"FLOP/s", 1.0}}}};

constexpr std::array<Unit, 15> prefixes{{{"", 1.0},
                                         {"n", 1e-9},
                                         {"u", 1e-6},
                                         {"µ", 1e-6},
                                         {"m", 1e-3},
                                         {"k", 1e3},
                                         {"M", 1e6},
                                         {"G", 1e9},
                                         {"T", 1e12},
                                         {"P", 1e15},
                                         {"Ki", 1024.0},
                                         {"Mi", 1024.0 * 1024},
                                         {"Gi", 1024.0 * 1024 * 1024},
                                         {"Ti", 1024.0 * 1024 * 1024 * 1024},
                                         {"Pi", 1024.0 * 1024 * 1024 * 1024 * 1024}}};

/// "25 Gbit/s" into 25 and "Gbit/s"; nothing when no finite number leads.
std::optional<std::pair<double, std::string_view>> split(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return std::pair(number, unit);
}

/// Fractions of a byte or of an operation do not exist, so only times take prefixes below one.
bool takes_prefix(const Unit& prefix, const Unit& unit) {
  if (unit.symbol == "min" || unit.symbol == "h") return prefix.symbol.empty();
  if (unit.symbol == "s") return prefix.si <= 1.0;
  return prefix.si >= 1.0;
}

template <class T>
std::optional<double> factor_of(std::string_view unit) {
  for (const Unit& base : dimension<T>.units) {
    for (const Unit& prefix : prefixes) {
      if (!base.symbol.empty() && unit.size() == prefix.symbol.size() + base.symbol.size() &&
          unit.starts_with(prefix.symbol) && unit.ends_with(base.symbol) && takes_prefix(prefix, base)) {
        return prefix.si * base.si;
      }
    }
  }
  return std::nullopt;
}

template <class T>
std::string_view name_if(std::string_view unit) {
  return factor_of<T>(unit) ? dimension<T>.name : std::string_view{};
}

/// The dimension a unit belongs to, for the message about a unit of another dimension.
std::string_view dimension_name(std::string_view unit) {
  for (const auto name : {name_if<Bytes>(unit), name_if<Seconds>(unit), name_if<BytesPerSecond>(unit),
                          name_if<Flop>(unit), name_if<FlopPerSecond>(unit)}) {
    if (!name.empty()) return name;
  }
  if (unit == "%") return "a percentage";
  if (unit.empty()) return "a number without unit";
  return {};
}

/// The text in quotes, cut where it is too long for a message, but not within a UTF-8 character.
std::string quote(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return fmt::format("\"{}\"", text);
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("\"{}...\"", text.substr(0, end));
}

std::string describe(std::string_view text) {
  const auto parts = split(text);
  const auto dimension = parts ? dimension_name(parts->second) : std::string_view{};
  if (dimension.empty()) return quote(text);
  return fmt::format("{} ({})", quote(text), dimension);
}

/// Nothing that is measured or built is smaller or larger, and products of a few stay finite.
constexpr double smallest = 1e-18;
constexpr double largest = 1e30;

/// Why a number with a right unit is refused all the same; empty where it is not.
std::string_view objection(double number) {
  if (std::signbit(number)) return " (negative)";
  if (number != 0 && number < smallest) return " (too small)";
  return number > largest ? " (too large)" : "";
}

}  // namespace

template <class T>
Parsed<T> parse_quantity(std::string_view text) {
  std::string got = describe(text);
  if (const auto parts = split(text)) {
    if (const auto factor = factor_of<T>(parts->second)) {
      const double number = parts->first * *factor;
      if (objection(number).empty()) return T(number);
      got = quote(text) + std::string(objection(number));
    }
  }
  return UnitMismatch{fmt::format("{} such as \"{}\"", dimension<T>.name, dimension<T>.example), got};
}

template Parsed<Bytes> parse_quantity<Bytes>(std::string_view);
template Parsed<Seconds> parse_quantity<Seconds>(std::string_view);
template Parsed<BytesPerSecond> parse_quantity<BytesPerSecond>(std::string_view);
template Parsed<Flop> parse_quantity<Flop>(std::string_view);
template Parsed<FlopPerSecond> parse_quantity<FlopPerSecond>(std::string_view);

Parsed<double> parse_fraction(std::string_view text) {
  std::string got = describe(text);
  if (const auto parts = split(text); parts && parts->second == "%") {
    const double number = parts->first / 100.0;
    if (objection(number).empty()) return number;
    got = quote(text) + std::string(objection(number));
  }
  return UnitMismatch{"a percentage such as \"10 %\"", got};
}

Parsed<Bytes> parse_size(std::string_view text) {
  constexpr std::array<Unit, 7> suffixes{{{"", 1.0},
                                          {"K", 1024.0},
                                          {"k", 1024.0},
                                          {"M", 1048576.0},
                                          {"m", 1048576.0},
                                          {"G", 1073741824.0},
                                          {"g", 1073741824.0}}};
  if (const auto parts = split(text); parts && parts->first >= 0) {
    for (const Unit& suffix : suffixes) {
      const double bytes = parts->first * suffix.si;
      if (parts->second == suffix.symbol && std::isfinite(bytes) && bytes == std::floor(bytes)) return Bytes(bytes);
    }
  }
  return UnitMismatch{"a size as nccl-tests reads it, such as \"8\", \"64K\" or \"128M\"", quote(text)};
}

}}  // namespace farandole::units
