// Starts the program under mpirun, where there is one.
#pragma once

#include <cstdlib>
#include <string>

#include <unistd.h>

#include "tools/process.hpp"

namespace farandole::test {

inline bool can_run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// "mpirun OPTIONS "; as root too. Ranks that wait in a spin loop on fewer cores than ranks would wait for one
/// another's time slices.
inline std::string mpirun(const std::string& options) {
  return "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 "
         "mpirun --oversubscribe " +
         options + " ";
}

inline std::string mpirun(int ranks) {
  return mpirun("-np " + std::to_string(ranks));
}

/// What an ordinary user types, typed by root.
inline const std::string as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp TMPDIR=/tmp ";

/// Why MPI cannot be tried; empty where it can.
inline std::string why_not_mpi() {
  if (!can_run("command -v mpirun")) return "mpirun is not installed; tools/setup optional installs it";
  const Workplace place("doctor");  // not the test's own, which would be removed with it
  if (place.farandole("doctor").out.find("backend mpi    not ") != std::string::npos)
    return "built without MPI; tools/setup optional installs it";
  return {};
}

inline std::string why_not_nobody() {
  if (geteuid() != 0) return "the other tests are an ordinary user's already";
  if (!can_run(as_nobody + FARANDOLE_PROGRAM " --version")) return "nobody may not run the program";
  return {};
}

}  // namespace farandole::test
