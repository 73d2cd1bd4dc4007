// Recursive doubling: in log2 n rounds every rank meets the one at distance 1, 2, 4, ... and both exchange all they
// have.
//
// Allreduce: the whole array every time, for short ones. Allgather: twice as many blocks every time. Other numbers of
// ranks are folded onto a power of two (folded_ranks.hpp). Source: Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005,
// sections 4.1 and 4.5.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule recursive_doubling_allreduce(const Shape& shape);
Schedule recursive_doubling_allgather(const Shape& shape);

}  // namespace farandole
