// What oneCCL picks by operation, nodes, ranks on each and size, without being asked for anything else.
//
// Called by its planner. Sizes are as collective/chunk_sizes.hpp counts them; an element is taken to have 4 bytes, of
// single precision. Where oneCCL hands an operation to the MPI library below it ("direct"), that is taken to be MPICH
// (mpi_decision.hpp), as on Aurora.
#pragma once

#include <string>

#include "collective/operation.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

/// What carries an operation out.
struct OneCclWay {
  std::string algorithm;  // of all ranks, or of a device and its counterparts
  bool by_nodes = false;  // everybody with everybody in each node, and `algorithm` between nodes (collective/scale_out)
};

/// Of GPUs. `per_node`: ranks on each node, 0 where they are not as many on all.
OneCclWay oneccl_choice(Operation operation, int nodes, int per_node, int ranks, Bytes size);
/// Of processors: the name of a row of collective/algorithms.hpp.
std::string oneccl_choice_of_processors(Operation operation, int ranks, Bytes size);

}}  // namespace farandole::simulate
