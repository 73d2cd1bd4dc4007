// Whether programs can be run under mpirun here, and how.
#pragma once

#include <cstdlib>
#include <string>

#include "tools/process.hpp"

namespace farandole::test {

inline bool can_run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// Why not; empty where they can.
inline std::string why_not_mpi() {
  if (!can_run("command -v mpirun")) return "mpirun is not installed";
  const Workplace place("doctor");
  if (place.farandole("doctor").out.find("backend mpi    not built") != std::string::npos) return "built without MPI";
  return {};
}

/// As root too. Ranks that wait in a spin loop on fewer cores than ranks would wait for one another's time slices.
inline std::string mpirun(const std::string& options) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 "
         "mpirun --oversubscribe " +
         options + " ";
}

}  // namespace farandole::test
