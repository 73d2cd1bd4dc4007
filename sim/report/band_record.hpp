// Bands of a point as records, as text, and what charts shade.
//
// Used by the writers of this room. In JSON a band is [low, high]; in CSV it is two columns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/record.hpp"
#include "timeline/bands.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Without a key where a band is not there.
Record to_record(const Bands& bands);
Bands bands_of(const Record& record);

/// Lists of two ends become `..._low` and `..._high`.
void split_ends(Record& bands);

/// "81.2 .. 93.0"; empty where the point has no bands.
std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals);

/// Whether a table needs columns for them.
bool have_bands(std::span<const TrainingPoint> points);

/// "80 %"; of the first point that has any.
std::string band_probability(std::span<const TrainingPoint> points);

}  // namespace farandole
