// Neighbour-exchange allgather: pairs of ranks exchange, then each with its neighbour on the other side, and so on.
//
// For even n: one block in the first round, two in each of the n/2 - 1 that follow, always those that came last. An odd
// number of ranks makes a ring, as in Open MPI. Holds n^2 / 2 transfers. Source: Chen et al., "Performance evaluation
// of allgather algorithms on terascale Linux cluster with fast Ethernet", HPC Asia 2005;
// ompi_coll_base_allgather_intra_neighborexchange of github.com/open-mpi/ompi.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule neighbor_exchange_allgather(const Shape& shape);

}  // namespace farandole
