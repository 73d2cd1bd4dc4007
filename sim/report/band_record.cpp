#include "report/band_record.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/table.hpp"

namespace farandole { inline namespace report {

std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals) {
  if (!point.bands) return "";
  const Interval& ends = (*point.bands).*band;
  return grouped(ends.low * per_unit, decimals) + " .. " + grouped(ends.high * per_unit, decimals);
}

std::string band_text(const CollectivePoint& point) {
  return point.band ? grouped(1e6 * point.band->low, 2) + " .. " + grouped(1e6 * point.band->high, 2) : "";
}

std::string sure_text(std::optional<double> probability) {
  return probability ? fmt::format("{:.0f}", std::min(100 * *probability, 99.0)) : "";
}

std::string points_band(const WhatIf& what_if) {
  if (!what_if.points_band) return "";
  return fmt::format("{:+.1f} .. {:+.1f}", what_if.points_band->low, what_if.points_band->high);
}

std::optional<double> faster(const WhatIf& what_if, const TrainingPoint& point) {
  const bool loses = what_if.sure && what_if.samples_per_second < point.samples_per_second;
  return loses ? 1 - *what_if.sure : what_if.sure;
}

bool have_bands(std::span<const TrainingPoint> points) {
  return std::ranges::any_of(points, [](const TrainingPoint& point) { return point.bands.has_value(); });
}

std::string what_bands_are_of(std::span<const TrainingPoint> points) {
  const auto estimated = [](const TrainingPoint& p) { return p.bands && p.bands->compute.low < p.bands->compute.high; };
  const auto simulated = [](const TrainingPoint& point) { return point.bands && point.ranks > 1; };
  const auto unsettled = [](const TrainingPoint& point) {
    const auto is_number = [](const BandSource& source) { return !source.between.empty(); };
    return point.bands && std::ranges::any_of(point.bands->sources, is_number);
  };
  std::vector<std::string> parts;
  if (std::ranges::any_of(points, estimated)) parts.emplace_back("uncertain compute times");
  if (std::ranges::any_of(points, unsettled)) parts.emplace_back("numbers of the platform that nothing has settled");
  if (std::ranges::any_of(points, simulated)) parts.emplace_back("errors on published runs");
  return listed(parts);
}

std::string band_probability(std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    if (point.bands) return fmt::format("{:.0f} %", 100 * point.bands->probability);
  }
  return "";
}

}}  // namespace farandole::report
