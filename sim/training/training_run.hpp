// Runs a job for some iterations and condenses them: mean, every duration, breakdown. A strategy that tunes itself does
// so first, however long it takes; what is measured is what it settled on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "timeline/result.hpp"
#include "training/staged_trainer.hpp"
#include "training/trainer.hpp"

namespace farandole { inline namespace training {

struct Measure {
  int iterations = 30;
  int warmup = 3;
};

struct TrainingRun {
  Seconds iteration;                          // mean over the measured iterations
  std::vector<Seconds> durations;             // of each
  Breakdown breakdown;                        // sums to `iteration`
  std::map<Operation, Seconds> exposed;       // by what was under way; sums to the breakdown's exposed communication
  Seconds exposed_inside{};                   // between ranks that compute together; not in `exposed`
  Seconds exposed_between_stages{};           // waiting for other stages of a pipeline; likewise
  int collectives_per_iteration = 0;          // of the last iteration
  CollectiveCounts collectives;               // an iteration, in the mean
  std::vector<CollectiveCounts> of_stages{};  // the same of each stage of a pipeline
  Provenance provenance;                      // of all collectives
  std::vector<Neighbour> neighbours;          // jobs that share the network
  double mean_staleness = 0;                  // of servers without a barrier: updates by others between pull and push
  std::vector<PathStep> critical_path;        // of the last iteration
  std::optional<Tuning> tuning;               // of a strategy that tuned itself before it was measured
};

TrainingRun run_training(Trainer& trainer, const Job& job, const Measure& measure);
/// Of a pipeline: collectives of all stages.
TrainingRun run_training(StagedTrainer& trainer, const Measure& measure);

/// Of iterations that were measured, simulated or real; at least one. InvariantError where their parts do not add up.
TrainingRun condense(std::span<const Iteration> iterations, const Job& job);

}}  // namespace farandole::training
