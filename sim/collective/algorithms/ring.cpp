#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
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

/// The two phases, for algorithms composed of them: chunk r belongs to rank r.
static Phase ring_reduce_scatter_phase(int ranks) {
  return around_the_ring("reduce_scatter", ranks, -1, Action::reduce);
}

Phase ring_allgather_phase(int ranks) {
  return around_the_ring("allgather", ranks, 0, Action::copy);
}

Schedule ring_allreduce(const Shape& shape) {
  return by_ranks(Operation::allreduce, "ring", shape,
                  {ring_reduce_scatter_phase(shape.ranks), ring_allgather_phase(shape.ranks)});
}

Schedule ring_reduce_scatter(const Shape& shape) {
  return by_ranks(Operation::reduce_scatter, "ring", shape, {ring_reduce_scatter_phase(shape.ranks)});
}

Schedule ring_allgather(const Shape& shape) {
  return by_ranks(Operation::allgather, "ring", shape, {ring_allgather_phase(shape.ranks)});
}

Schedule plain_ring_allreduce(const Shape& shape) {
  Schedule schedule = blank(Operation::allreduce, "plain_ring", shape, 2);
  schedule.copies = 2;
  if (shape.ranks == 1) return schedule;
  Phase phase{"pass_on", {}, shape.ranks - 1};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + 1) % shape.ranks, 1, Action::relay});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

}}  // namespace farandole::collective
