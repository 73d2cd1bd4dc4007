// Bruck's algorithms: ceil(log2 n) rounds for any n, at distance 1, 2, 4, ...
//
// Allgather: rank r sends all it holds, its own block and those that follow, to rank r - distance. Alltoall: a block
// that must travel d ranks on travels distance 2^k in round k where bit k of d is set; each rank sends about half of
// its data in every round. Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", IEEE TPDS 8(11), 1997.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule bruck_allgather(const Shape& shape);
Schedule bruck_alltoall(const Shape& shape);

}  // namespace farandole
