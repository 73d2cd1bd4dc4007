#include "simulate/training_run.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "simulate/invariant.hpp"

namespace farandole {
namespace {

/// What the slowest rank's compute exceeds the nominal one by is what remains of the mean.
Breakdown break_down(const Iteration& mean, const Job& job) {
  Breakdown parts;
  parts.compute = job.compute();
  parts.exposed_communication = mean.exposed_communication;
  parts.negotiation = mean.negotiation;
  parts.input = mean.input;
  parts.other = mean.stolen;
  parts.straggler = mean.duration - parts.total();
  // A jittered device may be faster than nominal in the mean over few iterations; a cluster's slowest is not.
  if (parts.straggler < Seconds(0)) {
    parts.compute += parts.straggler;
    parts.straggler = Seconds(0);
  }
  return parts;
}

Iteration mean_of(const Iteration& sum, double count) {
  Iteration mean = sum;
  for (Seconds Iteration::*part : {&Iteration::duration, &Iteration::exposed_communication, &Iteration::negotiation,
                                   &Iteration::input, &Iteration::stolen}) {
    mean.*part /= count;
  }
  return mean;
}

std::optional<Tuning> let_tune(Simulation& simulation) {
  if (simulation.tuning() == nullptr) return std::nullopt;
  int steps = 0;
  Seconds time;
  for (; !simulation.tuning()->is_over; ++steps) time += simulation.run_iteration().duration;
  Tuning tuning = *simulation.tuning();
  tuning.steps = steps;
  tuning.seconds = time;
  return tuning;
}

}  // namespace

TrainingRun run_training(Simulation& simulation, const Job& job, const Measure& measure) {
  auto tuning = let_tune(simulation);
  for (int i = 0; i < measure.warmup; ++i) simulation.run_iteration();
  const CollectiveCounts before = simulation.collectives();
  std::vector<Iteration> iterations;
  for (int i = 0; i < measure.iterations; ++i) iterations.push_back(simulation.run_iteration());
  TrainingRun run = condense(iterations, job);
  run.tuning = std::move(tuning);
  for (const auto& [collective, count] : simulation.collectives()) {
    const auto found = before.find(collective);
    const double measured = count - (found == before.end() ? 0 : found->second);
    if (measured > 0) run.collectives[collective] = measured / measure.iterations;
  }
  run.folded = simulation.folded();
  run.critical_path = simulation.last_critical_path();
  return run;
}

TrainingRun condense(std::span<const Iteration> iterations, const Job& job) {
  TrainingRun run;
  Iteration sum;
  for (const Iteration& iteration : iterations) {
    run.durations.push_back(iteration.duration);
    sum.duration += iteration.duration;
    sum.exposed_communication += iteration.exposed_communication;
    sum.negotiation += iteration.negotiation;
    sum.input += iteration.input;
    sum.stolen += iteration.stolen;
  }
  const Iteration mean = mean_of(sum, static_cast<double>(iterations.size()));
  run.iteration = mean.duration;
  run.breakdown = break_down(mean, job);
  run.collectives_per_iteration = iterations.back().collectives;
  if (std::abs(run.breakdown.total() / run.iteration - 1) > 1e-9) {
    throw InvariantError(fmt::format("the breakdown sums to {} s, the iteration takes {} s", run.breakdown.total().si(),
                                     run.iteration.si()));
  }
  return run;
}

}  // namespace farandole
