// What oneCCL picks by operation, nodes, ranks on each and size, without being asked for anything else.
//
// Called by its planner. Limits are those of a release's file. Sizes are as collective/chunk_sizes.hpp counts them; an
// element is taken to have 4 bytes, of single precision. Where oneCCL hands an operation to the MPI library below it
// ("direct"), that is the one which the file names (mpi_decision.hpp), MPICH as on Aurora.
#pragma once

#include <string>

#include "simulate/library/mpi_decision.hpp"

namespace farandole { inline namespace simulate {

/// What carries an operation out.
struct OneCclWay {
  std::string algorithm;  // of all ranks, or of a device and its counterparts
  bool by_nodes = false;  // everybody with everybody in each node, and `algorithm` between nodes (collective/scale_out)
};

/// At which sizes and numbers of nodes it goes another way.
struct OneCclLimits {
  Bytes line;              // what parts of an allreduce are multiples of
  Bytes most_of_sycl;      // of an array; larger ones go by Level Zero
  Bytes read_by_all;       // allreduces in a node where every rank reads everybody's array,
  Bytes read_by_two;       // and between two ranks
  Bytes allreduce_by_mpi;  // parts, and
  int most_nodes;          // nodes above which all are MPI's
  int most_in_ring;        // nodes
  Bytes scatter_by_mpi;    // blocks
  int most_in_scatter_ring;
  int most_of_gather;  // nodes
  Bytes most_gathered;
  Bytes gather_by_mpi;  // blocks below it
  int few_of_gather;    // nodes up to which it is
  Bytes gather_by_mpi_of_few;
  Bytes alltoall_by_mpi;  // of processors, a pair's
};

struct OneCclDecisions {
  OneCclLimits limits;
  const MpiDecisions* mpi;
};

/// What `section` has of them.
OneCclLimits read_oneccl_limits(Section& section);

/// Of GPUs. `per_node`: ranks on each node, 0 where they are not as many on all.
OneCclWay oneccl_choice(const OneCclDecisions& by, Operation operation, int nodes, int per_node, int ranks, Bytes size);
/// Of processors: the name of a row of collective/algorithms.hpp.
std::string oneccl_choice_of_processors(const OneCclDecisions& by, Operation operation, int ranks, Bytes size);

}}  // namespace farandole::simulate
