// Predictions beside measurements, with their errors; and fits that never judge themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibration/measured_time.hpp"
#include "config/document.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {

/// Every measurement beside what the topology predicts. A topology that carries a calibration also gives the band in
/// which 80 % of measurements should fall that are as far from what it was fitted to (calibration/spread.hpp).
std::vector<ValidationPoint> validate(const Document& topology, std::span<const MeasuredTime> measurements);

/// What is left out of a fit and predicted from the rest, in turn.
enum class HoldOut : std::uint8_t {
  sizes,      // every other size, then the others
  scales,     // each number of ranks
  operations  // each operation
};

/// Fits to what is not held out and predicts what is; rows in the order of the measurements. InputError where there
/// is nothing to fit to once something is held out.
std::vector<ValidationPoint> cross_validate(const Document& topology, std::span<const MeasuredTime> measurements,
                                            HoldOut hold_out);

}}  // namespace farandole::calibration
