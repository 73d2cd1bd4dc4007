// Tables that explain points: waterfall, critical path, what would help; and those of whole runs.
//
// Called by the table of `farandole run`, after it; points without an explanation or a run print nothing.
#pragma once

#include <iosfwd>
#include <span>

#include "timeline/result.hpp"

namespace farandole {

void write_whole_runs(std::ostream& out, std::span<const TrainingPoint> points);
void write_explanations(std::ostream& out, std::span<const TrainingPoint> points);

}  // namespace farandole
