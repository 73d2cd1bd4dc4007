// From the mean iteration to the whole run.
//
//   steps per epoch = samples / (global batch), whole ones only, as Horovod's examples count them
//   epoch           = steps x iteration + metrics + evaluation
//   total           = startup + first broadcast + epochs x epoch, and what failures add (training/effects/failures.hpp)
//
// Evaluation is a forward pass over its samples by all ranks, at the pace of the slowest; metrics are one small
// allreduce. Goodput is the share of the total that is training done for good, without checkpoints. Called by
// run_document for scenarios with a "run".
#pragma once

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"
#include "timeline/whole_run.hpp"

namespace farandole {

/// `point` is the scenario's own. Throws InputError where failures are so frequent that no run would ever end.
WholeRun whole_run(const Scenario& scenario, const TrainingPoint& point);

}  // namespace farandole
