#include "report/time_column.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/table.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::array<std::pair<const char*, double>, 4> time_units{{{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}};
constexpr double least_second = 0.1;
constexpr double least_millisecond = 0.1;  // of an iteration

}  // namespace

std::string TimeColumn::text(Seconds time) const {
  return grouped(time.si() * per_second, decimals);
}

Cell TimeColumn::cell(Seconds time) const {
  return {text(time), time.si()};
}

TimeColumn time_column(std::span<const Seconds> times) {
  Seconds least = Seconds::infinity();
  for (const Seconds time : times) {
    if (time > Seconds(0) && time < least) least = time;
  }
  if (least == Seconds::infinity()) return {"s", 1, 0};
  for (const auto& [unit, per_second] : time_units) {
    const double number = least.si() * per_second;
    if (number < (per_second == 1 ? least_second : 1) && per_second < 1e9) continue;
    constexpr int digits = 4;
    const int before_the_point = static_cast<int>(std::floor(std::log10(number))) + 1;
    return {unit, per_second, std::clamp(digits - before_the_point, 0, 6)};
  }
  return {"s", 1, 4};
}

TimeColumn iteration_column(Seconds shortest) {
  const bool is_short = shortest > Seconds(0) && shortest.si() * 1e3 < least_millisecond;
  return is_short ? TimeColumn{"us", 1e6, 3} : TimeColumn{"ms", 1e3, 3};
}

}}  // namespace farandole::report
