// Writes what a fit found: every parameter with its standard error, or why the data cannot identify it, and what is
// left over.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "report/heading.hpp"

namespace farandole {

struct CalibrationLine {
  std::string name;
  std::string before;
  std::string after;
  std::string interval;  // of 95 %, or why there is none
};

/// Of measurements that were predicted from others alone.
struct HeldOutSummary {
  std::string what;
  double median = 0;
  double p90 = 0;
  double worst = 0;
};

struct CalibrationSummary {
  int measurements = 0;
  int doubtful = 0;
  double median = 0;  // of the sizes of the relative errors
  double p90 = 0;
  double worst = 0;
  std::optional<HeldOutSummary> held_out{};
};

void write_calibration(std::ostream& out, const Heading& heading, const std::vector<CalibrationLine>& lines,
                       const CalibrationSummary& summary);

}  // namespace farandole
