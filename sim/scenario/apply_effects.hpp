// Turns the effects of a scenario into what the event loop works with.
//
// Called by scenario/train.cpp. Nothing here decides when something happens; it only says how fast each rank, each link
// and each rank's input is.
#pragma once

#include <optional>

#include "scenario/scenario.hpp"
#include "timeline/quantile.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/training_run.hpp"
#include "training/variability.hpp"

namespace farandole { inline namespace scenario {

/// How the ranks of the run compute; `times` are the nominal ones of the platform's device.
Variability variability_of(const Scenario& scenario, const ComputeTimes& times);

/// One rank on the median device with the same jitter and noise: what scaling efficiency is measured against.
Variability median_variability(const Scenario& scenario, const ComputeTimes& times);

/// The platform with its slow links, and as an explanation changes it.
Platform platform_of(const Scenario& scenario);

/// Nothing where input is free.
std::optional<InputPipeline> input_of(const Scenario& scenario, const Placement& placement);

/// The input of one rank by itself that is as slow as the slowest of the job's.
std::optional<InputPipeline> input_of_one(const Scenario& scenario);

/// What checkpoints cost per iteration in the mean: added to iteration and breakdown, and to as many of the durations
/// as have one.
void charge_checkpoints(TrainingRun& run, std::vector<WeightedDuration>& durations, const Checkpoint& checkpoint);

/// The same job while a checkpoint is written in the background over the NICs that it uses, whose rate is less by that;
/// nothing where none is. A rate that leaves nothing is refused when it is read (scenario/read_scenario.cpp).
std::optional<Scenario> while_writing(const Scenario& scenario);

/// Of a node's NICs, out onto the wire; 0 where the network's own links are that.
BytesPerSecond rate_of_nics(const Platform& platform);

}}  // namespace farandole::scenario
