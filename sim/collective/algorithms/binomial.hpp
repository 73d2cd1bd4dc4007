// Binomial trees from and to a root: in ceil(log2 n) rounds the number of ranks that take part doubles or halves.
//
// Ranks are counted from the root on. Down: at distance n/2, n/4, ..., 1 every rank that is in sends to the one that
// far ahead; up: the same backwards. Scatter and gather carry the blocks of the whole subtree. Sources: MPICH's
// src/mpi/coll/{bcast,reduce,scatter,gather}/*_intra_binomial.c; Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005.
// Open MPI's reduce, gather and scatter are the same (ompi_coll_base_topo_build_in_order_bmtree).
//
// The other order is Open MPI's broadcast, `binomial_nearest_first`: at distance 1, 2, 4, ... every rank that is in
// sends to the one that far ahead, so a rank's first child is its nearest (ompi_coll_base_topo_build_bmtree,
// ompi/mca/coll/base/coll_base_topo.c of github.com/open-mpi/ompi); and the same backwards, `binomial_farthest_first`,
// as a reduce. Of n ranks, k on each node, n and k powers of two, n/k - 1 messages cross between nodes in the first
// order and n - k in the second. Open MPI hands a rank's messages over in this order without waiting for each; here one
// follows the other, as they do through one link.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule binomial_broadcast(const Shape& shape);
Schedule nearest_first_broadcast(const Shape& shape);
Schedule binomial_reduce(const Shape& shape);
Schedule farthest_first_reduce(const Shape& shape);
Schedule binomial_scatter(const Shape& shape);
Schedule binomial_gather(const Shape& shape);

/// The phases, for algorithms composed of them: of the whole array in one chunk, or of one block for each rank.
std::vector<Phase> binomial_broadcast_phases(const Shape& shape);
std::vector<Phase> binomial_reduce_phases(const Shape& shape);
std::vector<Phase> binomial_scatter_phases(const Shape& shape);

}  // namespace farandole
