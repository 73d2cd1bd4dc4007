#include <fmt/format.h>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/rings.hpp"
#include "config/error.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Row b of the chunks is rank b's block, column s its segment s.
Phase reduce_segment(int ranks, int segments, int segment) {
  Phase phase{fmt::format("reduce_scatter_{}", segment), {}, ranks - 1};
  phase.row_step = -1;
  for (int rank = 0; rank < ranks; ++rank) {
    const Chunk block = wrap(rank - 1, ranks);
    phase.transfers.push_back({rank, (rank + 1) % ranks, block * segments + segment, Action::reduce});
  }
  return phase;
}

Phase gather_round_ring(int ranks, int segments) {
  Phase phase{"allgather", {}, ranks - 1};
  phase.row_step = -1;
  for (int rank = 0; rank < ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + 1) % ranks, Chunk(rank) * segments, Action::copy, segments});
  }
  return phase;
}

}  // namespace

Schedule segmented_ring_allreduce(const Shape& shape) {
  const int n = shape.ranks;
  const int segments = shape.segments > 0 ? shape.segments : 4;
  if (Count(n) * segments > most_blocks) {
    throw InputError(fmt::format("expected a segmented ring of at most {} blocks, got {} segments of each of {} ranks",
                                 most_blocks, segments, n));
  }
  Schedule schedule = blank(Operation::allreduce, "segmented_ring", shape, Chunk(n) * segments, n);
  if (n == 1) return schedule;
  for (int segment = 0; segment < segments; ++segment) {
    schedule.phases.push_back(reduce_segment(n, segments, segment));
  }
  schedule.phases.push_back(gather_round_ring(n, segments));
  return schedule;
}

}}  // namespace farandole::collective
