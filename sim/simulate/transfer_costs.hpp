// What one round of each transfer of a phase costs, by closed form or by asking SimGrid for the rates:
//
//   cost(t) = latency(t) + chunk * inverse_rate(t)
//
// Rates are those of all transfers of the round under way at once. They do not depend on how long the chunk is, since
// all transfers of a round are equally long: chunks that differ by a byte are all counted as the longest, which is
// exact for a ring's makespan, whose longest chunk travels through every round.
#pragma once

#include "simulate/recurrence.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole {

/// Per transfer of a phase.
struct TransferRates {
  Eigen::ArrayXd latency;       // seconds
  Eigen::ArrayXd inverse_rate;  // seconds per byte
};

/// The rate is the smallest capacity / flows over the links of the way (the contention factor of the most loaded link).
TransferRates analytic_rates(const RoutedSchedule& routed, std::size_t phase);

/// The rate is what SimGrid gives one flow per pair, all started together, over its whole length.
TransferRates flow_rates(const RoutedSchedule& routed, std::size_t phase);

}  // namespace farandole
