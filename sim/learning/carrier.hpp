// Adds up the ranks' vectors by carrying schedules out on them: the very transfers that the simulation times.
//
// No sum is taken on the side: what a rank holds afterwards is what the schedule brought it. An allgather brings every
// rank all vectors, which it adds up itself, in order of rank, as the strategy of that name does. A schedule is built
// once and kept. Of dedicated parameter servers only the workers bring and get vectors.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "collective/carry_out.hpp"
#include "collective/schedule.hpp"
#include "collective/specification.hpp"
#include "learning/problem.hpp"

namespace farandole { inline namespace learning {

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

}}  // namespace farandole::learning
