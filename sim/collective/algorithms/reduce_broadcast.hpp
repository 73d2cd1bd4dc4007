// Allreduce as a reduce to one rank and a broadcast from it; every round carries the whole array.
//
// The reduce is along a binomial tree, and so is the broadcast of `reduce_broadcast`; of the others it is along a
// binary tree, from the root to everybody, or along a 4-nomial tree. Open MPI's "nonoverlapping"
// (ompi_coll_base_allreduce_intra_nonoverlapping) calls MPI_Reduce and MPI_Bcast, which choose by size and ranks: a
// binomial reduce, and one of the three others.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule reduce_broadcast_allreduce(const Shape& shape);
Schedule reduce_binary_allreduce(const Shape& shape);
Schedule reduce_direct_allreduce(const Shape& shape);
Schedule reduce_knomial_allreduce(const Shape& shape);

}  // namespace farandole
