// How busy a training iteration keeps each link: what the gradients' allreduce sends over it.
//
// Called by the command line for the picture of a topology by its load. Of strategies that reduce gradients by an
// allreduce; for others nothing is known here.
#pragma once

#include <vector>

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// By link of the scenario's platform: bytes of one allreduce of all gradients / (capacity * iteration). Empty for one
/// rank, and where gradients travel otherwise. `point` is the scenario's own.
std::vector<double> gradient_loads(const Scenario& scenario, const TrainingPoint& point);

}  // namespace farandole
