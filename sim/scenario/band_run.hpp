// Between which ends a point lies, four times of five.
//
// Called by run_point and by calibration/published.cpp. Two sources, taken as independent (their logarithms add up in
// squares): compute times, which have a band where they are estimated, or measured at other batches
// (workload/time_band.hpp), and for which the point is run again at both ends; and what the simulator itself is wrong
// by, as published runs show (scenario/model_error.hpp), which costs no run. So a band takes as long as two more
// points at most. What costs are compared with elsewhere has a band of its own; of one estimate for both machines the
// ends move together.
#pragma once

#include <string>

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Fills `point.bands` where there are any, and adds compute to what its cost is sensitive to. `point` is complete but
/// for its explanation; `document` is what the scenario was read from.
void add_bands(TrainingPoint& point, const Document& document, const Catalogue& catalogue, const Scenario& scenario);

/// Factors of the step from compute times alone.
Interval compute_band(const TrainingPoint& point, const Scenario& scenario);

/// Factors of the step from both sources; the simulator's error without what that family of published runs shows.
Interval step_band(const TrainingPoint& point, const Interval& of_compute, const Document& document,
                   const Catalogue& catalogue, const Scenario& scenario, const std::string& without_family);

}  // namespace farandole
