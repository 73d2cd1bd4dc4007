// Writes what `--fidelity all` gives: the same points timed at several fidelities, side by side.
//
// Called by the command line. The table has one row per configuration and, for each fidelity in the order it first
// appears, the time and how far it lies from `message` (the most detailed level) in percent of message; a line below it
// names each that lies farther than levels do that agree (simulate/level_bounds.hpp). JSON and CSV
// list the points one after another, exactly as the plain reports do.
#pragma once

#include <iosfwd>
#include <span>

#include "report/format.hpp"
#include "report/heading.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Both throw std::logic_error where a point holds a number that is not finite.
void write_training_comparison(std::ostream& out, Format format, const Heading& heading,
                               std::span<const TrainingPoint> points);
void write_collective_comparison(std::ostream& out, Format format, const Heading& heading,
                                 std::span<const CollectivePoint> points);

}  // namespace farandole
