// The forward and backward pass of a job as one task, with its gradients as marks in it.
//
// What strategies of collectives are told has these kinds; the index is that of the gradient, in backward order.
#pragma once

#include "engine/engine.hpp"
#include "training/job.hpp"

namespace farandole::inline training {

enum Told : int {
  announced,  // the framework's host thread has queued the kernels that compute a gradient
  ready,      // the device has computed it
  timer,
  communicated
};

/// Lets each rank start its forward pass at that moment.
TaskId add_passes(Engine& engine, const Job& job, RankTimes moments);

}  // namespace farandole::inline training
