// One iteration of a strategy of collectives after another, in simulated time.
//
// Called by training/training_run.hpp for the job that is measured, iteration by iteration; a job that only is on the
// network, too, goes on by itself.
#pragma once

#include <vector>

#include "engine/iteration.hpp"
#include "engine/simulated_job.hpp"
#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/job.hpp"
#include "training/strategy.hpp"
#include "training/variability.hpp"

namespace farandole { inline namespace training {

/// What a job's tasks say of an iteration that is over.
struct TasksOfIteration {
  std::vector<Busy> computed;
  std::vector<Busy> busy;  // by their begin
  std::vector<Stages> communications;
  Seconds slowdown;  // of computation, by collectives
  Seconds first;     // computation begins on rank 0
  RankTimes ended;   // the last of it ends
};
TasksOfIteration tasks_of(const SimulatedJob& job);

/// What rank 0 of the job does on its streams.
void record_tasks(Timeline& timeline, const SimulatedJob& job);

class Trainer {
 public:
  /// `timeline` may be null. The references must outlive it.
  Trainer(Simulator& simulator, JobSite site, const Job& job, const Variability& variability, Strategy& strategy,
          Timeline* timeline);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Iterations start when their batch is there; without this, input is free. `input` must outlive the trainer.
  void feed_from(InputPipeline& input) { input_ = &input; }

  Iteration run_iteration();
  /// Iteration after iteration while others run theirs.
  void keep_training();
  /// The iterations that keep_training has ended.
  [[nodiscard]] const std::vector<Iteration>& ended() const { return ended_; }

  /// Of the strategy, where it tunes itself; else null.
  [[nodiscard]] const Tuning* tuning() const { return strategy_.tuning(); }
  /// Of the last iteration.
  [[nodiscard]] const std::vector<PathStep>& last_critical_path() const { return last_critical_path_; }
  [[nodiscard]] const SimulatedJob& simulated() const { return simulated_; }

 private:
  void begin();
  void set_out();
  void run_on();
  void go_on();
  void look();
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] RankTimes synchronised() const;
  Iteration close();

  Simulator& simulator_;
  const Job& job_;
  const Variability& variability_;
  Strategy& strategy_;
  Timeline* timeline_;
  SimulatedJob simulated_;
  Representatives* representatives_;
  InputPipeline* input_ = nullptr;
  int iteration_ = 0;
  Seconds before_;     // the last rank ended the iteration before
  RankTimes begin_;    // of this iteration, then of the next one
  RankTimes factors_;  // of this iteration
  bool is_running_ = false;
  bool goes_on_ = false;  // by itself
  std::vector<Iteration> ended_;
  std::vector<PathStep> last_critical_path_;
};

}}  // namespace farandole::training
