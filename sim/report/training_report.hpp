// Writes the points of `farandole run`.
//
// Called by the command line once all points are there. The table gives the properties that all points share once and
// the others a column each, in milliseconds, samples per second and percent; below it stands where the time of the
// iteration goes, then all that explains it, and last the settings. JSON and CSV list every key of every point
// (report/record.hpp).
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "report/format.hpp"
#include "report/heading.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_training(std::ostream& out, Format format, const Heading& heading, std::span<const TrainingPoint> points);

/// "exposed communication", and the other parts of an iteration.
std::vector<std::string> breakdown_names();

/// The first line of a table that compares estimated with measured compute times; nothing of any other.
void write_mixed_compute(std::ostream& out, std::span<const TrainingPoint> points);

}  // namespace farandole
