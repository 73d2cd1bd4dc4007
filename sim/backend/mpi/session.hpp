// MPI as a backend. The only files that include <mpi.h> are those of this folder.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.hpp"

namespace farandole {

/// "Open MPI v4.1.4, standard 3.1", without initialising it.
std::string mpi_version();

/// Initialises MPI; the session's end finalises it. At most one per process.
std::unique_ptr<Session> open_mpi_session(const SessionOptions& options);

}  // namespace farandole
