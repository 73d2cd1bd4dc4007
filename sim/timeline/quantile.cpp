#include "timeline/quantile.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace farandole { inline namespace timeline {
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

Seconds percentile(std::vector<WeightedDuration> durations, double share) {
  std::ranges::sort(durations, {}, &WeightedDuration::duration);
  double total = 0;
  for (const WeightedDuration& each : durations) total += each.weight;
  const double wanted = share * total * (1 - 1e-12);  // a sum of equal weights must reach its own share
  double reached = 0;
  for (const WeightedDuration& each : durations) {
    reached += each.weight;
    if (each.weight > 0 && reached >= wanted) return each.duration;
  }
  return durations.back().duration;
}

}}  // namespace farandole::timeline
