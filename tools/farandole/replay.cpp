#include "replay.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "backend/host_description.hpp"
#include "backend/replay/replay.hpp"
#include "backend/replay/server_replay.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/train.hpp"
#include "training/servers/server_network.hpp"
#include "training/servers/server_run.hpp"

namespace farandole {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Messages between hosts are real here and cost what they cost.
StrategySite real_site(const Scenario& scenario, const Job& job, const std::string& backend, Timeline* timeline) {
  StrategySite site = site_of(scenario, job, scenario.platform.placement, timeline);
  site.control_latency = Seconds(0);
  site.library = upper(backend);
  return site;
}

struct Measured {
  std::vector<Iteration> iterations;
  std::optional<double> processors_busy;
};

/// The first iterations check the data, which takes time of its own.
Measured measure(Replay& replay, Endpoint& endpoint, const Measure& measure, int period) {
  replay.check_data(true);
  for (int i = 0; i < period; ++i) replay.run_iteration();
  replay.check_data(false);
  for (int i = 0; i < measure.warmup; ++i) replay.run_iteration();
  const Seconds begin = last_of_all(endpoint, replay.now());
  const ProcessorLoad load;
  std::vector<LocalIteration> own;
  for (int i = 0; i < measure.iterations; ++i) own.push_back(replay.run_iteration());
  Measured measured{{}, load.share()};
  replay.close();
  Seconds before = begin;
  for (const LocalIteration& iteration : own) {
    measured.iterations.push_back(iteration_of_all(endpoint, iteration, before));
    before = last_of_all(endpoint, iteration.end);
  }
  return measured;
}

std::int64_t sum_of_all(Endpoint& endpoint, std::int64_t own) {
  double sum = 0;
  for (const double of_a_rank : endpoint.allgather_scalar(static_cast<double>(own))) sum += of_a_rank;
  return static_cast<std::int64_t>(sum);
}

void predict(ReplayedPoint& point, const Scenario& scenario) {
  const TrainingPoint predicted = train(scenario, nullptr);
  point.predicted = predicted.iteration;
  point.predicted_at = name(scenario.fidelity);
  const bool is_of_servers = scenario.strategy.servers && scenario.workload.global_batch == 0;
  const Seconds one = is_of_servers ? predicted.scaling_efficiency * predicted.iteration : single_rank_share(scenario);
  point.training.scaling_efficiency = one / point.training.iteration;
}

/// The schedules of the groups that this rank is in.
GroupSchedules schedules_of(const Scenario& scenario, int rank) {
  const Placement& placement = scenario.platform.placement;
  const auto members_of_rank = [&scenario, &placement, rank](Group group) {
    for (const std::vector<int>& members : members_of(scenario, group, placement)) {
      if (std::ranges::find(members, rank) != members.end()) return members;
    }
    return std::vector<int>{};
  };
  const auto schedule = [&scenario, &placement, members_of_rank](Operation operation, Group group) {
    if (group == Group::all) return schedule_of(scenario, operation);
    const Placement own = placement_of(scenario.platform.platform, placement, members_of_rank(group));
    return build_schedule(scenario, own, operation);
  };
  return {schedule, members_of_rank};
}

struct ReplayOutcome {
  TrainingRun run;
  std::int64_t wrong = 0;
  std::optional<double> processors_busy;
};

ReplayOutcome replay_collectives(const Scenario& scenario, const Job& job, const Variability& variability,
                                 InputPipeline* input, Session& session, const ReplayOptions& options,
                                 Timeline* timeline) {
  Endpoint& endpoint = session.endpoint();
  const auto strategy = scenario.strategy.make(real_site(scenario, job, options.backend, timeline));
  if (strategy->tuning() != nullptr) {
    throw InputError("HOROVOD_AUTOTUNE: expected settings that stay as they are in a replay, got ones that are tuned");
  }
  Replay replay({job, variability, *strategy, schedules_of(scenario, endpoint.rank()), scenario.strategy.negotiates,
                 input, timeline, scenario.strategy.streams},
                session);
  const int period = scenario.strategy.period;
  const Measured measured = measure(replay, endpoint, whole_periods(options.measure, period), period);
  return {condense(measured.iterations, job), replay.wrong(), measured.processors_busy};
}

/// Of each server: the first ranks of its node in turn, or a process of its own behind the ranks.
std::vector<int> processes_of_servers(const Scenario& scenario, const ServerPlan& plan) {
  const Platform& platform = scenario.platform.platform;
  const Placement& placement = scenario.platform.placement;
  const std::vector<int> nodes = server_nodes_of(plan, platform, placement);
  std::vector<int> processes;
  std::map<int, std::size_t> before;  // on the same node
  for (std::size_t server = 0; server < nodes.size(); ++server) {
    if (!plan.colocated) {
      processes.push_back(scenario.platform.ranks + static_cast<int>(server));
      continue;
    }
    std::vector<int> ranks;
    for (int rank = 0; rank < scenario.platform.ranks; ++rank) {
      const int device = placement.device_of_rank[static_cast<std::size_t>(rank)];
      if (platform.node_of(device) == nodes[server]) ranks.push_back(rank);
    }
    processes.push_back(ranks.at(before[nodes[server]]++ % ranks.size()));
  }
  return processes;
}

/// Those of all workers, in the order in which they ended; where there is a barrier, iteration by iteration.
std::vector<WorkerIteration> iterations_of_all(Endpoint& endpoint, const std::vector<WorkerIteration>& own,
                                               const ServerPlan& plan) {
  const std::vector<double> counts = endpoint.allgather_scalar(static_cast<double>(own.size()));
  std::vector<std::vector<WorkerIteration>> rounds(static_cast<std::size_t>(std::ranges::max(counts)));
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const WorkerIteration mine = i < own.size() ? own[i] : WorkerIteration{};
    std::vector<WorkerIteration> of_all(counts.size());
    for (Seconds WorkerIteration::*part :
         {&WorkerIteration::start, &WorkerIteration::end, &WorkerIteration::waited, &WorkerIteration::fed,
          &WorkerIteration::computing, &WorkerIteration::updating}) {
      const std::vector<double> numbers = endpoint.allgather_scalar((mine.*part).si());
      for (std::size_t rank = 0; rank < of_all.size(); ++rank) of_all[rank].*part = Seconds(numbers[rank]);
    }
    const std::vector<double> staleness = endpoint.allgather_scalar(mine.staleness);
    for (std::size_t rank = 0; rank < of_all.size(); ++rank) {
      of_all[rank].group = static_cast<int>(rank);
      of_all[rank].staleness = staleness[rank];
      if (static_cast<double>(i) < counts[rank]) rounds[i].push_back(of_all[rank]);
    }
    std::ranges::stable_sort(rounds[i], {}, &WorkerIteration::end);
  }
  std::vector<WorkerIteration> all;
  for (const auto& round : rounds) all.insert(all.end(), round.begin(), round.end());
  if (plan.mode != ServerMode::synchronous) std::ranges::stable_sort(all, {}, &WorkerIteration::end);
  return all;
}

