// Direct: everybody sends to everybody at once, in one round.
//
// Reduce-scatter: each rank sends every other its block. Allgather: each rank sends its block to every other.
// Allreduce: one after the other. Alltoall: all blocks to where they belong. Least rounds, most messages at a time.
// Source of the last: "linear", ompi_coll_base_alltoall_intra_basic_linear of github.com/open-mpi/ompi; of the first
// two: "direct" in Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
// experience", 2007.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule direct_allreduce(const Shape& shape);
Schedule direct_reduce_scatter(const Shape& shape);
Schedule direct_allgather(const Shape& shape);
Schedule direct_alltoall(const Shape& shape);

}  // namespace farandole
