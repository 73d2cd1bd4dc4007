// Where the compute times of points come from: measured on the device, or estimated from its peak rate.
//
// Used by the writers of this room. An estimate is a share of a peak rate that nobody measured for that model and
// device; what is compared across the two kinds says so first.
#pragma once

#include <span>
#include <string>

#include "timeline/result.hpp"

namespace farandole { inline namespace report {

/// "Compares estimated (dgx-h100) with measured (dgx-a100) compute times: ..."; empty where all are of one kind.
std::string mixed_compute_sentence(std::span<const TrainingPoint> points);

/// "Compute times are estimated (35 % of 19.5 TFLOP/s), not measured."; empty unless all are estimated.
std::string estimated_compute_sentence(std::span<const TrainingPoint> points);

}}  // namespace farandole::report