ReplayOutcome replay_servers(const Scenario& scenario, const Job& job, const Variability& variability,
                             InputPipeline* input, Session& session, const ReplayOptions& options, Timeline* timeline) {
  const ServerPlan& plan = *scenario.strategy.servers;
  Endpoint& endpoint = session.endpoint();
  const int workers = scenario.platform.ranks;
  const auto run = [&](int iterations, bool checks, Timeline* recorded) {
    ServerReplay replay({job, plan, shards_of(job, plan, scenario.platform.device.memory_bandwidth),
                         processes_of_servers(scenario, plan), variability, workers, scenario.workload.optimizer.slots,
                         checks ? nullptr : input, recorded},
                        session, iterations, checks);
    std::vector<WorkerIteration> own = replay.run();
    return std::pair(std::move(own), replay.wrong());
  };
  ReplayOutcome outcome;
  outcome.wrong = run(1, true, nullptr).second;
  const ProcessorLoad load;
  const auto own = run(options.measure.warmup + options.measure.iterations, false, timeline).first;
  outcome.processors_busy = load.share();
  const std::vector<WorkerIteration> all = iterations_of_all(endpoint, own, plan);
  const WorkerMean mean =
      plan.mode == ServerMode::synchronous
          ? mean_of_barriers(all, static_cast<std::size_t>(workers), options.measure.warmup)
          : mean_of_stretch(all, std::vector<int>(static_cast<std::size_t>(workers), 1), plan, options.measure);
  outcome.run.iteration = mean.iteration;
  outcome.run.durations = mean.durations;
  outcome.run.breakdown = break_down(mean, job);
  outcome.run.mean_staleness = mean.staleness;
  return outcome;
}

}  // namespace

