// Allreduce as a reduce to one rank and a broadcast from it, both along a binomial tree.
//
// The plain way, as Open MPI's "nonoverlapping" (ompi_coll_base_allreduce_intra_nonoverlapping): every round carries
// the whole array.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule reduce_broadcast_allreduce(const Shape& shape);

}  // namespace farandole
