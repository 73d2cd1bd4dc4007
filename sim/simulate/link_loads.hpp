// What each link carries in a collective.
//
// Called by scenario/collective_loads.hpp. Counts what the schedule sends on the routes it was mapped to; of a transfer
// with several paths each carries an equal share. Where a pattern repeats very often with chunks that differ by a byte,
// every repeat counts as the first.
#pragma once

#include <vector>

#include "simulate/routed_schedule.hpp"

namespace farandole {

/// Bytes over each link of `routed.capacities()` in a collective of `size`. O(all transfers) where chunks differ or
/// receivers move on, else O(transfers of a round of each phase).
std::vector<Bytes> link_bytes(const RoutedSchedule& routed, Bytes size);

}  // namespace farandole
