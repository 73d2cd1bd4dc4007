// Rings: n-1 rounds of reduce-scatter, n-1 rounds of allgather, or one after the other, always to the next rank.
//
// In round i of a reduce-scatter rank r sends segment (r - i - 1) mod n and the receiver adds it; in round i of an
// allgather it sends segment (r - i) mod n and the receiver takes it over. After the first rank r owns segment r. Each
// rank of an allreduce sends 2 (n-1)/n of the data, the least any can (Patarasuk and Yuan, JPDC 69(2), 2009).
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule ring_allreduce(const Shape& shape);
Schedule ring_reduce_scatter(const Shape& shape);
Schedule ring_allgather(const Shape& shape);

/// The two phases, for algorithms composed of them: chunk r belongs to rank r.
Phase ring_reduce_scatter_phase(int ranks);
Phase ring_allgather_phase(int ranks);

}  // namespace farandole
