// Writes the points of `farandole validate`: predicted beside measured, and how far off by family and by size.
//
// Called by the command line. Training begins with the headline (report/validation_headline.hpp) and the rows that do
// not count and are missed all the same. The table lists every row, then the median, the 90th percentile and the worst
// of the counted ones' errors: of all, by family, by operation and by size; and, where rows have a band, how often the
// measurement falls inside. JSON has the same under "headline", "uncounted_misses" and "summary"; CSV has the rows
// alone.
#pragma once

#include <iosfwd>
#include <span>

#include "report/format.hpp"
#include "report/heading.hpp"
#include "timeline/validation.hpp"

namespace farandole {

void write_validation(std::ostream& out, Format format, const Heading& heading,
                      std::span<const ValidationPoint> points);

/// The largest error of a counted row, as a fraction; 0 without any.
double worst_error(std::span<const ValidationPoint> points);

}  // namespace farandole
