#include <algorithm>

#include "timeline/quantile.hpp"

namespace farandole { inline namespace timeline {

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
