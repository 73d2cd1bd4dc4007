// Proofs that a schedule computes its operation, independent of how the algorithm was written.
//
// Called by the tests for every algorithm, and for every schedule that a user brings. What an operation promises is in
// collective/specification.hpp.
// Symbolic: every chunk of every rank carries the multiset of ranks summed into it, as a count per rank. Before: rank r
// holds its own contribution once, or nothing. After: what is promised, exactly.
// Numeric: the schedule is carried out on vectors of integers, where sums are exact and `==` is meant.
//
// Both follow the rule of collective/schedule.hpp: a round reads the state before it. Cost is O(ranks^2 chunks).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "collective/carry_out.hpp"
#include "collective/chunk_sizes.hpp"
#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

/// The first rank and chunk that do not hold what the operation promises, or are sent before they hold anything, as a
/// sentence; nothing when proved.
std::optional<std::string> disprove(const Schedule& schedule);

using IntegerVector = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;

/// Executes the schedule on integer buffers, one element per byte: `buffers[r]` is rank r's data, ranks * size long for
/// an alltoall and size long for the rest, cut as ChunkSizes(size, schedule) cuts bytes. Where a rank contributes
/// nothing to a chunk, what stands there must not matter, or where sums are asked for must be zero, as on a parameter
/// server at the start. Copies to pass on are made here.
void execute(const Schedule& schedule, std::vector<IntegerVector>& buffers);

/// Carries the schedule out on random integers and compares every promised element: the first wrong one, as a sentence.
std::optional<std::string> disprove_numerically(const Schedule& schedule, int size, std::uint64_t seed);

// What every rank holds of every chunk, as counts: how often each rank's contribution is summed into it.
//
// Used by the symbolic proof and by what shows a schedule to people.

/// Element r: how often rank r's contribution is in. All zero: nothing is held.
using Counts = Eigen::Array<std::int32_t, Eigen::Dynamic, 1>;

class SymbolicState {
 public:
  /// Every rank holds what it contributes.
  explicit SymbolicState(const Schedule& schedule);

  [[nodiscard]] const Counts& at(int rank, Chunk chunk) const { return cells_[index(rank, chunk)]; }
  void write(int rank, Chunk chunk, const Counts& value, Action action);
  void apply(const Schedule& schedule, const Phase& phase, int repeat);

 private:
  [[nodiscard]] std::size_t index(int rank, Chunk chunk) const {
    return static_cast<std::size_t>(rank * chunks_ + chunk);
  }

  Chunk chunks_;
  std::vector<Counts> cells_;
};

}}  // namespace farandole::collective
