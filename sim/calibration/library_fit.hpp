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
#include "config/document.hpp"
#include "platform/topology.hpp"
#include "simulate/library/library.hpp"

namespace farandole { inline namespace calibration {

// Times of one collective over its sizes as a few straight pieces: where a library changes its protocol, latency and
// rate change with it.
//
// Each piece is t = latency + size / rate, fitted to relative errors with Huber's weights, latency not negative and
// rate not above what the wire carries in the way that the library picks in the piece's middle. Where the measurements
// are faster than that way could be, another of the library's ways is taken, the best fitting one. How many pieces
// there are, and where they meet, is what makes n ln(mean relative error) + (3 pieces - 1) / 2 ln n least (the
// Bayesian information criterion for errors of Laplace's distribution; a mean error below half a percent counts as half
// a percent), each with at least two sizes and all with fewer numbers (3 pieces - 1) than measurements. Pieces meet
// where their lines cross, if that is between their measurements, else half way by ratio.
//
// Used by calibration/library_fit.hpp alone.

struct TimedSize {
  Bytes size;
  Seconds time;
};

/// One number of a piece, in s or s per byte.
struct PieceValue {
  double value = 0;
  double standard_error = 0;  // by the scatter round all pieces; of no meaning where not identified
  std::string unidentified;   // why it is the library's own; empty: it is fitted
};

struct FittedPiece {
  Bytes from;
  Bytes least;  // measured
  Bytes most;
  int measurements = 0;
  LibraryWay way;
  PieceValue latency;
  PieceValue time_per_byte;
};

/// `samples` in order of size, at least one.
std::vector<FittedPiece> fit_pieces(std::span<const TimedSize> samples, const LibraryWays& ways);

struct LibraryFit {
  std::string library;
  std::string operation;
  int ranks = 2;
  int nodes = 1;
  int devices_per_process = 1;
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

// A measured collective that a communication library carried out: which library, and its job on a topology.
//
// Used by predictions and by fits of such measurements (calibration/predictor.hpp, calibration/library_fit.hpp).

/// The library that the measurement names, or that the topology's transport names where it says "library" or nothing;
/// nullptr where it names an algorithm, and where it says nothing and the transport has no library with the operation.
/// InputError at the measurement where it says "library" and the transport has none.
const Library* library_of(const MeasuredTime& row, const Topology& topology);

/// Where a measurement's ranks sit: the same number on each of `nodes`, or on as few as can be where that is 0. A host
/// that the topology gives one device may hold several ranks, as mpirun allows; what these send one another costs no
/// more than the transport's latency.
struct MeasuredPlace {
  Platform platform;
  Placement placement;
  int ranks_per_node = 1;
};
/// As many as ranks fill, where a row does not say.
int nodes_of(const MeasuredTime& row, const Topology& topology);

MeasuredPlace place_of(int ranks, int nodes, const Place& place, const Topology& topology);

/// `place` must outlive it. InputError where the library has not the operation, or needs CUDA or ROCm and the device
/// has none.
LibraryJob library_job(const MeasuredTime& row, const Topology& topology, const Library& library,
                       const MeasuredPlace& place);

}}  // namespace farandole::calibration
