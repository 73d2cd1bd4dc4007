// The team of an MPI launcher, in the module "mpi" (backend/modules.hpp); study/team.hpp has the contract.
#pragma once

#include <memory>

#include "study/team.hpp"

namespace farandole {

/// Starts MPI; leaves `team` null where MPI knows of this process only.
extern "C" __attribute__((visibility("default"))) void farandole_join_mpi_team(std::unique_ptr<Team>& team);

}  // namespace farandole
