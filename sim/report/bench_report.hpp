// Writes the points of `farandole bench`: the nccl-tests table of `farandole collective`, and whether the data was
// right.
//
// After nccl-tests' columns comes #wrong, the number of elements that were not as they should be; "N/A" where an
// operation has none. JSON and CSV list every key of every point, JSON every repetition.
#pragma once

#include <iosfwd>
#include <span>

#include "report/format.hpp"
#include "report/heading.hpp"
#include "timeline/measured.hpp"

namespace farandole {

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_bench(std::ostream& out, Format format, const Heading& heading, std::span<const MeasuredPoint> points);

}  // namespace farandole
