// Weights of which every rank of a group keeps its part (ZeRO, FSDP): gathered and summed by the very schedules that
// the simulation times.
//
// Neighbouring ranks form groups of `shards`. A rank's part of the weights is its block, the last one filled up with
// zeros. Weights are gathered in the type of the parameters; gradients are summed in theirs, by a reduce-scatter in
// every group and, where there are several groups, an allreduce of each part among the ranks that keep it. What a rank
// holds afterwards is what the schedules brought it.
#pragma once

#include <optional>
#include <vector>

#include "collective/schedule.hpp"
#include "learning/problem.hpp"
#include "training/gradient_type.hpp"

namespace farandole {

struct WeightSharding {
  int shards = 1;                     // ranks of a group
  std::optional<Schedule> gather;     // within a group; none of a group of one
  std::optional<Schedule> scatter;    // likewise
  std::optional<Schedule> replicate;  // between groups; none where there is one
  GradientType parameters = GradientType::fp32;
  GradientType gradients = GradientType::fp32;

  /// Messages of one update.
  [[nodiscard]] double messages(int workers) const;
};

class Shards {
 public:
  /// Every worker keeps its part of `whole`. `sharding` must outlive it.
  Shards(const WeightSharding& sharding, int workers, const Vector& whole);

  /// The weights as every worker sees them.
  [[nodiscard]] std::vector<Vector> gathered() const;
  /// Every worker's own part of them, exactly, put together; of the first group.
  [[nodiscard]] Vector kept() const;
  /// Subtracts `rate` times the sum of all workers' gradients, part by part.
  void descend(double rate, const std::vector<Vector>& gradients);

 private:
  template <class Values>
  void gather_as(std::vector<Vector>& whole) const;
  template <class Values>
  void sum_as(const std::vector<Vector>& gradients, std::vector<Vector>& sums) const;
  template <class Values>
  void sum_among_replicas(std::vector<Vector>& sums) const;
  [[nodiscard]] Eigen::Index place_in_group(std::size_t worker) const {
    return static_cast<Eigen::Index>(worker) % sharding_.shards;
  }

  const WeightSharding& sharding_;
  Eigen::Index length_;  // of the whole
  Eigen::Index block_;   // of a part
  std::vector<Vector> parts_;
};

}  // namespace farandole
