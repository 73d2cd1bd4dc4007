// Carries a schedule out on numbers: one Eigen vector per rank, cut into the schedule's chunks.
//
// Called by the proofs, on integers, and by learning/, on real gradients. `buffers[r]` is rank r's data, ranks * size
// long for an alltoall and size long for the rest, cut as ChunkSizes(size, schedule) cuts bytes. Where a rank
// contributes nothing to a chunk, what stands there must not matter, or where sums are asked for must be zero, as on a
// parameter server at the start. Copies to pass on are made here.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "collective/apply.hpp"
#include "collective/chunk_sizes.hpp"

namespace farandole {

template <class Vector>
void carry_out(const Schedule& schedule, std::vector<Vector>& buffers) {
  const auto length = static_cast<double>(buffers.front().size());
  const ChunkSizes sizes(Bytes(schedule.operation == Operation::alltoall ? length / schedule.ranks : length), schedule);
  for (Vector& buffer : buffers) buffer = buffer.replicate(schedule.copies, 1).eval();
  const auto segment = [&](int rank, Chunk chunk) {
    const auto begin = static_cast<Eigen::Index>(sizes.before(chunk).si());
    const auto end = static_cast<Eigen::Index>(sizes.before(chunk + 1).si());
    return buffers[static_cast<std::size_t>(rank)].segment(begin, end - begin);
  };
  apply_all(
      schedule, [&](int rank, Chunk chunk) { return Vector(segment(rank, chunk)); },
      [&](int rank, Chunk chunk, const Vector& value, Action action) {
        if (action == Action::reduce) {
          segment(rank, chunk) += value;
        } else {
          segment(rank, chunk) = value;
        }
      });
  for (Vector& buffer : buffers) buffer.conservativeResize(buffer.size() / schedule.copies);
}

}  // namespace farandole
