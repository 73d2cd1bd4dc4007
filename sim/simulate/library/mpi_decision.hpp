// What MPI libraries pick by operation, size and ranks, without being asked for anything else.
//
// Called by the planners of MPI libraries and of those that stand on one. Sizes are as the libraries count them: of an
// alltoall one pair's block, of an allgather one rank's contribution for Open MPI and the whole array for MPICH. An
// element is taken to have 4 bytes, as in nccl-tests.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "simulate/library/decision_rules.hpp"

namespace farandole { inline namespace simulate {

inline constexpr Bytes mpi_element{4};

constexpr bool is_power_of_two(int number) {
  return std::has_single_bit(static_cast<unsigned>(number));
}

/// A release's table, in names of rows of collective/algorithms.hpp.
struct MpiDecisions {
  DecisionRules rules;
  std::vector<Operation> by_block;  // whose size is counted for one rank
  bool hands_on = false;            // as Open MPI's algorithms do where they cannot work
};

/// The name of a row of collective/algorithms.hpp. `size` as collective/chunk_sizes.hpp counts it.
std::string mpi_choice(const MpiDecisions& decisions, Operation operation, int ranks, Bytes size);

}}  // namespace farandole::simulate
