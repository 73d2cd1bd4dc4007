// Dissemination barrier: in round k every rank tells the one 2^k ahead that it, and all it has heard of, are there.
//
// ceil(log2 n) rounds for any n. Each message carries the whole size that is asked for, a token. Source: Hensgen,
// Finkel and Manber, "Two algorithms for barrier synchronization", Int. J. of Parallel Programming 17(1), 1988.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule dissemination_barrier(const Shape& shape);

}  // namespace farandole
