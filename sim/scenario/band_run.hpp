// Between which ends a point lies where its compute times are uncertain: it is run again at both ends of their band.
//
// Called by run_point. Compute times have a band where they are estimated, or measured at other batches
// (workload/time_band.hpp). What costs are compared with elsewhere may have one of its own. Two more runs of the point,
// its single rank and its whole run included, make it take three times as long at most.
#pragma once

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Fills `point.bands` where there are any, and adds compute to what its cost is sensitive to. `point` is complete but
/// for its explanation; `document` is what the scenario was read from.
void add_bands(TrainingPoint& point, const Document& document, const Catalogue& catalogue, const Scenario& scenario);

}  // namespace farandole
