#include "scenario/train.hpp"

#include <algorithm>
#include <cstdint>
#include <ranges>

#include "scenario/apply_effects.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/network_loads.hpp"
#include "scenario/parts.hpp"
#include "scenario/pipeline.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// The runs of all seeds as one: every iteration of every seed weighs the same.
struct Pooled {
  TrainingRun run;
  std::vector<WeightedDuration> durations;
};

void add_neighbours(std::vector<Neighbour>& mean, const std::vector<Neighbour>& run, double weight) {
  mean.resize(run.size());
  for (std::size_t job = 0; job < run.size(); ++job) {
    mean[job] = {run[job].model, run[job].ranks, mean[job].alone + run[job].alone * weight,
                 mean[job].beside + run[job].beside * weight};
  }
}

void add_seed(Pooled& pooled, const TrainingRun& run, double weight) {
  add_neighbours(pooled.run.neighbours, run.neighbours, weight);
  pooled.run.iteration += run.iteration * weight;
  pooled.run.breakdown += run.breakdown * weight;
  for (const auto& [operation, time] : run.exposed) pooled.run.exposed[operation] += time * weight;
  pooled.run.exposed_inside += run.exposed_inside * weight;
  pooled.run.exposed_between_stages += run.exposed_between_stages * weight;
  pooled.run.mean_staleness += run.mean_staleness * weight;
  pooled.run.collectives_per_iteration = run.collectives_per_iteration;
  for (const auto& [collective, count] : run.collectives) pooled.run.collectives[collective] += count * weight;
  pooled.run.of_stages.resize(run.of_stages.size());
  for (std::size_t stage = 0; stage < run.of_stages.size(); ++stage) {
    for (const auto& [what, count] : run.of_stages[stage]) pooled.run.of_stages[stage][what] += count * weight;
  }
  pooled.run.provenance.include(run.provenance);
  pooled.run.provenance.folded = run.provenance.folded;
  pooled.run.critical_path = run.critical_path;
  if (!pooled.run.tuning) pooled.run.tuning = run.tuning;
  for (const Seconds duration : run.durations) pooled.durations.push_back({duration, 1});
}

/// Of so many train_beside() takes the mean: of five where they only jitter.
int first_iterations(const Scenario& scenario) {
  return only_jitters(scenario) ? std::min(5, scenario.measure.iterations) : scenario.measure.iterations;
}

/// `run_one` runs the scenario it is given, with one seed after the other.
template <class RunOne>
Pooled pool_seeds(const Scenario& scenario, RunOne run_one) {
  Pooled pooled;
  Scenario seeded = scenario;
  for (int i = 0; i < scenario.seeds; ++i) {
    seeded.seed = scenario.seed + static_cast<std::uint64_t>(i);
    add_seed(pooled, run_one(seeded, i), 1.0 / scenario.seeds);
  }
  return pooled;
}

/// `slowed`: Checkpoint::slowed.
void charge(Pooled& pooled, const Scenario& scenario, double slowed) {
  if (!scenario.effects.checkpoint) return;
  Checkpoint checkpoint = *scenario.effects.checkpoint;
  checkpoint.slowed = slowed;
  charge_checkpoints(pooled.run, pooled.durations, checkpoint);
}

/// Of what training does in some time, the share that it does not do while a checkpoint is written.
double slowed_by_writing(const Scenario& scenario, Seconds iteration) {
  const auto writing = while_writing(scenario);
  return writing ? std::max(0.0, 1 - iteration / train(*writing, nullptr).iteration) : 0;
}

/// By how much one rank by itself exceeds nominal compute in the mean, with the same jitter and noise.
double median_factor(const Scenario& scenario, const ComputeTimes& times) {
  double sum = 0;
  Scenario seeded = scenario;
  for (int i = 0; i < scenario.seeds; ++i) {
    seeded.seed = scenario.seed + static_cast<std::uint64_t>(i);
    const Variability median = median_variability(seeded, times);
    for (int k = 0; k < scenario.measure.iterations; ++k) sum += median.factors(scenario.measure.warmup + k)[0];
  }
  return sum / scenario.seeds / scenario.measure.iterations;
}

