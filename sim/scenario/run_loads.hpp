// Where the bytes of an iteration go: over which links, and how busy these are in the mean.
//
// Called by scenario/train.cpp where a point is to say so (`farandole run --links`, `--draw`). Of collectives every one
// that the measured iterations had, mapped to the job's links; with parameter servers what every worker pushes and
// pulls.
#pragma once

#include "scenario/network_loads.hpp"
#include "scenario/scenario.hpp"

namespace farandole {

/// `run` is the scenario's own; `shards`: what its servers keep, nothing where there are none.
NetworkLoads loads_of(const Scenario& scenario, const TrainingRun& run, const std::vector<Shard>& shards);

}  // namespace farandole
