// What each link carries in a collective.
//
// Called by scenario/network_loads.hpp. Counts what the schedule sends on the routes it was mapped to; of a transfer
// with several paths each carries an equal share. Where a pattern repeats very often with chunks that differ by a byte,
// every repeat counts as the first.
#pragma once

#include <algorithm>
#include <vector>

#include "simulate/routed_schedule.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

/// Bytes over each link of `routed.capacities()` in a collective of `size`. O(all transfers) where chunks differ or
/// receivers move on, else O(transfers of a round of each phase).
std::vector<Bytes> link_bytes(const RoutedSchedule& routed, Bytes size);

// Links of a way that is split over several paths: one of them is listed once for every path that crosses it.
//
// O(n log n) in the length of the list, which on a wide fat tree has thousands of entries.

/// Calls `visit(link, times)` for every link of the list once, by rising number.
template <class Visit>
void for_each_listed(std::vector<int> links, Visit visit) {
  std::ranges::sort(links);
  for (auto at = links.cbegin(); at != links.cend();) {
    const auto end = std::upper_bound(at, links.cend(), *at);
    visit(*at, static_cast<int>(end - at));
    at = end;
  }
}

/// What a flow over equal shares of all paths gets where nothing else is sent.
inline BytesPerSecond narrowest_of(const std::vector<int>& links, int paths,
                                   const std::vector<BytesPerSecond>& capacities) {
  BytesPerSecond narrowest = BytesPerSecond::infinity();
  for_each_listed(links, [&](int link, int times) {
    const double share = static_cast<double>(times) / paths;
    narrowest = std::min(narrowest, capacities[static_cast<std::size_t>(link)] / share);
  });
  return narrowest;
}

}}  // namespace farandole::simulate
