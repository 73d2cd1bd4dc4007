// What MPI libraries pick by operation, size and ranks, without being asked for anything else.
//
// Called by the catalogue of libraries. Sizes are as the libraries count them: of an allgather one rank's contribution
// for Open MPI and the whole array for MPICH, of an alltoall one pair's block. An element is taken to have 4 bytes, as
// in nccl-tests.
#pragma once

#include <bit>
#include <string>

#include "collective/operation.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

inline constexpr Bytes mpi_element{4};

constexpr bool is_power_of_two(int number) {
  return std::has_single_bit(static_cast<unsigned>(number));
}

/// The name of a row of collective/algorithms.hpp. `size` as collective/chunk_sizes.hpp counts it.
///
/// Open MPI: the fixed decisions of 4.1 (openmpi_decision.cpp has the source), which ask for no segments.
std::string openmpi_choice(Operation operation, int ranks, Bytes size);
/// MPICH: the default selection of 4.x (mpich_decision.cpp).
std::string mpich_choice(Operation operation, int ranks, Bytes size);
/// MPICH 3.x, and Cray MPICH 7, which was made from it.
std::string mpich_3_choice(Operation operation, int ranks, Bytes size);

}}  // namespace farandole::simulate
