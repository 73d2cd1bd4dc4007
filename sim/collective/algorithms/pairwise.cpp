#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"

namespace farandole { inline namespace collective {

Schedule pairwise_alltoall(const Shape& shape) {
  const int n = shape.ranks;
  Schedule schedule = blank(Operation::alltoall, "pairwise", shape, Chunk(n) * n, n);
  if (n == 1) return schedule;
  Phase phase{"shift", {}, n - 1, 1};
  phase.peer_step = 1;
  for (int rank = 0; rank < n; ++rank) {
    const int next = (rank + 1) % n;
    phase.transfers.push_back({rank, next, Chunk(rank) * n + next, Action::copy});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

Schedule pairwise_reduce_scatter(const Shape& shape) {
  const int n = shape.ranks;
  Schedule schedule = blank(Operation::reduce_scatter, "pairwise", shape, n);
  if (n == 1) return schedule;
  Phase phase{"shift", {}, n - 1, 1};
  phase.peer_step = 1;
  for (int rank = 0; rank < n; ++rank) {
    const int next = (rank + 1) % n;
    phase.transfers.push_back({rank, next, next, Action::reduce});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

}}  // namespace farandole::collective
