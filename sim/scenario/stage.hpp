// Everything that takes time in a run of a scenario, on one simulator: its job, other jobs, traffic that comes and
// goes.
//
// Called by scenario/train.cpp. Where nobody else is on the network, and the job's own collectives follow one another,
// each is answered by its clock; else all of them meet (engine/company.hpp).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "scenario/scenario.hpp"
#include "timeline/timeline.hpp"
#include "training/update_log.hpp"
#include "training/variability.hpp"

namespace farandole {

/// A job of a run: ours, or another one on the same network. The references must outlive it.
struct JobOnStage {
  const Scenario& scenario;
  const Job& job;
  const Variability& variability;
  const Placement& placement;
  std::optional<InputPipeline> input{};
  Timeline* timeline = nullptr;
  bool alone = false;  // one rank without servers and without others
};

class Stage {
 public:
  explicit Stage(JobOnStage ours);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Measures our job.
  TrainingRun run(const Measure& measure);
  /// When its weights changed, in the first iterations.
  UpdateLog updates(int iterations);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// An iteration of one worker that has the job's servers to itself, computing so many times slower than nominal.
Seconds iteration_of_one_worker(const JobOnStage& job, double factor);

}  // namespace farandole
