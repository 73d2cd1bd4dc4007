// Pairwise: in round i rank r sends rank r + i + 1 its block and receives from rank r - i - 1.
//
// n-1 rounds, one block in each; a reduce-scatter adds what comes. Sources: ompi_coll_base_alltoall_intra_pairwise of
// github.com/open-mpi/ompi; MPIR_Reduce_scatter_intra_pairwise of github.com/pmodels/mpich.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule pairwise_alltoall(const Shape& shape);
Schedule pairwise_reduce_scatter(const Shape& shape);

}  // namespace farandole
