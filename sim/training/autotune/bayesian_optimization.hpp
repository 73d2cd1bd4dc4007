// Where to look next for the highest score: the place of largest expected improvement under a Gaussian process.
//
// Brochu, Cora and de Freitas, "A Tutorial on Bayesian Optimization of Expensive Cost Functions", arXiv:1012.2599; as
// horovod/common/optim/bayesian_optimization.cc does it: from three samples on scores are taken as deviations from
// their mean in standard deviations, improvement is asked for by at least 0.01 of these, and the place is the best of
// 25 local searches from random starts, seeded here. Places are not scaled: one unit is as far in every direction.
// Called by the autotuner.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "training/autotune/gaussian_process.hpp"

namespace farandole {

struct Bounds {
  double least = 0;
  double most = 0;
};

class BayesianOptimization {
 public:
  BayesianOptimization(std::vector<Bounds> bounds, double noise, std::uint64_t seed);

  void add(const Eigen::VectorXd& place, double score);
  /// Within the bounds. After at least one add().
  Eigen::VectorXd next();
  void clear();

 private:
  [[nodiscard]] Eigen::VectorXd scaled_scores() const;
  [[nodiscard]] bool is_inside(const Eigen::VectorXd& place) const;
  Eigen::VectorXd random_place();

  std::vector<Bounds> bounds_;
  GaussianProcess process_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;  // random numbers used
  std::vector<Eigen::VectorXd> places_;
  std::vector<double> scores_;
};

}  // namespace farandole
