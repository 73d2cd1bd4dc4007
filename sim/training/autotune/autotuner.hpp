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
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "timeline/tuning.hpp"
#include "training/autotune/bayesian_optimization.hpp"

namespace farandole {

struct AutotuneSettings {
  int warmup_samples = 3;  // HOROVOD_AUTOTUNE_WARMUP_SAMPLES
  int steps_per_sample = 10;
  int max_samples = 20;              // HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES
  double noise = 0.8;                // HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE
  std::optional<std::string> log{};  // HOROVOD_AUTOTUNE_LOG
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

}  // namespace farandole
