// The releases of topologies/libraries/, and what one of them picks, for tests that hold them against the sources.
#pragma once

#include <string>
#include <vector>

#include "simulate/library/library.hpp"
#include "simulate/library/library_file.hpp"
#include "simulate/library/mpi_decision.hpp"
#include "simulate/library/nccl_tuning.hpp"
#include "simulate/library/oneccl_decision.hpp"

namespace farandole::test {

/// Of "2.7".
inline const NcclTuning& tuning(const std::string& version) {
  return *find_library("nccl-" + version)->nccl;
}

/// All releases of NCCL, or of RCCL, that have a cost model, by number.
inline std::vector<std::string> versions_of(const std::string& family) {
  std::vector<std::string> versions;
  for (const Library* library : libraries()) {
    const bool has_model = library->nccl != nullptr || library->rccl != nullptr;
    if (has_model && library->name.starts_with(family)) versions.push_back(library->name.substr(family.size()));
  }
  return versions;
}
inline std::vector<std::string> nccl_versions() {
  return versions_of("nccl-");
}
inline std::vector<std::string> rccl_versions() {
  return versions_of("rccl-");
}

inline std::string openmpi_choice(Operation operation, int ranks, Bytes size) {
  return mpi_choice(*find_library("openmpi-4")->mpi, operation, ranks, size);
}
inline std::string mpich_choice(Operation operation, int ranks, Bytes size) {
  return mpi_choice(*find_library("mpich")->mpi, operation, ranks, size);
}
inline std::string mpich_3_choice(Operation operation, int ranks, Bytes size) {
  return mpi_choice(*find_library("mpich-3")->mpi, operation, ranks, size);
}

inline OneCclDecisions oneccl_2021_16() {
  const LibraryFile file = *read_library_file("oneccl-2021.16");
  Section section(file.value());
  return {read_oneccl_limits(section), find_library("mpich")->mpi.get()};
}

}  // namespace farandole::test
