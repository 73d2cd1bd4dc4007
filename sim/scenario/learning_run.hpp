// Trains a scenario's numeric problem at the moments its simulation gives, over the schedules it times.
#pragma once

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// The scenario must have a numeric problem. A separate run is timed for it, from the first iteration on, without
/// warm-up. Throws InputError where the learning rate is so high that the loss overflows, and where carrying out every
/// message of every update would take minutes.
Learning learn(const Scenario& scenario);

}  // namespace farandole
