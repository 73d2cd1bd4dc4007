// Pipelined chain broadcast: the root sends segment after segment to the next rank, which passes each on.
//
// segments + n - 2 rounds (8 segments by default). Source: ompi_coll_base_bcast_intra_pipeline,
// ompi/mca/coll/base/coll_base_bcast.c of github.com/open-mpi/ompi.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule chain_broadcast(const Shape& shape);

}  // namespace farandole
