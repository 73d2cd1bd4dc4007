// One exchange of gradients between all ranks: compressed as the strategy compresses, carried by its schedules, added
// up.
//
//   none, int8, top_k, one_bit   what each rank sent, decoded (learning/exchange.hpp), is added up by the carrier
//   fp16, bf16                   vectors are rounded to the short form, and the schedule adds in it
//   power_sgd                    learning/exchange.hpp
//
// Gradients that are of a short type themselves are rounded first, and without compression added in it.
//
// Where the strategy combines by Adasum (learning/carrier.hpp) that takes the place of the sum: of the workers' own
// gradients, or of the means of its groups' ones, whatever each of them counts for in a sum.
//
// With error feedback, which int8 does not take, a rank keeps what its encoding left out and adds it to the next
// gradient.
#pragma once

#include <optional>
#include <vector>

#include "collective/schedule.hpp"
#include "learning/carrier.hpp"
#include "learning/problem.hpp"
#include "training/compression.hpp"
#include "training/gradient_type.hpp"

namespace farandole { inline namespace learning {

// PowerSGD: a gradient matrix M sent as two thin ones, M = P Q^T, by one step of a power iteration.
//
//   P = sum of M_r Q, made orthonormal;   Q = sum of M_r^T P;   what all ranks take for the sum: P Q^T
//
// Q starts from seeded normal numbers, alike on all ranks, and is kept from step to step. Both sums are allreduces over
// the schedule. (Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019, algorithm 1.) The part of the weights that is no
// matrix travels whole with P; so does a matrix that would not get shorter by half.

class PowerSgd {
 public:
  PowerSgd(MatrixShape shape, int rank);

  /// `contributions[r]` becomes the sum that rank r holds.
  void sum(Carrier& carrier, std::vector<Vector>& contributions);

 private:
  MatrixShape shape_;
  bool is_worth_it_;
  Eigen::MatrixXd q_;  // columns x rank
};

class Exchange {
 public:
  Exchange(Carrier carrier, Operation operation, CompressionSettings compression, MatrixShape matrix);

  /// From now on of gradients that are of this type before anything is done to them; fp32 is not rounded.
  void use_gradient_type(GradientType type) { gradient_type_ = type; }

  /// From now on by Adasum, between groups of so many neighbouring workers.
  void use_adasum(int workers_per_group) { adasum_group_ = workers_per_group; }

  /// `contributions[w]`, worker w's, becomes the sum of all as worker w holds it.
  void sum(std::vector<Vector>& contributions);

  [[nodiscard]] double messages() { return carrier_.messages(operation_); }

 private:
  void round_to_type(std::vector<Vector>& contributions) const;
  void sum_by_adasum(std::vector<Vector>& contributions);
  template <class Short>
  void sum_as(std::vector<Vector>& contributions);
  void sum_encoded(std::vector<Vector>& contributions);
  void sum_by_power(std::vector<Vector>& contributions);
  void add_residuals(std::vector<Vector>& contributions);

  Carrier carrier_;
  Operation operation_;
  CompressionSettings compression_;
  PowerSgd power_;
  GradientType gradient_type_ = GradientType::fp32;
  int adasum_group_ = 0;           // 0: contributions are added up
  std::vector<Vector> residuals_;  // of each worker; empty before the first exchange, and without error feedback
};

// What is left of a gradient that was sent in fewer bits: encoded by its rank, decoded by the others.
//
// The kinds and their sizes on the wire are those of training/compression.hpp; here is what they do to the numbers.
//
//   int8      every element rounded to a multiple of the largest magnitude / 127
//   top_k     the share `keep` of the elements with the largest magnitudes, at least one; the others become zero
//   one_bit   elements that are not negative become their mean, negative ones theirs (Seide et al., 2014)
//
// fp16 and bf16 are no codecs of this kind: there the sums themselves are short (learning/exchange.hpp).

/// The vector itself where the kind is none of the above.
Vector sent_and_decoded(const CompressionSettings& compression, const Vector& values);

// Weights of which every rank of a group keeps its part (ZeRO, FSDP): gathered and summed by the very schedules that
// the simulation times.
//
// Neighbouring ranks form groups of `shards`. A rank's part of the weights is its block, the last one filled up with
// zeros. Weights are gathered in the type of the parameters; gradients are summed in theirs, by a reduce-scatter in
// every group and, where there are several groups, an allreduce of each part among the ranks that keep it. What a rank
// holds afterwards is what the schedules brought it.

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

}}  // namespace farandole::learning
