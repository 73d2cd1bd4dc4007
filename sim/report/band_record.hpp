// Bands of points as text.
//
// Used by the writers of this room.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "timeline/result.hpp"

namespace farandole { inline namespace report {

/// "81.2 .. 93.0"; empty where the point has no bands.
std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals);
std::string band_text(const CollectivePoint& point);  // in microseconds

/// "98": a probability in percent, of what is simulated never 100; empty where there is none.
std::string sure_text(std::optional<double> probability);

/// Of what a change would gain: "-0.4 .. +5.2" percentage points, and P(faster). Empty where they are not judged.
std::string points_band(const WhatIf& what_if);
std::optional<double> faster(const WhatIf& what_if, const TrainingPoint& point);

/// Whether a table needs columns for them.
bool have_bands(std::span<const TrainingPoint> points);

/// "uncertain compute times and errors on published runs", as far as it is true of any of them.
std::string what_bands_are_of(std::span<const TrainingPoint> points);

/// "80 %"; of the first point that has any.
std::string band_probability(std::span<const TrainingPoint> points);

}}  // namespace farandole::report
