#include "backend/backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/modules.hpp"

namespace farandole { inline namespace backend {
namespace {

/// `install` brings its library, `build` what it is built with.
BackendRow row_of_module(const std::string& name, std::string_view install, std::string_view build) {
  BackendRow row{name, "", ""};
  const std::string function = "farandole_" + name + "_backend";
  const ModuleFunction fill = module_function(name, function);
  if (fill.address != nullptr) {
    reinterpret_cast<void (*)(BackendRow&)>(fill.address)(row);
  } else if (fill.missing == "not built") {
    row.remedy = fmt::format("not built: install {} and build again", build);
  } else {
    row.remedy = fmt::format("not usable: {}; install {}", fill.missing, install);
  }
  return row;
}

}  // namespace

std::span<const BackendRow> backends() {
  static const std::vector<BackendRow> rows{
      row_of_module("mpi", "an MPI (Debian: openmpi-bin)", "an MPI (Debian: libopenmpi-dev openmpi-bin)"),
      row_of_module("nccl", "NCCL and CUDA's runtime (and an MPI)",
                    "the CUDA toolkit with nvcc, and NCCL (NCCL_HOME names its folder),")};
  return rows;
}

const BackendRow* find_backend(const std::string& name) {
  const auto found = std::ranges::find(backends(), name, &BackendRow::name);
  return found == backends().end() ? nullptr : &*found;
}

}}  // namespace farandole::backend
