// A reduce-scatter whose halves go to distance 1, 2, 4, ...; a last round brings the blocks to their ranks.
//
// After the halving a member holds the block whose number is its own with the bits reversed, and sends it to that
// member; where a member stands for two ranks, each gets its own. Of n ranks, a power of two: log2 n + 1 rounds,
// (n-1)/n of the data and, but for ranks that are their own mirror image, one block more. Sources:
// ompi_coll_base_reduce_scatter_intra_butterfly, ompi/mca/coll/base/coll_base_reduce_scatter.c of
// github.com/open-mpi/ompi; Traeff, "An improved algorithm for (non-commutative) reduce-scatter with an application",
// EuroPVM/MPI 2005.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule butterfly_reduce_scatter(const Shape& shape);

}  // namespace farandole
