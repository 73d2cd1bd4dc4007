// One exchange of gradients between all ranks: compressed as the strategy compresses, carried by its schedules, added
// up.
//
//   none, int8, top_k, one_bit   what each rank sent, decoded, is added up by the carrier
//   fp16, bf16                   vectors are rounded to the short form, and the schedule adds in it
//   power_sgd                    as PowerSgd says
//
// Gradients that are of a short type themselves are rounded first, and without compression added in it.
//
// Where the strategy combines by Adasum that takes the place of the sum: of the workers' own
// gradients, or of the means of its groups' ones, whatever each of them counts for in a sum.
//
// With error feedback, which int8 does not take, a rank keeps what its encoding left out and adds it to the next
// gradient.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "collective/carry_out.hpp"
#include "collective/schedule.hpp"
#include "collective/specification.hpp"
#include "learning/problem.hpp"
#include "training/compression.hpp"
#include "training/gradient_type.hpp"

namespace farandole { inline namespace learning {

// Adds up the ranks' vectors by carrying schedules out on them: the very transfers that the simulation times.
//
// No sum is taken on the side: what a rank holds afterwards is what the schedule brought it. An allgather brings every
// rank all vectors, which it adds up itself, in order of rank, as the strategy of that name does. A schedule is built
// once and kept. Of dedicated parameter servers only the workers bring and get vectors.

// Adasum carried out on numbers, over the very transfers that are timed (collective/algorithms/exchanges.hpp).
//
// Ranks of one group hold parts of one vector. Within a group what arrives is added. Between two groups a and b it is
// combined: (1 - a.b / (2 a.a)) a + (1 - a.b / (2 b.b)) b, with products over the groups' whole vectors, and the two
// are one group from then on. A square below 1e-8 counts as none, as in Horovod. The whole vector is one tensor.

/// `vectors[r]`, rank r's, becomes what it holds in the end; at first neighbouring `ranks_per_group` ranks are a group.
void adasum(const Schedule& schedule, int ranks_per_group, std::vector<Vector>& vectors);

/// How many messages it takes to carry the schedule out.
double messages_in(const Schedule& schedule);

class Carrier {
 public:
  /// `build`: the schedule of an operation, as the strategy has it timed.
  explicit Carrier(std::function<Schedule(Operation)> build) : build_(std::move(build)) {}

  /// `contributions[w]` is worker w's vector; becomes the sum that it holds. All are equally long.
  template <class Values>
  void sum(Operation operation, std::vector<Values>& contributions) {
    const Schedule& schedule = schedule_of(operation);
    operation == Operation::allgather ? gather(schedule, contributions) : reduce(schedule, contributions);
  }

  /// The same by Adasum between groups of so many neighbouring workers.
  void combine(Operation operation, int workers_per_group, std::vector<Vector>& contributions) {
    adasum(schedule_of(operation), workers_per_group, contributions);
  }

  /// Messages that one sum by this operation takes, to tell what it costs to carry out.
  [[nodiscard]] double messages(Operation operation) { return messages_in(schedule_of(operation)); }

 private:
  const Schedule& schedule_of(Operation operation);

  template <class Values>
  static void reduce(const Schedule& schedule, std::vector<Values>& contributions) {
    std::vector<Values> buffers(static_cast<std::size_t>(schedule.ranks), Values::Zero(contributions.front().size()));
    const auto first_worker = buffers.end() - static_cast<std::ptrdiff_t>(contributions.size());
    std::ranges::move(contributions, first_worker);
    carry_out(schedule, buffers);
    std::ranges::move(first_worker, buffers.end(), contributions.begin());
  }

  template <class Values>
  static void gather(const Schedule& schedule, std::vector<Values>& contributions) {
    const Eigen::Index length = contributions.front().size();
    const auto chunks_of_a_rank = static_cast<Eigen::Index>(schedule.chunks / schedule.ranks);
    const Eigen::Index block = (length + chunks_of_a_rank - 1) / chunks_of_a_rank * chunks_of_a_rank;
    std::vector<Values> buffers;
    for (Eigen::Index rank = 0; rank < schedule.ranks; ++rank) {
      buffers.push_back(Values::Zero(block * schedule.ranks));
      buffers.back().segment(rank * block, length) = contributions[static_cast<std::size_t>(rank)];
    }
    carry_out(schedule, buffers);
    for (std::size_t rank = 0; rank < buffers.size(); ++rank) {
      contributions[rank].setZero();
      for (Eigen::Index source = 0; source < schedule.ranks; ++source) {
        contributions[rank] += buffers[rank].segment(source * block, length);
      }
    }
  }

  std::function<Schedule(Operation)> build_;
  std::map<Operation, Schedule> schedules_;
};

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
// fp16 and bf16 are no codecs of this kind: there the sums themselves are short.

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
