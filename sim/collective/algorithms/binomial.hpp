// Binomial trees from and to a root: in ceil(log2 n) rounds the number of ranks that take part doubles or halves.
//
// Ranks are counted from the root on. Down: at distance n/2, n/4, ..., 1 every rank that is in sends to the one that
// far ahead; up: the same backwards. Scatter and gather carry the blocks of the whole subtree. Sources: MPICH's
// src/mpi/coll/{bcast,reduce,scatter,gather}/*_intra_binomial.c; Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule binomial_broadcast(const Shape& shape);
Schedule binomial_reduce(const Shape& shape);
Schedule binomial_scatter(const Shape& shape);
Schedule binomial_gather(const Shape& shape);

/// The phases, for algorithms composed of them: of the whole array in one chunk, or of one block for each rank.
std::vector<Phase> binomial_broadcast_phases(const Shape& shape);
std::vector<Phase> binomial_reduce_phases(const Shape& shape);
std::vector<Phase> binomial_scatter_phases(const Shape& shape);

}  // namespace farandole
