// Recursive halving: in log2 n rounds every rank sends half of what it still holds to the one at distance n/2, n/4, ...
//
// Reduce-scatter: the halving alone. Allreduce: halving, then doubling gathers what it scattered; Rabenseifner's
// algorithm, 2 (n-1)/n of the data sent by each rank in 2 log2 n rounds. Other numbers of ranks are folded onto a power
// of two (folded_ranks.hpp). Sources: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004;
// Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule halving_doubling_allreduce(const Shape& shape);
Schedule recursive_halving_reduce_scatter(const Shape& shape);

}  // namespace farandole
