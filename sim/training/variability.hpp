// How fast each rank's device is, relative to the nominal one, iteration by iteration.
//
//   factor(r, i) = (1 + spread * q(r)) * (1 + jitter * z(r, i))
//
// q is what stays: devices of one kind differ. It is a stratified sample of the standard normal distribution,
// q(r) = Q((pi(r) + 1/2) / n) with a seeded permutation pi, so that n devices always span what n devices span and the
// single device of a 1-rank run is the median one, which is what a measured single-device throughput describes.
// z is what changes from step to step: independent standard normal deviates, truncated at four deviations.
// Both are functions of (seed, rank, iteration) alone: nothing depends on the order of evaluation.
#pragma once

#include <cstdint>

#include "training/rank_times.hpp"

namespace farandole {

class Variability {
 public:
  Variability(int ranks, double device_spread, double step_jitter, std::uint64_t seed);

  /// Makes one rank permanently slower: 0.1 adds ten percent to its compute time.
  void slow_down(int rank, double share) { device_[rank] *= 1 + share; }

  /// The factors by which the ranks' compute times exceed the nominal ones in this iteration; all above zero.
  [[nodiscard]] Eigen::ArrayXd factors(int iteration) const;

 private:
  Eigen::ArrayXd device_;
  double step_jitter_;
  std::uint64_t seed_;
};

}  // namespace farandole
