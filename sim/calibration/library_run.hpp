// A measured collective that a communication library carried out: which library, and its job on a topology.
//
// Used by predictions and by fits of such measurements (calibration/predictor.hpp, calibration/library_fit.hpp).
#pragma once

#include "calibration/measured_time.hpp"
#include "platform/topology.hpp"
#include "simulate/library/library.hpp"

namespace farandole {

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
MeasuredPlace place_of(int ranks, int nodes, const Place& place, const Topology& topology);

/// `place` must outlive it. InputError where the library has not the operation, or needs CUDA and the device has
/// none.
LibraryJob library_job(const MeasuredTime& row, const Topology& topology, const Library& library,
                       const MeasuredPlace& place);

}  // namespace farandole
