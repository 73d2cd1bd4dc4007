#include "backend/backend.hpp"

#include <vector>

#ifdef FARANDOLE_WITH_MPI
#include "backend/mpi/session.hpp"
#endif
#ifdef FARANDOLE_WITH_NCCL
#include "backend/nccl/session.hpp"
#endif

namespace farandole {
namespace {

BackendRow mpi_row() {
  BackendRow row{"mpi", "", "install an MPI (Debian: libopenmpi-dev openmpi-bin) and build again"};
#ifdef FARANDOLE_WITH_MPI
  row.version = mpi_version();
  row.open = open_mpi_session;
#endif
  return row;
}

BackendRow nccl_row() {
  BackendRow row{"nccl", "",
                 "install the CUDA toolkit with nvcc, and NCCL (NCCL_HOME names its folder), and build again"};
#ifdef FARANDOLE_WITH_NCCL
  row.version = nccl_version();
  row.devices = nccl_devices;
  row.open = open_nccl_session;
#endif
  return row;
}

}  // namespace

std::span<const BackendRow> backends() {
  static const std::vector<BackendRow> rows{mpi_row(), nccl_row()};
  return rows;
}

const BackendRow* find_backend(const std::string& name) {
  for (const BackendRow& row : backends()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace farandole
