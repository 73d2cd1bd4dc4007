// Runs one scenario at its fidelity.
#pragma once

#include <memory>
#include <optional>

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"
#include "training/training_run.hpp"
#include "training/update_log.hpp"
#include "training/variability.hpp"

namespace farandole { inline namespace scenario {

class JobClocks;
/// What collectives were found to take, for runs of one job that differ in what computation takes alone.
using SharedClocks = std::shared_ptr<JobClocks>;

/// With the mean of those iterations that train_beside() repeats.
struct TrainedPoint : TrainingPoint {
  Seconds first_iterations;
};

/// Everything but the scaling efficiency, which is there with servers only. `timeline` may be null. `clocks`: null, or
/// those of a run before, or where the ones of this run are put.
TrainedPoint train(const Scenario& scenario, Timeline* timeline, SharedClocks* clocks = nullptr);

/// A point's job with other numbers in its scenario, for the ends of bands: by the first iterations of both, in which
/// jitter is the same, and by all of them where more than jitter differs from one to the next.
TrainingPoint train_beside(const TrainedPoint& point, const Scenario& changed, SharedClocks* clocks = nullptr);

/// When each of the first `iterations` ended on all ranks; where workers do not wait for each other, so many of each.
UpdateLog time_updates(const Scenario& scenario, int iterations);

/// The schedule of an operation, as it is timed; a ring where a library chooses one by size.
Schedule schedule_of(const Scenario& scenario, Operation operation);

/// One rank by itself: on the median device, with storage all to itself; on the devices of the first replica of the
/// run, fast or slow; or on the median one with batches as slowly as the job's slowest rank has them, or for nothing.
enum class Alone : std::uint8_t { on_the_median, on_its_own_devices, fed_as_in_the_job, fed_for_nothing };

/// With the same workload, jitter and seed. Of an update that ranks share it makes its share: the whole of a sharded
/// model need not fit into any device.
TrainingRun train_alone(const Scenario& scenario, Alone how = Alone::on_the_median);

/// One collective over all ranks, starting together, without anything else under way, of others neither.
Seconds collective_time(Scenario scenario, Operation operation, Bytes size);

// Everything that takes time in a run of a scenario, on one simulator: its job, other jobs, traffic that comes and
// goes.
//
// Called by scenario/train.cpp. Where nobody else is on the network, and the job's own collectives follow one another,
// each is answered by its clock; else all of them meet (engine/company.hpp).

/// A job of a run: ours, or another one on the same network. The references must outlive it.
struct JobOnStage {
  const Scenario& scenario;
  const Job& job;
  const Variability& variability;
  const Placement& placement;
  std::optional<InputPipeline> input{};
  Timeline* timeline = nullptr;
  bool alone = false;              // one rank without servers and without others
  SharedClocks* clocks = nullptr;  // as of train()
};
/// Those that it shares, or its own.
SharedClocks clocks_of(const JobOnStage& job);

class Stage {
 public:
  explicit Stage(JobOnStage ours);
  ~Stage();
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

}}  // namespace farandole::scenario