/// What scaling efficiency is measured against where servers update for their workers: one rank as fast as it can be,
/// by itself or with the job's servers to itself, whose device is the median one or, where those of the run were faster
/// in the mean, such a one. n ranks do at most n times as much: with a barrier each iteration is as long as that of its
/// slowest; without one an iteration is a convex function of its compute time.
Seconds iteration_of_one(const Scenario& scenario, const Job& job, const ComputeTimes& times, const Breakdown& parts) {
  const double computed = job.backward_end > 0_s ? (parts.compute + parts.straggler) / job.backward_end : 1;
  const double factor = std::min(median_factor(scenario, times), computed);
  const Variability nobodys(scenario.platform.ranks, 0, 0, scenario.seed);
  const Seconds with_servers = iteration_of_one_worker({scenario, job, nobodys, scenario.platform.placement}, factor);
  const Seconds one = std::min(job.compute() * factor, with_servers);
  const auto& checkpoint = scenario.effects.checkpoint;
  return checkpoint ? one + checkpoint->cost(one) * checkpoint->per_iteration(one) : one;
}

/// Workers that push what they have to the servers, and pull the sums.
Schedule server_schedule(const Scenario& scenario) {
  const ServerPlan& plan = *scenario.strategy.servers;
  Shape shape(scenario.platform.ranks + (plan.colocated ? 0 : plan.servers));
  shape.servers = plan.colocated ? std::min(plan.servers, shape.ranks) : plan.servers;
  return algorithm_of(scenario).build(shape);
}

std::vector<LinkUse> busiest_links(const Scenario& scenario, const Job& job, const TrainingRun& run) {
  std::vector<Shard> shards;
  if (const auto& servers = scenario.strategy.servers) {
    shards = shards_of(job, *servers, scenario.platform.device.memory_bandwidth);
  }
  return loads_of(scenario, run, shards).busiest(static_cast<std::size_t>(scenario.busiest_links));
}

}  // namespace

TrainedPoint train(const Scenario& scenario, Timeline* timeline, SharedClocks* clocks) {
  const LongestJob longest = longest_job_of(scenario);
  const ComputeTimes& times = longest.times;
  const Job& job = longest.job;
  SharedClocks of_all_seeds;
  if (clocks == nullptr) clocks = &of_all_seeds;
  const int first = first_iterations(scenario);
  Seconds of_first;
  Pooled pooled = pool_seeds(scenario, [&](const Scenario& seeded, int index) {
    Timeline* const of_the_first = index == 0 ? timeline : nullptr;
    const Variability variability = variability_of(seeded, times);
    const Placement& placement = seeded.platform.placement;
    Stage stage({seeded, job, variability, placement, input_of(seeded, placement), of_the_first, false, clocks});
    TrainingRun run = stage.run(whole_periods(seeded.measure, seeded.strategy.period));
    for (const Seconds each : run.durations | std::views::take(first)) of_first += each / (first * scenario.seeds);
    return run;
  });
  charge(pooled, scenario, slowed_by_writing(scenario, pooled.run.iteration));
  const TrainingRun& result = pooled.run;
  TrainedPoint point{described(scenario, job, times), {}};
  point.fidelity = name(scenario.fidelity);
  take_results(point, result, pooled.durations, scenario);
  point.first_iterations = first < scenario.measure.iterations ? of_first : point.iteration;
  point.mean_staleness = result.mean_staleness;
  const Provenance& provenance = result.provenance;
  point.folded = provenance.folded;
  if (provenance.rounded_up > 0) point.notes.push_back(describe_rounding_up(provenance.rounded_up));
  if (provenance.used_builtin_solver) point.notes.push_back(describe_own_network());
  point.critical_path = result.critical_path;
  point.neighbours = result.neighbours;
  if (scenario.busiest_links > 0) point.links = busiest_links(scenario, job, result);
  point.tuning = result.tuning;
  if (result.tuning && result.tuning->best.hierarchical_allreduce) point.algorithm = "hierarchical";
  if (scenario.strategy.servers && scenario.workload.global_batch == 0) {
    Seconds one = iteration_of_one(scenario, job, times, result.breakdown);
    // A run of one rank is such a rank itself: where a later push meets less on the links, steps that vary take less
    // than as many mean ones.
    if (point.ranks == 1) one = std::min(one, point.iteration);
    point.scaling_efficiency = one / point.iteration;
  }
  return point;
}

