// When every rank holds the result of a collective, given when every rank joined it.
//
// One implementation per fidelity over the same RoutedSchedule. `make_collective_clock` adds what all share: a
// collective of the same size that starts everywhere at once is timed once and remembered, and no answer may beat the
// bounds of simulate/bounds.hpp (InvariantError).
#pragma once

#include <memory>

#include "simulate/fidelity.hpp"
#include "simulate/routed_schedule.hpp"
#include "training/rank_times.hpp"

namespace farandole {

class CollectiveClock {
 public:
  virtual ~CollectiveClock() = default;
  /// `size`: whole bytes, as collective/chunk_sizes.hpp counts them; `start[r]`: when rank r joins.
  virtual RankTimes finish(Bytes size, const RankTimes& start) = 0;
};

std::unique_ptr<CollectiveClock> make_collective_clock(Fidelity fidelity, RoutedSchedule routed);

}  // namespace farandole
