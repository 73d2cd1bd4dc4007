// Ring allreduce: n-1 rounds of reduce-scatter, then n-1 rounds of allgather, always to the next rank.
//
// In round i of the first phase rank r sends segment (r - i - 1) mod n and the receiver adds it; in round i of the
// second it sends segment (r - i) mod n and the receiver takes it over. After the first phase rank r owns segment r.
// Each rank sends 2 (n-1)/n of the data, the least any allreduce can (Patarasuk and Yuan, JPDC 69(2), 2009).
#pragma once

#include "collective/schedule.hpp"

namespace farandole {

Schedule ring_allreduce(int ranks);

}  // namespace farandole
