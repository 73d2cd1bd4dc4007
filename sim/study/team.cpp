#include "study/team.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "config/modules.hpp"

namespace farandole { inline namespace study {
namespace {

/// What launchers tell the processes they start: Open MPI, PMIx, MPICH and its relatives, Slurm's srun, ALPS' aprun.
/// MPI itself is not asked: a program that stands alone must not wait for a network.
bool is_launched() {
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_STEP_NUM_TASKS",
                                 "ALPS_APP_PE"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace

std::unique_ptr<Team> join_team() {
  if (!is_launched()) return nullptr;
  std::unique_ptr<Team> team;
  const ModuleFunction join = module_function("mpi", "farandole_join_mpi_team");
  if (join.address != nullptr) reinterpret_cast<void (*)(std::unique_ptr<Team>&)>(join.address)(team);
  return team;
}

}}  // namespace farandole::study