void refuse_unreplayable(const PlannedPoint& point, int ranks) {
  const Scenario& scenario = point.scenario;
  const Value root = point.document.root();
  const auto at = [&](const char* pointer) { return point.document.find(pointer).value_or(root); };
  const int servers = processes_of(scenario) - scenario.platform.ranks;
  if (processes_of(scenario) != ranks) {
    const std::string hint = ranks > servers ? fmt::format("; --set /platform/ranks={}", ranks - servers) : "";
    at("/platform/ranks")
        .fail(servers > 0
                  ? fmt::format("{} ranks beside {} servers, as {} were started", ranks - servers, servers, ranks)
                  : fmt::format("the {} ranks that were started", ranks),
              fmt::format("{}", scenario.platform.ranks), hint);
  }
  if (scenario.strategy.tensor_parallel > 1) {
    at("/strategy/tensor_parallel").fail("1: exchanges within a layer are simulated, not replayed");
  }
  if (scenario.strategy.pipeline > 1) {
    at("/strategy/pipeline").fail("1: stages are simulated, not replayed");
  }
  if (scenario.strategy.expert_parallel > 1) {
    at("/strategy/expert_parallel").fail("1: exchanges between experts are simulated, not replayed");
  }
  const bool shares_nodes = scenario.platform.placement.nodes_used < scenario.platform.ranks;
  if (shares_nodes && scenario.strategy.servers && scenario.strategy.servers->aggregate_on_node) {
    const bool is_setting = scenario.strategy.kind == "parameter_server";
    at(is_setting ? "/strategy/aggregate_on_node" : "/strategy/kind")
        .fail("workers that push by themselves to replay, or a node for each", "ranks of a node that push together",
              is_setting ? "; --set /strategy/aggregate_on_node=false" : "");
  }
  for (const auto& [operation, library] : scenario.libraries) {
    at(("/collectives/" + name(operation)).c_str())
        .fail("an algorithm to replay", quoted(scenario.collectives.at(operation).name),
              fmt::format("; --set /collectives/{}=ring", name(operation)));
  }
}

int processes_of(const Scenario& scenario) {
  const auto& servers = scenario.strategy.servers;
  return scenario.platform.ranks + (servers && !servers->colocated ? servers->servers : 0);
}

std::vector<std::string> left_out_of_replay(const Scenario& scenario) {
  std::vector<std::string> left_out = left_out_of_replay(scenario.effects);
  if (scenario.strategy.servers && scenario.strategy.servers->rate) left_out.emplace_back("strategy.server_rate");
  return left_out;
}

ReplayedPoint replay(const Scenario& scenario, Session& session, const ReplayOptions& options, Timeline* timeline) {
  Endpoint& endpoint = session.endpoint();
  const ComputeTimes times = times_of(scenario);
  const Job job = travelling_job_of(scenario, times);
  const Variability variability = variability_of(scenario, times);
  std::optional<InputPipeline> input = input_of(scenario, scenario.platform.placement);
  const auto carry_out = scenario.strategy.servers ? replay_servers : replay_collectives;
  const ReplayOutcome outcome = carry_out(scenario, job, variability, input ? &*input : nullptr, session, options,
                                          endpoint.rank() == 0 ? timeline : nullptr);
  ReplayedPoint point;
  point.training = described(scenario, job, times);
  point.training.fidelity = "replay";
  point.training.nodes = session.nodes();
  std::vector<WeightedDuration> durations;
  for (const Seconds duration : outcome.run.durations) durations.push_back({duration, 1});
  take_results(point.training, outcome.run, durations, scenario);
  point.training.mean_staleness = outcome.run.mean_staleness;
  point.backend = options.backend;
  point.repetitions = outcome.run.durations;
  point.wrong = sum_of_all(endpoint, outcome.wrong);
  point.processors_busy = outcome.processors_busy;
  if (endpoint.rank() == 0) predict(point, scenario);
  return point;
}

}  // namespace farandole
