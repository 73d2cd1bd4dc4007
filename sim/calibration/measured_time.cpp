#include "calibration/measured_time.hpp"

#include <fmt/format.h>

namespace farandole { inline namespace calibration {

std::string row_name(const MeasuredTime& measurement) {
  std::string what =
      measurement.algorithm.empty() ? measurement.operation : measurement.operation + " " + measurement.algorithm;
  if (measurement.servers > 0) what += fmt::format(" {} servers", measurement.servers);
  return fmt::format("{}, {:.0f} bytes, {} ranks", what, measurement.bytes.si(), measurement.ranks);
}

}}  // namespace farandole::calibration
