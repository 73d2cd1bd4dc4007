// Recursive halving: in log2 n rounds every rank sends half of what it still holds to one at a distance that halves or
// doubles from round to round.
//
// Reduce-scatter: the halving alone. Allreduce: halving, then doubling gathers what it scattered; Rabenseifner's
// algorithm, 2 (n-1)/n of the data sent by each rank in 2 log2 n rounds. Other numbers of ranks are folded onto a power
// of two (folded_ranks.hpp). Sources: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004;
// Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.
//
// `halving_doubling` sends halves to distance n/2, n/4, ..., 1 and gathers at 1, 2, ...: the textbook's figure, and the
// order of MPICH's and Open MPI's recursive-halving reduce-scatter. `doubling_halving` sends them to distance 1, 2,
// ..., n/2 and gathers at n/2, ..., 1: what both libraries run as an allreduce. Of n ranks, k on each node, n and k
// powers of two, a node's link carries each way
//
//   halving_doubling   2 k M (1 - k/n)        doubling_halving   2 M (1 - k/n)
//
// Sources: MPIR_Allreduce_intra_reduce_scatter_allgather, src/mpi/coll/allreduce/ of github.com/pmodels/mpich ("mask =
// 0x1; while (mask < pof2)"); ompi_coll_base_allreduce_intra_redscat_allgather, ompi/mca/coll/base/ of
// github.com/open-mpi/ompi, which differs where n is no power of two: even ranks stay, and pairs fold by halves
// (`doubling_halving_split`).
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule halving_doubling_allreduce(const Shape& shape);
Schedule doubling_halving_allreduce(const Shape& shape);
Schedule doubling_halving_split_allreduce(const Shape& shape);
Schedule recursive_halving_reduce_scatter(const Shape& shape);

}  // namespace farandole
