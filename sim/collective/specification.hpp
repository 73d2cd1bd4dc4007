// What each operation promises: who contributes to which chunk before, and what every rank must hold after.
//
// The proofs hold an algorithm against this; no algorithm includes it. Written after the pre- and postconditions of
// MSCCL (github.com/microsoft/msccl-tools, msccl/language/collectives.py) and the MPI standard, chapter 6. Chunks are
// spread over the operation's data:
//   allreduce, broadcast, reduce, barrier   any number of chunks, all of one array; of an allreduce, what is in
//     further copies of the array afterwards is ignored
//   reduce_scatter, allgather, gather, scatter   ranks * m chunks; m neighbouring ones are the block of each rank
//   parameter_server   as an allreduce among the workers, the ranks from `first_worker` on: all, or all but the servers
//   alltoall   ranks * ranks chunks; chunk s * ranks + d goes from rank s to rank d
#pragma once

#include <optional>
#include <string>

#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

/// How often a contribution must be part of a chunk at the end.
enum class ExpectedCount : std::uint8_t { never, once, at_least_once };

/// What is wrong with the number of chunks or the root for the operation, as a sentence.
std::optional<std::string> find_misfit(const Schedule& schedule);

/// Whether the operation adds up the contributions of all ranks, rather than moving each to where it belongs.
bool sums(Operation operation);
/// Whether one rank is told apart from the others.
bool has_root(Operation operation);

/// Whether the rank holds a contribution of its own to the chunk before the operation.
bool contributes(const Schedule& schedule, int rank, Chunk chunk);
/// Whether the operation promises anything about what the rank holds of the chunk afterwards.
bool has_postcondition(const Schedule& schedule, int rank, Chunk chunk);
/// How often the source's contribution must be part of a promised chunk.
ExpectedCount expected_count(const Schedule& schedule, Chunk chunk, int source);

}}  // namespace farandole::collective
