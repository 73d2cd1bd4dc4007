#include "simulate/bounds.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace farandole {

CollectiveBounds bounds_of(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  Seconds shortest = Seconds::infinity();
  std::vector<BytesPerSecond> injection(static_cast<std::size_t>(schedule.ranks));
  std::vector<int> last_sender(routed.capacities().size(), -1);  // most repetitions are seen without sorting
  std::vector<std::pair<int, int>> ways_out;                     // of each rank: the links its messages cross first
  for (std::size_t phase = 0; phase < schedule.phases.size(); ++phase) {
    for (std::size_t t = 0; t < schedule.phases[phase].transfers.size(); ++t) {
      const auto& leg = routed.legs(phase)[t];
      const int from = schedule.phases[phase].transfers[t].from;
      shortest = std::min(shortest, leg.latency);
      if (leg.links.empty()) continue;
      int& last = last_sender[static_cast<std::size_t>(leg.links.front())];
      if (std::exchange(last, from) != from) ways_out.emplace_back(from, leg.links.front());
    }
  }
  std::ranges::sort(ways_out);
  ways_out.erase(std::ranges::unique(ways_out).begin(), ways_out.end());
  for (const auto& [rank, link] : ways_out) {
    injection[static_cast<std::size_t>(rank)] += routed.capacities()[static_cast<std::size_t>(link)];
  }
  if (schedule.phases.empty()) return {Seconds(0), BytesPerSecond::infinity(), schedule.ranks};
  const auto depth = static_cast<double>(std::bit_width(static_cast<unsigned>(schedule.ranks - 1)));
  return {shortest * depth, *std::ranges::max_element(injection), schedule.ranks};
}

Seconds CollectiveBounds::least_time(Bytes size) const {
  const Seconds bandwidth = size * (2.0 * (ranks - 1) / ranks) / injection;
  return std::max(latency, bandwidth);
}

}  // namespace farandole
