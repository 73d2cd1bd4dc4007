// What a point has beside its iteration: a band, a learning curve, an answer, a whole run, a cost.
#pragma once

#include <optional>

#include "config/document.hpp"
#include "scenario/scenario.hpp"
#include "scenario/train.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

// Between which ends a point lies, four times of five.
//
// Called by run_point and by calibration/published.cpp. Three sources, taken as independent (their logarithms add up in
// squares): compute times, which have a band where they are estimated, or measured at other batches
// (workload/device.hpp), and for which the point is run again at both ends; numbers that nothing has settled, each
// of which is put to both of its ends (scenario/unsettled_numbers.hpp); and what the simulator itself is wrong by, as
// published runs show (scenario/model_error.hpp), which costs no run. What costs are compared with elsewhere has a band
// of its own; of one estimate for both machines the ends move together.

/// Fills `point.bands` where there are any, and adds compute to what its cost is sensitive to. `point` is complete but
/// for its explanation; `document` is what the scenario was read from, `clocks` of the point's run
/// (scenario/train.hpp).
void add_bands(TrainedPoint& point, const Document& document, const Catalogue& catalogue, const Scenario& scenario,
               SharedClocks clocks);

/// Factors of the step from compute times alone.
TimeBand compute_band(const TrainedPoint& point, const Scenario& scenario, SharedClocks clocks = {});

// Trains a scenario's numeric problem at the moments its simulation gives, over the schedules it times.

/// The scenario must have a numeric problem. A separate run is timed for it, from the first iteration on, without
/// warm-up. Throws InputError where the learning rate is so high that the loss overflows, and where carrying out every
/// message of every update would take minutes.
Learning learn(const Scenario& scenario);

// From the mean iteration to the whole run.
//
//   steps per epoch = samples / (global batch), whole ones only, as Horovod's examples count them
//   epoch           = steps x iteration + metrics + evaluation
//   total           = startup + first broadcast + epochs x epoch, and what failures add (training/effects/failures.hpp)
//
// Evaluation is a forward pass over its samples by all ranks, at the pace of the slowest; metrics are one small
// allreduce. Goodput is the share of the total that is training done for good, without checkpoints. Called by
// run_document for scenarios with a "run".

/// `point` is the scenario's own. Throws InputError where failures are so frequent that no run would ever end.
WholeRun whole_run(const Scenario& scenario, const TrainingPoint& point);

}}  // namespace farandole::scenario
