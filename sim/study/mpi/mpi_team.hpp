// The team of an MPI launcher; study/team.hpp has the contract.
#pragma once

#include <memory>

#include "study/team.hpp"

namespace farandole {

/// Starts MPI; null where it knows of this process only.
std::unique_ptr<Team> join_mpi_team();

}  // namespace farandole
