// Runs a job for some iterations and condenses them: mean, 95th percentile, breakdown.
#pragma once

#include "simulate/simulation.hpp"
#include "timeline/result.hpp"

namespace farandole {

struct Measure {
  int iterations = 100;
  int warmup = 10;
};

struct TrainingRun {
  Seconds iteration;                  // mean over the measured iterations
  Seconds iteration_p95;              // the smallest duration that at least 95 % of them do not exceed
  Breakdown breakdown;                // sums to `iteration`
  int collectives_per_iteration = 0;  // of the last iteration
  bool folded = false;                // every collective
};

TrainingRun run_training(Simulation& simulation, const Job& job, const Measure& measure);

}  // namespace farandole
