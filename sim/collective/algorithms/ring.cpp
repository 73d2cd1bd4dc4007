#include "collective/algorithms/ring.hpp"

namespace farandole {
namespace {

/// Every rank sends to the next one; rank r starts with segment r + first, and with every round one segment earlier.
Phase around_the_ring(const char* name, int ranks, int first, Action action) {
  Phase phase{name, {}, ranks - 1, -1};
  phase.transfers.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + 1) % ranks, (rank + first + ranks) % ranks, action});
  }
  return phase;
}

}  // namespace

Schedule ring_allreduce(int ranks) {
  Schedule schedule{Operation::allreduce, "ring", ranks, ranks, {}};
  if (ranks > 1) {
    schedule.phases.push_back(around_the_ring("reduce_scatter", ranks, -1, Action::reduce));
    schedule.phases.push_back(around_the_ring("allgather", ranks, 0, Action::copy));
  }
  return schedule;
}

}  // namespace farandole
