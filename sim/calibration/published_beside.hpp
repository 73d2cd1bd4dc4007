// Published runs for the reader of a run: marks beside its curves, and how well the platform's own are predicted.
//
// Called by the command line for pages.
#pragma once

#include <vector>

#include "scenario/catalogue.hpp"
#include "scenario/run.hpp"
#include "timeline/published_mark.hpp"
#include "timeline/validation.hpp"

namespace farandole {

struct PublishedBeside {
  std::vector<PublishedMark> marks;
  bool of_this_platform = false;        // else of all platforms, as there are none of this one
  std::vector<ValidationPoint> points;  // training only
};

/// A published run marks the curve of a point whose scenario is the same but for its ranks, its name and how it is
/// measured. Rows on a topology that the plan uses are run; where there are none, all rows are.
PublishedBeside published_beside(const RunPlan& plan, const Catalogue& catalogue);

}  // namespace farandole
