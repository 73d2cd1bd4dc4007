// How many samples a rank has in a pass: its own, or its part of a global batch.
//
// Called by scenario/read_scenario.cpp once ranks, workload and strategy are read. InputError at `workload` where the
// ranks cannot share the batch, or a step has more samples than a rank counts in int and all ranks exactly in double.
#pragma once

#include "scenario/scenario.hpp"

namespace farandole {

void share_batch(Scenario& scenario, const Value& workload);

}  // namespace farandole
