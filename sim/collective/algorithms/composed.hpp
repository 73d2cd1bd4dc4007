// Operations done as two others, one after the other, as the MPI libraries do them.
//
// Broadcast: a binomial scatter, then a recursive-doubling allgather. Reduce: a recursive-halving reduce-scatter, then
// a binomial gather (Rabenseifner). Reduce-scatter: a binomial reduce, then a binomial scatter ("non-overlapping").
// Sources: Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, sections 4.2 and 4.4;
// ompi_coll_base_reduce_scatter_intra_ nonoverlapping of github.com/open-mpi/ompi.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule scatter_doubling_broadcast(const Shape& shape);
Schedule scatter_gather_reduce(const Shape& shape);
Schedule reduce_then_scatter(const Shape& shape);

}  // namespace farandole
