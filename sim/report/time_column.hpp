// Times that stand below one another: one unit for all of them, chosen so that the smallest can still be read.
//
// Used by the tables of this room.
#pragma once

#include <span>
#include <string>

#include "report/page.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace report {

struct TimeColumn {
  std::string unit;  // "s", "ms", "us" or "ns"
  double per_second = 1;
  int decimals = 3;

  [[nodiscard]] std::string text(Seconds time) const;
  /// Sorted by the time itself.
  [[nodiscard]] Cell cell(Seconds time) const;
};

/// Four digits of the smallest that is not zero.
TimeColumn time_column(std::span<const Seconds> times);

/// Of iterations: milliseconds, and microseconds where one takes less than a tenth of one.
TimeColumn iteration_column(Seconds shortest);

}}  // namespace farandole::report
