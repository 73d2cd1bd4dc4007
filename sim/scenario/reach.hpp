// What is known of a scenario's step before anything is simulated, and how far from it the scenario is.
//
// Called for validation (calibration/published.cpp) and for bands (scenario/model_error.hpp).
#pragma once

#include "config/document.hpp"
#include "scenario/scenario.hpp"
#include "timeline/bands.hpp"

namespace farandole { inline namespace scenario {

/// The known step (timeline/bands.hpp); `times` are the scenario's, with whatever stretch they have. A platform whose
/// network `document`, which the scenario was read from, changes is called by another name than its file's.
Reach reach_of(const Scenario& scenario, const Document& document, const ComputeTimes& times);

}}  // namespace farandole::scenario
