// Writes what an autotuner tried and settled on: a table, and the log that HOROVOD_AUTOTUNE_LOG asks for.
#pragma once

#include <iosfwd>
#include <span>

#include "timeline/result.hpp"

namespace farandole {

/// A row for every point that tuned itself; nothing where none did.
void write_tuning(std::ostream& out, std::span<const TrainingPoint> points);

/// Comma-separated, a line for every place that was tried and one for the best, as Horovod writes them.
void write_tuning_log(std::ostream& out, const Tuning& tuning);

}  // namespace farandole
