#include <utility>

#include "simulate/library/library.hpp"
#include "simulate/library/planners.hpp"

namespace farandole::inline simulate {

std::span<const Library> libraries() {
  static const std::vector<Library> rows = [] {
    std::vector<Library> all{nccl_of_rings()};
    for (const NcclTuning& tuning : nccl_tunings()) all.push_back(nccl_library(tuning));
    for (Library& library : mpi_libraries()) all.push_back(std::move(library));
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

}  // namespace farandole::inline simulate