TrainingPoint train_beside(const TrainedPoint& point, const Scenario& changed, SharedClocks* clocks) {
  Scenario few = changed;
  few.measure.iterations = first_iterations(changed);
  few.busiest_links = 0;
  TrainingPoint there = train(few, nullptr, clocks);
  const double all_to_first = point.iteration / point.first_iterations;
  there.iteration *= all_to_first;
  there.samples_per_second /= all_to_first;
  there.breakdown = there.breakdown * all_to_first;
  return there;
}

UpdateLog time_updates(const Scenario& scenario, int iterations) {
  const ComputeTimes times = times_of(scenario);
  const Job job = travelling_job_of(scenario, times);
  const Variability variability = variability_of(scenario, times);
  const Placement& placement = scenario.platform.placement;
  return Stage({scenario, job, variability, placement, input_of(scenario, placement)}).updates(iterations);
}

Schedule schedule_of(const Scenario& scenario, Operation operation) {
  if (operation == Operation::parameter_server) return server_schedule(scenario);
  return build_schedule(scenario, scenario.platform.placement, operation);
}

/// Of the first replica: the first ranks, of a pipeline those of each stage.
static std::vector<int> ranks_of_one(const Scenario& scenario) {
  const int stages = scenario.strategy.pipeline;
  std::vector<int> members;
  for (int stage = 0; stage < stages; ++stage) {
    for (int rank = 0; rank < scenario.strategy.tensor_parallel; ++rank) {
      members.push_back(stage * (scenario.platform.ranks / stages) + rank);
    }
  }
  return members;
}

/// One replica: the first devices; of a pipeline, those of the first replica in each stage, as far apart as they are.
static Placement placement_of_one(const Scenario& scenario) {
  const std::vector<int> members = ranks_of_one(scenario);
  if (scenario.strategy.pipeline == 1) return {members, 1};
  return placement_of(scenario.platform.platform, scenario.platform.placement, members);
}

TrainingRun train_alone(const Scenario& scenario, Alone how) {
  const Placement alone = placement_of_one(scenario);
  const ComputeTimes times = times_of(scenario);
  const Job job = job_of(scenario, times);
  const auto input = [&](const Scenario& seeded) -> std::optional<InputPipeline> {
    if (how == Alone::fed_for_nothing) return std::nullopt;
    return how == Alone::fed_as_in_the_job ? input_of_one(seeded) : input_of(seeded, alone);
  };
  Pooled pooled = pool_seeds(scenario, [&](const Scenario& seeded, int /*index*/) {
    const Variability own = how == Alone::on_its_own_devices ? variability_of(seeded, times).of(ranks_of_one(seeded))
                                                             : median_variability(seeded, times);
    Stage stage({seeded, job, own, alone, input(seeded), nullptr, true});
    return stage.run(whole_periods(seeded.measure, seeded.strategy.period));
  });
  charge(pooled, scenario, 0);
  return pooled.run;
}

Seconds collective_time(Scenario scenario, Operation operation, Bytes size) {
  scenario.strategy.pipeline = 1;  // over the ranks of all stages
  JobClocks clocks(scenario, scenario.platform.placement);
  const auto ends = clocks.clock_of({operation, size}).completion_times(size, RankTimes::Zero(scenario.platform.ranks));
  return latest(ends) + scenario.platform.platform.transport.launch;
}

}}  // namespace farandole::scenario
