#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"

namespace farandole { inline namespace collective {

/// In round i every rank sends one chunk to the rank i + 1 ahead.
static Schedule shifted(Schedule schedule, int chunks_of_a_rank, Action action) {
  const int n = schedule.ranks;
  if (n == 1) return schedule;
  Phase phase{"shift", {}, n - 1, 1};
  phase.peer_step = 1;
  for (int rank = 0; rank < n; ++rank) {
    const int next = (rank + 1) % n;
    phase.transfers.push_back({rank, next, Chunk(rank) * chunks_of_a_rank + next, action});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

Schedule pairwise_alltoall(const Shape& shape) {
  const int n = shape.ranks;
  return shifted(blank(Operation::alltoall, "pairwise", shape, Chunk(n) * n, n), n, Action::copy);
}

Schedule pairwise_reduce_scatter(const Shape& shape) {
  return shifted(blank(Operation::reduce_scatter, "pairwise", shape, shape.ranks), 0, Action::reduce);
}

}}  // namespace farandole::collective
