#include <algorithm>
#include <array>
#include <utility>

#include "simulate/library/library.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {

std::span<const Library> libraries() {
  static const std::vector<Library> rows = [] {
    std::vector<Library> all{nccl_of_rings()};
    for (const NcclTuning& tuning : nccl_tunings()) all.push_back(nccl_library(tuning));
    for (const RcclTuning& tuning : rccl_tunings()) all.push_back(rccl_library(tuning));
    for (Library& library : mpi_libraries()) all.push_back(std::move(library));
    all.push_back(oneccl_library());
    return all;
  }();
  return rows;
}

const Library* find_library(const std::string& name) {
  for (const Library& row : libraries()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Transport transport_of(const Library& library, const Platform& platform) {
  return library.is_mpi ? mpi_transport(library.name, platform) : platform.transport;
}

std::string name(DeviceStack stack) {
  constexpr std::array names{"hosts", "CUDA", "ROCm"};
  return names.at(static_cast<std::size_t>(stack));
}

bool can_run(const Library& library, const DeviceKind& device) {
  const bool is_known =
      std::ranges::find(library.generations, device.generation) != library.generations.end() || device.is_processor();
  if (!library.generations.empty() && !is_known) return false;
  switch (library.needs) {
    case DeviceStack::none:
      return true;
    case DeviceStack::cuda:
      return device.compute_capability > 0;
    case DeviceStack::rocm:
      return !device.gfx.empty();
  }
  return true;
}

}}  // namespace farandole::simulate
