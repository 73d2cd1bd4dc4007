// The input pipeline: batches are read and decoded ahead of the device, into a queue of `prefetch` batches.
//
// A rank's pipeline makes one batch after the other. It starts batch i when batch i-1 is made and the queue has room,
// that is when the device took batch i - prefetch; the device starts iteration i when it is free and batch i is made:
//
//   made(i)  = max(made(i-1), start(i - prefetch)) + batch_time x factor(r, i)
//   start(i) = max(free(i), made(i))
//
// With prefetch 0 nothing is made ahead: made(i) = free(i) + batch_time. In the steady state an iteration takes
// max(compute and the rest, batch_time) for prefetch >= 1. Called by the event loop once per iteration, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/rank_times.hpp"
#include "training/effects/distribution.hpp"

namespace farandole {

class InputPipeline {
 public:
  /// `batch_time` of each rank; `spread` is how it varies from batch to batch.
  InputPipeline(RankTimes batch_time, int prefetch, Distribution spread, std::uint64_t seed);

  /// When each rank, free at `free`, starts its next iteration.
  RankTimes start(const RankTimes& free);
  /// When one rank does, whose iterations go on without the others'.
  Seconds start(int rank, Seconds free);

 private:
  [[nodiscard]] double making_time(int rank, int batch) const;

  RankTimes batch_time_;
  int prefetch_;
  Distribution spread_;
  std::uint64_t seed_;
  std::vector<int> batches_;  // of each rank so far
  RankTimes made_;
  std::vector<RankTimes> taken_;  // the last `prefetch` starts, that of batch i at i % prefetch
};

}  // namespace farandole
