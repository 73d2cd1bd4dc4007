#include "scenario/train.hpp"

#include "training/strategies/horovod.hpp"

namespace farandole {
namespace {

ComputeTimes times_of(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  return compute_times(workload.model, scenario.platform.device, workload.precision, workload.batch_per_rank,
                       scenario.platform.platform.measurements);
}

Job job_of(const Scenario& scenario, const ComputeTimes& times) {
  const WorkloadSpec& workload = scenario.workload;
  return make_job(workload.model, times, workload.precision, workload.host_dispatch);
}

Variability variability_of(const Scenario& scenario, int ranks) {
  Variability variability(ranks, scenario.effects.device_spread, scenario.effects.step_jitter, scenario.seed);
  for (const Straggler& straggler : scenario.effects.stragglers) {
    for (const int rank : straggler.ranks) {
      if (rank < ranks) variability.slow_down(rank, straggler.slowdown);
    }
  }
  return variability;
}

HorovodSettings horovod_settings(const Scenario& scenario) {
  const Transport& transport = scenario.platform.platform.transport;
  return {scenario.strategy.horovod,
          {transport.control_latency, scenario.strategy.coordinator_per_message},
          scenario.platform.device.memory_bandwidth,
          scenario.seed,
          scenario.platform.device.asynchronous ? "NCCL_ALLREDUCE" : "MPI_ALLREDUCE"};
}

TrainingRun run(const Scenario& scenario, const Job& job, const Variability& variability, const Placement& placement,
                Timeline* timeline) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  Shape shape(ranks);
  shape.ranks_per_node = placement.ranks_per_node(scenario.platform.platform.devices_per_node);
  const auto clock = make_collective_clock(
      scenario.fidelity, RoutedSchedule(scenario.allreduce.build(shape), scenario.platform.platform, placement),
      scenario.folding);
  Horovod strategy(job, ranks, horovod_settings(scenario), timeline);
  Simulation simulation(job, variability, strategy, *clock, ranks, scenario.platform.platform.transport.launch,
                        timeline);
  return run_training(simulation, job, scenario.measure);
}

}  // namespace

TrainingPoint train(const Scenario& scenario, Timeline* timeline) {
  const int ranks = scenario.platform.ranks;
  const ComputeTimes times = times_of(scenario);
  const Job job = job_of(scenario, times);
  const TrainingRun result = run(scenario, job, variability_of(scenario, ranks), scenario.platform.placement, timeline);
  TrainingPoint point;
  point.model = scenario.workload.model.name;
  point.variant = scenario.workload.model.variant;
  point.ranks = ranks;
  point.nodes = scenario.platform.placement.nodes_used;
  point.platform = scenario.platform.platform.name;
  point.strategy = scenario.strategy.kind;
  point.mode = "synchronous";
  point.algorithm = scenario.allreduce.name;
  point.fidelity = name(scenario.fidelity);
  point.batch_per_rank = scenario.workload.batch_per_rank;
  point.precision = name(scenario.workload.precision);
  point.compute_source = times.source;
  point.iteration = result.iteration;
  point.iteration_p95 = result.iteration_p95;
  point.samples_per_second = ranks * scenario.workload.batch_per_rank / result.iteration.si();
  point.breakdown = result.breakdown;
  point.collectives_per_iteration = result.collectives_per_iteration;
  point.folded = result.folded;
  point.gradient_bytes = job.gradient_bytes();
  return point;
}

Seconds train_one_rank(const Scenario& scenario) {
  const Variability median(1, 0, scenario.effects.step_jitter, scenario.seed);
  return run(scenario, job_of(scenario, times_of(scenario)), median, Placement{{0}, 1}, nullptr).iteration;
}

}  // namespace farandole
