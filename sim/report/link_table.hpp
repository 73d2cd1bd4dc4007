// The busiest links of points and the jobs that shared them, for people: a few lines of comment below a table.
//
// Called by the writers of points. Points without either write nothing.
#pragma once

#include <iosfwd>
#include <span>

#include "timeline/result.hpp"

namespace farandole {

void write_busiest_links(std::ostream& out, std::span<const CollectivePoint> points);
void write_busiest_links(std::ostream& out, std::span<const TrainingPoint> points);

/// Jobs that shared the network, and what that cost them.
void write_neighbours(std::ostream& out, std::span<const TrainingPoint> points);

}  // namespace farandole
