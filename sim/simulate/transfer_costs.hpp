// What one round of each transfer of a phase costs, by closed form or by asking SimGrid for the rates.
//
// Chunks that differ by a byte are all counted as the longest, which is exact for a ring's makespan: its longest chunk
// travels through every round.
#pragma once

#include "simulate/recurrence.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole {

/// latency + chunk / rate, where the rate is the smallest capacity / flows over the links of the way, with all
/// transfers of the round under way at once (the contention factor of the most loaded link).
TransferCosts analytic_costs(const RoutedSchedule& routed, std::size_t phase, Bytes size);

/// latency + (time of one SimGrid flow of all the phase's bytes, all pairs started together) / repeats.
TransferCosts flow_costs(const RoutedSchedule& routed, std::size_t phase, Bytes size);

}  // namespace farandole
