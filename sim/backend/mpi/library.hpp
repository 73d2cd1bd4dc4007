// The collectives of the MPI library itself, on data laid out as backend/test_data.hpp lays it out.
#pragma once

#include <mpi.h>

#include "backend/backend.hpp"

namespace farandole {

/// `size` in elements, as the operation counts bytes. Empty for an operation that MPI does not have.
CollectiveRun mpi_collective(MPI_Comm communicator, const Schedule& layout, std::int64_t size);

}  // namespace farandole
