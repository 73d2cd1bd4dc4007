// MPI as a backend, in the module "mpi" (backend/modules.hpp). The only files that include <mpi.h> are those of this
// folder.
#pragma once

#include <string>

#include "backend/backend.hpp"

namespace farandole {

/// "Open MPI v4.1.4, standard 3.1", without initialising it.
std::string mpi_version();

/// Fills in the version and how a session is opened. That initialises MPI; the session's end finalises it. At most one
/// per process.
extern "C" __attribute__((visibility("default"))) void farandole_mpi_backend(BackendRow& row);

}  // namespace farandole
