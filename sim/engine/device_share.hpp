// What a running collective takes from computing: its kernels occupy part of the device.
//
// While a rank takes part in a collective, from the moment its own part starts to the moment it ends, waiting for
// others included (an NCCL kernel spins on its multiprocessors), the device computes at 1 - share of its rate. Work w
// begun at t is done at the T with
//
//   (T - t) - share x (time communicating within [t, T]) = w
//
// Several at once take no more than one: what they keep busy is the communication kernels' part of the device.
// Called by the event loop with the collectives enqueued so far; moments are per rank.
#pragma once

#include <cstddef>
#include <span>

#include "engine/task.hpp"

namespace farandole { inline namespace engine {

/// A collective as the devices see it.
struct Occupation {
  Seconds first;  // of the ranks' `from`
  Seconds last;   // of the ranks' `to`
  RankTimes from;
  RankTimes to;
};

/// Over the ranks.
Occupation occupation(const RankTimes& from, const RankTimes& to);

/// What the first of a computation's collectives have taken from it for good, as it goes on behind them at all ranks.
struct Settled {
  std::size_t communications = 0;
  RankTimes delay;
};

class DeviceShare {
 public:
  /// From 0 (nothing) to below 1.
  explicit DeviceShare(double share = 0) : share_(share) {}

  /// From now on communications may overlap and come in any order; else each starts when the one before has ended.
  void let_overlap() { several_at_once_ = true; }
  /// Done with `work`, no less than was settled, at each rank's factor.
  [[nodiscard]] RankTimes finish(const RankTimes& begin, const RankTimes& factors, Seconds work,
                                 std::span<const Occupation> communications, const Settled& settled = {}) const;
  /// Takes in those that were over everywhere when the ranks had come so far: none is gone through for every mark.
  void settle(Settled& settled, const RankTimes& begin, const RankTimes& so_far,
              std::span<const Occupation> communications) const;

 private:
  /// `from`, `to`: what is over before or starts after is not beside it.
  [[nodiscard]] RankTimes finish_beside_several(const RankTimes& begin, RankTimes done, Seconds from, Seconds to,
                                                std::span<const Occupation> communications) const;

  double share_;
  bool several_at_once_ = false;
};

}}  // namespace farandole::engine
