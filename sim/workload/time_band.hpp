// How far a step may lie from what it is estimated to take.
//
// Read from topologies/devices/kernels/fitted.json, where tools/fit_kernels.py writes the errors of estimates that had
// not seen the step (tools/kernel_bands.py): from the 10th to the 90th percentile of measured over estimated. Which
// band holds depends on what was measured of the device; one with less to go on is never narrower. A measured step at
// another batch is uncertain by a factor for each doubling in between, and by no more than an estimate is.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"

namespace farandole { inline namespace workload {

/// Factors of the time: a step takes from `least` to `most` times what is said. {1, 1}: it was measured.
struct TimeBand {
  double least = 1;
  double most = 1;
  [[nodiscard]] bool is_open() const { return most > least; }
};

/// What an estimate rests on: models of its family (by name: a model is of the first that its name has in it) measured
/// on the device in that precision, those of others only, in other precisions only, on its generation only, on other
/// generations, or a share of the roofline that is the same for all layers.
struct EstimateBands {
  double probability = 0;  // that the step lies in its band
  std::vector<std::string> families;
  TimeBand model;
  TimeBand family;
  TimeBand precision;
  TimeBand device;
  TimeBand generation;
  TimeBand constant_share;
  double batch_doubled = 1;  // a measured step scaled to twice or half its batch
};

/// `where` is the "bands" of the fitted kernels.
EstimateBands read_estimate_bands(const Value& where);

/// Of a step that was measured at these batches, and would have `estimate` if it were not.
TimeBand band_beside(const std::vector<int>& batches, int batch, double batch_doubled, const TimeBand& estimate);

/// "-25 to +30 %".
std::string describe(const TimeBand& band);

}}  // namespace farandole::workload
