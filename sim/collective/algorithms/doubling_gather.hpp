// Rabenseifner's reduce in the order of the MPI libraries: halves at distance 1, 2, 4, ..., then a binomial gather to
// the root at n/2, ..., 1.
//
// Other numbers of ranks are folded onto a power of two, where the even rank of a pair stays, so that root 0 does. A
// root that does not stay gets the first member's block after the halving and gathers in its place. Where n is a power
// of two every rank sends (n-1)/n of the data to be summed and the root receives as much: 2 log2 n rounds. Source:
// MPIR_Reduce_intra_reduce_scatter_gather, src/mpi/coll/reduce/ of github.com/pmodels/mpich.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule doubling_gather_reduce(const Shape& shape);

}  // namespace farandole
