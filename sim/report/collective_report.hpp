// Writes the points of `farandole collective` (and of `farandole bench`), as a table in the form nccl-tests prints.
//
// Called by the command line. The table's first eight columns are those of nccl-tests: size (bytes), count (elements),
// type, redop, root, time (us), algbw and busbw (GB/s, powers of 1000); properties in which points differ (op,
// algorithm, what a library chose, ranks, fidelity) follow to the right, where scripts that read nccl-tests do not
// look. Settings are '#' lines. JSON and CSV list every key of every point (report/record.hpp).
#pragma once

#include <iosfwd>
#include <span>

#include "report/format.hpp"
#include "report/heading.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Throws std::logic_error where a point holds a number that is not finite, before anything is written.
void write_collective(std::ostream& out, Format format, const Heading& heading,
                      std::span<const CollectivePoint> points);

}  // namespace farandole
