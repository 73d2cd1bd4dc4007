// Proofs that a schedule computes its operation, independent of how the algorithm was written.
//
// Symbolic: every chunk of every rank carries the multiset of ranks summed into it, as a count per rank. Before: rank r
// holds its own contribution once. After an allreduce: every chunk of every rank holds every rank's exactly once.
// Numeric: the schedule is carried out on vectors of integers, where sums are exact and `==` is meant.
//
// Both follow the rule of collective/schedule.hpp: a round reads the state before it. Cost is O(ranks^2 chunks).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "collective/schedule.hpp"

namespace farandole {

/// What is wrong with the form of a schedule: a rank or chunk out of range, a send to oneself, two transfers of one
/// round that overwrite the same chunk. Nothing when the form is right.
std::optional<std::string> find_malformed(const Schedule& schedule);

/// The first rank and chunk that do not hold what the operation promises, as a sentence; nothing when proved.
std::optional<std::string> disprove(const Schedule& schedule);

using IntegerVector = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;

/// Carries the schedule out: `buffers[r]` is rank r's data (all of one length), cut as ChunkSizes cuts bytes.
void execute(const Schedule& schedule, std::vector<IntegerVector>& buffers);

}  // namespace farandole
