#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"

namespace farandole { inline namespace collective {
namespace {

Phase to_all_others(const char* name, int ranks, int chunk_step, int first, Action action) {
  Phase phase{name, {}, 1, chunk_step};
  phase.peer_step = 1;
  phase.fan = ranks - 1;
  for (int rank = 0; rank < ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + 1) % ranks, (rank + first) % ranks, action});
  }
  return phase;
}

/// Each receiver's own block.
Phase scatter_blocks(int ranks) {
  return to_all_others("reduce_scatter", ranks, 1, 1, Action::reduce);
}
/// The sender's own block, to all.
Phase spread_blocks(int ranks) {
  return to_all_others("allgather", ranks, 0, 0, Action::copy);
}

}  // namespace

Schedule direct_allreduce(const Shape& shape) {
  return by_ranks(Operation::allreduce, "direct", shape, {scatter_blocks(shape.ranks), spread_blocks(shape.ranks)});
}

Schedule direct_reduce_scatter(const Shape& shape) {
  return by_ranks(Operation::reduce_scatter, "direct", shape, {scatter_blocks(shape.ranks)});
}

Schedule direct_allgather(const Shape& shape) {
  return by_ranks(Operation::allgather, "direct", shape, {spread_blocks(shape.ranks)});
}

Schedule direct_alltoall(const Shape& shape) {
  Schedule schedule = pairwise_alltoall(shape);
  schedule.algorithm = "direct";
  for (Phase& phase : schedule.phases) {
    phase.name = "exchange";
    phase.fan = phase.repeats;
    phase.repeats = 1;
  }
  return schedule;
}

}}  // namespace farandole::collective
