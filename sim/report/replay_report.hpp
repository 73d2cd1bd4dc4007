// Writes the points of `farandole bench --training`: measured iterations, and what was predicted beside them.
//
// JSON and CSV list every key of a point of `farandole run`, whose times are measured, and after them backend,
// data_correct, wrong, cpu_busy (left out where too little time passed to tell), predicted_seconds, predicted_fidelity,
// error and, in JSON, every repetition.
#pragma once

#include <iosfwd>
#include <span>

#include "report/format.hpp"
#include "report/heading.hpp"
#include "timeline/measured.hpp"

namespace farandole {

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_replay(std::ostream& out, Format format, const Heading& heading, std::span<const ReplayedPoint> points);

}  // namespace farandole
