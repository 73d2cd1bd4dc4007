// The ring with its reduce-scatter done segment by segment, as Open MPI does it for large arrays.
//
// Every rank's block is cut into `segments` parts (4 by default). The reduce-scatter goes once around the ring for each
// part, so that the sums of one can overlap the sending of the next; the allgather sends whole blocks. Source:
// ompi_coll_base_allreduce_intra_ring_segmented, ompi/mca/coll/base/coll_base_allreduce.c of github.com/open-mpi/ompi.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule segmented_ring_allreduce(const Shape& shape);

}  // namespace farandole
