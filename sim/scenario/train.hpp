// Runs one scenario at its fidelity.
#pragma once

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"

namespace farandole {

/// Everything but the scaling efficiency. `timeline` may be null.
TrainingPoint train(const Scenario& scenario, Timeline* timeline);

/// The iteration time of one rank on the median device with the same workload, jitter and seed.
Seconds train_one_rank(const Scenario& scenario);

}  // namespace farandole
