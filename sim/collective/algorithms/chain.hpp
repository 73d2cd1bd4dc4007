// Chains: from rank to rank in order, once around.
//
// Broadcast: the root sends segment after segment to the next rank, which passes each on; 8 segments by default.
// Source: ompi_coll_base_bcast_intra_pipeline, ompi/mca/coll/base/coll_base_bcast.c of github.com/open-mpi/ompi.
// Reduce: the rank after the root sends its array to the next one, which adds its own and passes the sum on, until it
// stands on the root; whole arrays unless segments are asked for. Source: the "all-gather" demonstration of Osipov,
// "Distributed Gradient Descent with Horovod" (github.com/osipov/smlbook), in which node 1 of 4 starts and the sum
// stands on node 0 after 3 iterations; in segments, ompi_coll_base_reduce_intra_pipeline.
// Both take segments + n - 2 rounds.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule chain_broadcast(const Shape& shape);
Schedule chain_reduce(const Shape& shape);

}  // namespace farandole
