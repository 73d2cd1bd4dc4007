// Loss against simulated time, for the points that trained a numeric problem.
//
// Called by the table of training points. A few epochs of each point, in steps of 1, 2, 5, 10, 20, ... and the last
// one; weights below where they are few. JSON has all of it.
#pragma once

#include <iosfwd>
#include <span>

#include "report/facet.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Nothing where no point has learned anything.
void write_learning(std::ostream& out, const Facets<TrainingPoint>& facets, std::span<const TrainingPoint> points);

}  // namespace farandole
