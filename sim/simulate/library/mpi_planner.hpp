// MPI libraries as libraries: a decision, and the platform's own transport.
#pragma once

#include "simulate/library/library.hpp"

namespace farandole {

/// "openmpi-4" and "mpich".
std::vector<Library> mpi_libraries();

}  // namespace farandole
