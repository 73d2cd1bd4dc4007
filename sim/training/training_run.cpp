#include "training/training_run.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "simulate/invariant.hpp"

namespace farandole { inline namespace training {
namespace {

/// Parts of a mean iteration that its tasks claim; what nobody claims is `other`, too.
Breakdown break_down(const Iteration& mean, const Job& job) {
  Breakdown parts;
  parts.compute = job.compute();
  parts.exposed_communication = mean.exposed_communication;
  parts.negotiation = mean.negotiation;
  parts.input = mean.input;
  parts.other = mean.compute_slowdown + mean.unclaimed;
  parts.straggler = mean.computing - mean.compute_slowdown - job.compute();
  // A jittered device may be faster than nominal in the mean over few iterations; a cluster's slowest is not.
  if (parts.straggler < Seconds(0)) {
    parts.compute += parts.straggler;
    parts.straggler = Seconds(0);
  }
  return parts;
}

constexpr std::array times_of_iterations{
    &Iteration::duration,         &Iteration::computing,      &Iteration::exposed_communication,
    &Iteration::negotiation,      &Iteration::unclaimed,      &Iteration::input,
    &Iteration::compute_slowdown, &Iteration::exposed_inside, &Iteration::exposed_between_stages};

/// Everything is claimed, and what is exposed has an operation each.
void check_account(const Iteration& mean, const Breakdown& parts) {
  const double tolerance = 1e-6 * mean.duration.si();
  if (std::abs((mean.duration - parts.total()).si()) > tolerance) {
    throw InvariantError(
        fmt::format("of an iteration of {} s tasks claim {} s", mean.duration.si(), parts.total().si()));
  }
  Seconds by_operation = mean.exposed_inside + mean.exposed_between_stages;
  for (const auto& [operation, time] : mean.exposed) by_operation += time;
  if (std::abs((mean.exposed_communication - by_operation).si()) > tolerance) {
    throw InvariantError(fmt::format("of {} s of exposed communication operations claim {} s",
                                     mean.exposed_communication.si(), by_operation.si()));
  }
}

std::optional<Tuning> let_tune(Trainer& trainer) {
  if (trainer.tuning() == nullptr) return std::nullopt;
  int steps = 0;
  Seconds time;
  for (; !trainer.tuning()->is_over; ++steps) time += trainer.run_iteration().duration;
  Tuning tuning = *trainer.tuning();
  tuning.steps = steps;
  tuning.seconds = time;
  return tuning;
}

std::vector<Iteration> measured(auto& trainer, int count) {
  std::vector<Iteration> iterations;
  for (int i = 0; i < count; ++i) iterations.push_back(trainer.run_iteration());
  return iterations;
}

/// An iteration.
CollectiveCounts mean_counts(std::span<const CollectiveKind> started, int iterations) {
  CollectiveCounts mean;
  for (const CollectiveKind& kind : started) mean[kind] += 1;
  for (auto& [kind, count] : mean) count /= iterations;
  return mean;
}

}  // namespace

TrainingRun run_training(Trainer& trainer, const Job& job, const Measure& measure) {
  auto tuning = let_tune(trainer);
  for (int i = 0; i < measure.warmup; ++i) trainer.run_iteration();
  const std::size_t before = trainer.simulated().collectives().size();
  TrainingRun run = condense(measured(trainer, measure.iterations), job);
  run.tuning = std::move(tuning);
  run.collectives = mean_counts(trainer.simulated().collectives().subspan(before), measure.iterations);
  run.provenance = trainer.simulated().provenance();
  run.provenance.folded = run.provenance.folded && !trainer.simulated().collectives().empty();
  run.critical_path = trainer.last_critical_path();
  return run;
}

TrainingRun run_training(StagedTrainer& trainer, const Measure& measure) {
  for (int i = 0; i < measure.warmup; ++i) trainer.run_iteration();
  std::vector<std::size_t> before;
  for (int i = 0; i < trainer.stages(); ++i) before.push_back(trainer.simulated(i).collectives().size());
  TrainingRun run = condense(measured(trainer, measure.iterations), trainer.longest());
  run.provenance.folded = true;
  for (int stage = 0; stage < trainer.stages(); ++stage) {
    const SimulatedJob& job = trainer.simulated(stage);
    const auto since = job.collectives().subspan(before[static_cast<std::size_t>(stage)]);
    run.of_stages.push_back(mean_counts(since, measure.iterations));
    run.provenance.include(job.provenance());
  }
  run.critical_path = trainer.last_critical_path();
  return run;
}

TrainingRun condense(std::span<const Iteration> iterations, const Job& job) {
  TrainingRun run;
  Iteration mean;
  for (const Iteration& iteration : iterations) {
    run.durations.push_back(iteration.duration);
    for (Seconds Iteration::*part : times_of_iterations) mean.*part += iteration.*part;
    for (const auto& [operation, time] : iteration.exposed) mean.exposed[operation] += time;
  }
  const auto count = static_cast<double>(iterations.size());
  for (Seconds Iteration::*part : times_of_iterations) mean.*part /= count;
  for (auto& [operation, time] : mean.exposed) time /= count;
  run.iteration = mean.duration;
  run.breakdown = break_down(mean, job);
  run.exposed = mean.exposed;
  run.exposed_inside = mean.exposed_inside;
  run.exposed_between_stages = mean.exposed_between_stages;
  run.collectives_per_iteration = iterations.back().collectives;
  check_account(mean, run.breakdown);
  return run;
}

}}  // namespace farandole::training
