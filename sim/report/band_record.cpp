#include "report/band_record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/table.hpp"

namespace farandole::inline report {

std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals) {
  if (!point.bands) return "";
  const Interval& ends = (*point.bands).*band;
  return grouped(ends.low * per_unit, decimals) + " .. " + grouped(ends.high * per_unit, decimals);
}

bool have_bands(std::span<const TrainingPoint> points) {
  return std::ranges::any_of(points, [](const TrainingPoint& point) { return point.bands.has_value(); });
}

std::string what_bands_are_of(std::span<const TrainingPoint> points) {
  const auto estimated = [](const TrainingPoint& p) { return p.bands && p.bands->compute.low < p.bands->compute.high; };
  const auto simulated = [](const TrainingPoint& point) { return point.bands && point.ranks > 1; };
  const std::string compute = std::ranges::any_of(points, estimated) ? "uncertain compute times" : "";
  if (!std::ranges::any_of(points, simulated)) return compute;
  return compute + (compute.empty() ? "" : " and ") + "what published runs were missed by";
}

std::string band_probability(std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    if (point.bands) return fmt::format("{:.0f} %", 100 * point.bands->probability);
  }
  return "";
}

}  // namespace farandole::inline report
