// Fits what a library's collectives take to measurements, each operation on each number of ranks and nodes by itself.
//
// Called by the fit for measurements of libraries that know several ways to do the same (simulate/library: NCCL). What
// is found is written into the topology as its transport's `library_times`, in place of what it says there of the
// same library, operation, ranks and nodes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibration/measured_time.hpp"
#include "calibration/piecewise.hpp"
#include "config/document.hpp"
#include "platform/topology.hpp"

namespace farandole {

struct LibraryFit {
  std::string library;
  std::string operation;
  int ranks = 2;
  int nodes = 1;
  MeasuredLinks links;  // of the topology that it was fitted on
  std::vector<FittedPiece> pieces;
  std::string pointer;  // to its entry in the topology
};

/// "allreduce by nccl-2.18, 16 ranks on 2 nodes, 4 B to 64 KiB (tree LL)".
std::string piece_name(const LibraryFit& fit, std::size_t piece);

/// Whether a measurement is of such a library on that topology.
bool is_piecewise(const MeasuredTime& row, const Topology& topology);

/// Changes `topology`.
std::vector<LibraryFit> fit_libraries(Document& topology, std::span<const MeasuredTime> measurements);

/// The topology's default becomes the library that the measurements are of: what was fitted is what the next run takes.
/// One that it names already stays, where any of them is of it; of several others, the one measured most often.
void adopt_library(Document& topology, std::span<const MeasuredTime> measurements);

}  // namespace farandole
