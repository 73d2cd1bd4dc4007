// Pairwise alltoall: in round i rank r sends its block to rank r + i + 1 and receives from rank r - i - 1.
//
// n-1 rounds, one block in each. Source: ompi_coll_base_alltoall_intra_pairwise of github.com/open-mpi/ompi.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule pairwise_alltoall(const Shape& shape);

}  // namespace farandole
