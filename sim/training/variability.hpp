// How fast each rank's device is, relative to the nominal one, iteration by iteration.
//
//   factor(r, i) = (1 + spread * q(r)) * (1 + slowdowns of r) * J(r, i) + noise(r, i) / nominal compute time
//
// q is what stays: devices of one kind differ. It is a stratified sample of the standard normal distribution,
// q(r) = Q((pi(r) + 1/2) / n) with a seeded permutation pi, so that n devices always span what n devices span and the
// single device of a 1-rank run is the median one, which is what a measured single-device throughput describes.
// J is what changes from step to step: independent draws of a distribution of mean 1, normal by default. Noise is what
// the operating system takes (training/effects/distribution.hpp).
// All are functions of (seed, rank, iteration) alone: nothing depends on the order of evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collective/rank_times.hpp"
#include "training/effects/distribution.hpp"

namespace farandole { inline namespace training {

class Variability {
 public:
  /// Normal jitter of that standard deviation, none where it is 0.
  Variability(int ranks, double device_spread, double step_jitter, std::uint64_t seed);
  Variability(int ranks, double device_spread, Distribution step_jitter, std::uint64_t seed);

  /// Makes one rank permanently slower: 0.1 adds ten percent to its compute time.
  void slow_down(int rank, double share) { device_[rank] *= 1 + share; }

  /// `compute`: the nominal compute time of an iteration.
  void disturb(const OsNoise& noise, Seconds compute);

  /// Of some of the ranks, each as it is among all of them.
  [[nodiscard]] Variability of(std::vector<int> ranks) const;

  /// Whether all ranks compute alike in every iteration: devices of one speed, nothing drawn.
  [[nodiscard]] bool is_uniform() const;

  /// The factors by which the ranks' compute times exceed the nominal ones in this iteration; all above zero.
  [[nodiscard]] Eigen::ArrayXd factors(int iteration) const;

 private:
  struct Disturbance {
    OsNoise noise;
    Seconds compute;
  };

  void disturb(Eigen::ArrayXd& factors, std::uint64_t iteration) const;

  Eigen::ArrayXd device_;
  Distribution step_jitter_;
  std::optional<Disturbance> disturbance_;
  std::uint64_t seed_;
  std::vector<int> only_{};  // these of the ranks; empty: all
};

}}  // namespace farandole::training
