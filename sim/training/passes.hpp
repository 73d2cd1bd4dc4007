// The forward and backward pass of a job as one task, with its gradients as marks in it.
//
// What strategies of collectives are told has these kinds; the index is that of the gradient, in backward order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "training/job.hpp"

namespace farandole { inline namespace training {

enum Told : int {
  announced,  // the framework's host thread has queued the kernels that compute a gradient
  ready,      // the device has computed it
  timer,
  communicated
};

/// Lets each rank start its forward pass at that moment. Of a stage of a pipeline, its passes over all micro-batches.
/// Tells of every gradient; or of some of them, when they are ready: each mark is looked at rank by rank.
TaskId add_passes(Engine& engine, const Job& job, RankTimes moments,
                  const std::optional<std::vector<int>>& only = std::nullopt);

// The order in which a stage of a pipeline goes through its micro-batches: 1F1B.
//
// As Schedule1F1B of torch.distributed.pipelining has it (PyTorch 2: torch/distributed/pipelining/schedules.py). Stage
// s of p begins with min(p - s, m) forward passes and sends each on, which nobody waits for but what is sent next; then
// a backward and a forward pass take turns, before each of which it sends what it has just made and receives what it
// needs next, both at once, and waits for both; what backward passes are left at the end send without waiting.
// Megatron-LM goes through passes in the same order (core/pipeline_parallel/schedules.py, without interleaving).

/// How a stage adds its passes: each after those tasks; gives the last one of the pass.
struct StagePasses {
  std::function<TaskId(std::vector<TaskId> after)> forward;
  std::function<TaskId(bool is_last, std::vector<TaskId> after)> backward;
};

/// The last task that computes. `moments`: before which nothing begins.
TaskId add_in_stage_order(Engine& engine, const Job& job, const RankTimes& moments, const StagePasses& passes);

}}  // namespace farandole::training
