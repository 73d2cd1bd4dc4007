// Horovod's autotuner: while training goes on it tries fusion thresholds, cycle times and switches, and keeps the best.
//
// After horovod/common/parameter_manager.cc (0.17 to 0.28). Every pass of Horovod's thread says which tensors it
// reduced. When a tensor came by for the `steps_per_sample`-th time, bytes per microsecond since the last such moment
// are a score; the median of five counts, and the first `warmup_samples` medians do not. Then
//
//   threshold (0 to 64 MiB) and cycle (1 to 100 ms) go together: from (4 MiB, 5 ms), (32, 50), (16, 25), (8, 10), then
//   wherever the Bayesian optimisation says, `max_samples` + 1 places in all;
//   then a switch is thrown, and these begin anew; then the next switch, ...
//
// until all are through, and the best values of all stay. What the user sets is fixed. A switch that changes nothing
// here (a hierarchy on one node, a gather that never happens) is not tried; Horovod does try it, in as many steps
// again.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "timeline/result.hpp"

namespace farandole { inline namespace training {

// A Gaussian process: what is known of a function from noisy samples of it.
//
// k(x, x') = f^2 exp(-|x - x'|^2 / (2 l^2)), samples with independent noise of a given standard deviation; length l and
// height f are those under which the samples are likeliest, searched from 1 and 1 (Rasmussen and Williams, "Gaussian
// Processes for Machine Learning", sections 2.2 and 5.4; horovod/common/optim/gaussian_process.cc).
// Called by the Bayesian optimisation. Places are rows of a matrix.

class GaussianProcess {
 public:
  explicit GaussianProcess(double noise) : noise_(noise) {}

  void fit(const Eigen::MatrixXd& places, const Eigen::VectorXd& values);

  struct Posterior {
    Eigen::VectorXd mean;
    Eigen::VectorXd deviation;
  };
  /// After fit().
  [[nodiscard]] Posterior predict(const Eigen::MatrixXd& places) const;

  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] double height() const { return height_; }

 private:
  double noise_;
  double length_ = 1;
  double height_ = 1;
  Eigen::MatrixXd places_;
  Eigen::LLT<Eigen::MatrixXd> covariance_;  // of the samples
  Eigen::VectorXd weights_;                 // its inverse times the values
};

// Where to look next for the highest score: the place of largest expected improvement under a Gaussian process.
//
// Brochu, Cora and de Freitas, "A Tutorial on Bayesian Optimization of Expensive Cost Functions", arXiv:1012.2599; as
// horovod/common/optim/bayesian_optimization.cc does it: from three samples on scores are taken as deviations from
// their mean in standard deviations, improvement is asked for by at least 0.01 of these, and the place is the best of
// 25 local searches from random starts, seeded here. Places are not scaled: one unit is as far in every direction.
// Called by the autotuner.

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

struct AutotuneSettings {
  int warmup_samples = 3;  // HOROVOD_AUTOTUNE_WARMUP_SAMPLES
  int steps_per_sample = 10;
  int max_samples = 20;  // HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES
  double noise = 0.8;    // HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE
};

/// What may be tuned; the rest stays as it is.
struct Tunable {
  bool fusion_threshold = true;
  bool cycle_time = true;
  bool hierarchical_allreduce = false;
  bool hierarchical_allgather = false;
  bool cache_enabled = false;
};

class Autotuner {
 public:
  /// `start`: what holds where it is not tuned, and until there is something better.
  Autotuner(const AutotuneSettings& settings, const Tunable& tunable, const TuningSample& start, std::uint64_t seed);

  /// A pass has started the reduction of these tensors, so many bytes together. Nothing once it is over.
  void observe(std::span<const int> tensors, Bytes bytes, Seconds now);

  /// What is to be used now.
  [[nodiscard]] TuningSample values() const;
  [[nodiscard]] const Tuning& tuning() const { return tuning_; }

 private:
  static constexpr std::size_t scores_per_sample = 5;

  struct Switch {
    bool TuningSample::*which;
    bool value = false;
    bool best = false;
    double best_score = 0;
    /// Whether both ways have been tried.
    bool tune(double score);
  };

  [[nodiscard]] Eigen::VectorXd free_part(const std::array<double, 2>& point) const;
  void put(const Eigen::VectorXd& place, TuningSample& values) const;
  bool tune_place(double score);
  void tune(double score);
  void start_sample(Seconds now);

  AutotuneSettings settings_;
  Tunable tunable_;
  TuningSample start_;
  BayesianOptimization search_;
  std::vector<Switch> switches_;
  Eigen::VectorXd place_;  // of threshold and cycle, what is free of them, in MiB and milliseconds
  Eigen::VectorXd best_place_;
  double best_score_ = 0;
  int tried_ = 0;
  int warmup_left_;

  std::vector<int> counts_;  // how often each tensor came by in this sample
  std::vector<double> scores_;
  Bytes bytes_;
  std::optional<Seconds> since_;
  Tuning tuning_;
};

// A local minimum of a function of a few variables.
//
// Called by the Gaussian process and by the search for its next point. Quasi-Newton steps (BFGS: Nocedal and Wright,
// "Numerical Optimization", chapter 6) on forward differences, as Horovod's autotuner minimises. Where the function is
// infinite is out of bounds: no step goes there.

using Objective = std::function<double(const Eigen::VectorXd& at)>;

struct Minimum {
  Eigen::VectorXd at;
  double value = 0;
};

/// From a start where the function is finite. Never ends higher than it starts.
Minimum minimise(const Objective& f, const Eigen::VectorXd& start);

}}  // namespace farandole::training
