// Iterations of workers with servers, condensed to a mean one and its parts.
//
// Called by server_run.hpp.
#pragma once

#include <vector>

#include "training/strategies/parameter_server.hpp"
#include "training/training_run.hpp"

namespace farandole {

/// A mean iteration.
struct WorkerMean {
  Seconds iteration;
  Seconds computing;
  Seconds waited;
  Seconds fed;
  Seconds updating;
  double staleness = 0;
  std::vector<Seconds> durations;
};

/// Of iterations with a barrier; all groups start and end them together.
WorkerMean mean_of_barriers(const std::vector<WorkerIteration>& finished, std::size_t groups, int warmup);

/// From when the last group is warm to when the slowest has done its iterations; all are at work all the time.
/// `workers`: of every group.
WorkerMean mean_of_stretch(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers,
                           const ServerPlan& plan, const Measure& measure);

/// Parts that sum to the mean iteration; InvariantError where they do not.
Breakdown break_down(const WorkerMean& mean, const Job& job);

}  // namespace farandole
