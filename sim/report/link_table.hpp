// The busiest links of points and the jobs that shared them, for people: a few lines of comment below a table.
//
// Called by the writers of points. Points without either write nothing.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "timeline/result.hpp"

namespace farandole { inline namespace report {

void write_busiest_links(std::ostream& out, std::span<const CollectivePoint> points);
void write_busiest_links(std::ostream& out, std::span<const TrainingPoint> points);

/// Jobs that shared the network, and what that cost them.
void write_neighbours(std::ostream& out, std::span<const TrainingPoint> points);

// The columns of a row of nccl-tests for a collective point.
//
// Formats and meanings follow nccl-tests (src/common.cu and doc/PERFORMANCE.md of github.com/NVIDIA/nccl-tests), so
// that scripts that read its tables read ours. The element type is float: sizes here are bytes, and 4 bytes an element
// is what nccl-tests assumes unless told otherwise.

/// The two heading lines, which start with '#'.
std::string nccl_heading_names();
std::string nccl_heading_units();

/// Size, count, type, redop, root, time, algbw and busbw, each as wide as its heading.
std::string nccl_row(const CollectivePoint& point);

}}  // namespace farandole::report
