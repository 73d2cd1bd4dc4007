#include "simulate/training_run.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "simulate/invariant.hpp"

namespace farandole {
namespace {

Seconds percentile_95(std::vector<Seconds> durations) {
  std::ranges::sort(durations);
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(durations.size())));
  return durations[rank - 1];
}

/// What the slowest rank's compute exceeds the nominal one by is what remains of the mean.
Breakdown break_down(Seconds mean, Seconds exposed, Seconds negotiation, const Job& job) {
  Breakdown parts;
  parts.compute = job.compute();
  parts.exposed_communication = exposed;
  parts.negotiation = negotiation;
  parts.straggler = mean - parts.compute - exposed - negotiation;
  // A jittered device may be faster than nominal in the mean over few iterations; a cluster's slowest is not.
  if (parts.straggler < Seconds(0)) {
    parts.compute += parts.straggler;
    parts.straggler = Seconds(0);
  }
  return parts;
}

}  // namespace

TrainingRun run_training(Simulation& simulation, const Job& job, const Measure& measure) {
  for (int i = 0; i < measure.warmup; ++i) simulation.run_iteration();
  std::vector<Seconds> durations;
  Iteration sum;
  for (int i = 0; i < measure.iterations; ++i) {
    const Iteration iteration = simulation.run_iteration();
    durations.push_back(iteration.duration);
    sum.duration += iteration.duration;
    sum.exposed_communication += iteration.exposed_communication;
    sum.negotiation += iteration.negotiation;
    sum.collectives = iteration.collectives;
  }
  const auto count = static_cast<double>(measure.iterations);
  TrainingRun run{sum.duration / count, percentile_95(std::move(durations)), {}, sum.collectives, simulation.folded()};
  run.breakdown = break_down(run.iteration, sum.exposed_communication / count, sum.negotiation / count, job);
  if (std::abs(run.breakdown.total() / run.iteration - 1) > 1e-9) {
    throw InvariantError(fmt::format("the breakdown sums to {} s, the iteration takes {} s", run.breakdown.total().si(),
                                     run.iteration.si()));
  }
  return run;
}

}  // namespace farandole
