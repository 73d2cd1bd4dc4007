// "learning": the numeric problem a scenario's ranks train on while they are simulated.
//
// Called by the reader of scenarios once workload, platform and strategy are known: the samples must be enough for one
// update of all ranks, and the strategy one that numeric training can follow.
#pragma once

#include <memory>
#include <string>

#include "learning/learn.hpp"
#include "scenario/scenario.hpp"

namespace farandole {

std::shared_ptr<const LearningSpec> read_learning(const Value& where, const Scenario& scenario);

}  // namespace farandole
