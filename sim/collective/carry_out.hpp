// Carries a schedule out on numbers: one Eigen vector per rank, cut into the schedule's chunks.
//
// Called by the proofs, on integers, and by learning/, on real gradients. `buffers[r]` is rank r's data, ranks * size
// long for an alltoall and size long for the rest, cut as ChunkSizes(size, schedule) cuts bytes. Where a rank
// contributes nothing to a chunk, what stands there must not matter, or where sums are asked for must be zero, as on a
// parameter server at the start. Copies to pass on are made here.
#pragma once

#include <utility>
#include <vector>

#include <Eigen/Core>

#include "collective/chunk_sizes.hpp"
#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

// One interpreter of schedules on any state: the proofs, the execution on numbers and the drawings all go through it.
//
// `read(rank, chunk)` copies a chunk out, `write(rank, chunk, value, action)` puts it in. A round reads everything
// before it writes anything, as the rule of collective/schedule.hpp asks for. `action` is copy or reduce: what is
// relayed is written twice.

template <class Read, class Write>
void apply_round(const Schedule& schedule, const Phase& phase, int repeat, Read read, Write write) {
  std::vector<std::pair<Transfer, decltype(read(0, Chunk(0)))>> in_flight;
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
    for_each_chunk(schedule, phase, transfer, [&](Chunk chunk) {
      in_flight.emplace_back(transfer, read(transfer.from, chunk)).first.chunk = chunk;
    });
  });
  for (const auto& [transfer, value] : in_flight) {
    const bool is_relayed = transfer.action == Action::relay;
    write(transfer.to, transfer.chunk, value, is_relayed ? Action::copy : transfer.action);
    if (is_relayed) write(transfer.to, first_copy(schedule, transfer.chunk), value, Action::reduce);
  }
}

template <class Read, class Write>
void apply_all(const Schedule& schedule, Read read, Write write) {
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) apply_round(schedule, phase, repeat, read, write);
  }
}

template <class Vector>
void carry_out(const Schedule& schedule, std::vector<Vector>& buffers) {
  const auto length = static_cast<double>(buffers.front().size());
  const ChunkSizes sizes(Bytes(schedule.operation == Operation::alltoall ? length / schedule.ranks : length), schedule);
  for (Vector& buffer : buffers) buffer = buffer.replicate(schedule.copies, 1).eval();
  const auto segment = [&](int rank, Chunk chunk) {
    const Eigen::Index begin = begin_of(sizes, chunk);
    return buffers[static_cast<std::size_t>(rank)].segment(begin, begin_of(sizes, chunk + 1) - begin);
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

}}  // namespace farandole::collective
