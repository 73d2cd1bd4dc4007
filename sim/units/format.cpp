#include "units/format.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace farandole { inline namespace units {
namespace {

struct Step {
  double si;
  std::string_view symbol;
};

constexpr std::array<Step, 7> decimal_sizes{
    {{1e18, "EB"}, {1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
constexpr std::array<Step, 6> times{{{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};

template <std::size_t N>
std::string with_largest_fitting(double si, const std::array<Step, N>& steps, int digits = 4) {
  // Half a unit in the last digit keeps 999.96 us from being printed as "1000 us".
  const double nearly_one = 1 - 0.5 * std::pow(10, -digits);
  const double most = std::pow(10, digits);
  // What even the largest unit does not bring below that has all its digits, not an exponent.
  if (si / steps.front().si >= most * nearly_one)
    return fmt::format("{:.0f} {}", si / steps.front().si, steps.front().symbol);
  for (const Step& step : steps) {
    if (std::abs(si) >= step.si * nearly_one) return fmt::format("{:.{}g} {}", si / step.si, digits, step.symbol);
  }
  return fmt::format("{:.{}g} {}", si / steps.back().si, digits, steps.back().symbol);
}

bool is_whole(double number) {
  return number == std::floor(number);
}

}  // namespace

std::string format(Bytes size) {
  constexpr std::array<Step, 3> binary{{{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}}};
  for (const Step& step : binary) {
    if (size.si() >= step.si && is_whole(size.si() / step.si))
      return fmt::format("{} {}", size.si() / step.si, step.symbol);
  }
  return with_largest_fitting(size.si(),
                              std::array<Step, 5>{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}});
}

std::string format(Seconds time) {
  return with_largest_fitting(time.si(), times);
}

std::string format(BytesPerSecond rate) {
  constexpr std::array<Step, 3> bits{{{1e12 / 8, "Tbit/s"}, {1e9 / 8, "Gbit/s"}, {1e6 / 8, "Mbit/s"}}};
  for (const Step& step : bits) {
    const double number = rate.si() / step.si;
    if (number >= 1 && number < 1000 && is_whole(number)) return fmt::format("{} {}", number, step.symbol);
  }
  return with_largest_fitting(
      rate.si(), std::array<Step, 5>{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}});
}

std::string format(FlopPerSecond rate) {
  return with_largest_fitting(rate.si(), std::array<Step, 3>{{{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1, "FLOP/s"}}});
}

std::string decimal(Bytes size) {
  return with_largest_fitting(size.si(), decimal_sizes, 3);
}

std::string decimal(Seconds time) {
  return with_largest_fitting(time.si(), times, 3);
}

}}  // namespace farandole::units
