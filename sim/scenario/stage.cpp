#include <algorithm>
#include <utility>

#include "scenario/apply_effects.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"
#include "scenario/pipeline.hpp"
#include "scenario/train.hpp"
#include "simulate/max_min_network.hpp"
#include "simulate/shared_links.hpp"
#include "training/effects/on_off.hpp"
#include "training/servers/server_run.hpp"

namespace farandole { inline namespace scenario {
namespace {

bool has_others(const JobOnStage& job) {
  const TrafficSpec& traffic = job.scenario.traffic;
  const bool is_empty = traffic.on_off.empty() && traffic.jobs.empty();
  return !is_empty && !job.alone && job.scenario.mechanisms.contention && job.placement.device_of_rank.size() > 1;
}

/// Whether several of its own collectives may be under way, which then share links. What ranks of a node exchange layer
/// by layer beside gradients shares their links for moments, some 0.4 % of a step, and does so at `message` alone.
bool meets_itself(const JobOnStage& job) {
  const StrategyChoice& strategy = job.scenario.strategy;
  const int per_node = job.placement.ranks_per_node(job.scenario.platform.platform.devices_per_node);
  // Groups of ranks that fill a node leave its inner links to themselves, and stages of nodes leave theirs.
  const auto of_a_stage = static_cast<int>(job.placement.device_of_rank.size()) / strategy.pipeline;
  const bool shares_node = (strategy.tensor_parallel > 1 && strategy.tensor_parallel < per_node &&
                            job.scenario.fidelity == Fidelity::message) ||
                           (strategy.pipeline > 1 && of_a_stage % per_node != 0);
  const bool shares_experts = strategy.expert_parallel > 1;  // beside whose exchanges gradients travel
  return (strategy.streams > 1 || shares_node || shares_experts) && job.scenario.mechanisms.contention &&
         job.placement.device_of_rank.size() > 1;
}

bool is_of_servers(const JobOnStage& job) {
  return job.scenario.strategy.servers && !job.alone;
}

/// Of a node: a processor that trains has its own, of which a node may have several.
BytesPerSecond host_memory_of(const Scenario& scenario) {
  const Device& device = scenario.platform.device;
  return device.host_memory_bandwidth * (device.asynchronous ? 1 : scenario.platform.platform.devices_per_node);
}

}  // namespace

SharedClocks clocks_of(const JobOnStage& job) {
  if (job.clocks != nullptr && *job.clocks != nullptr) return *job.clocks;
  const auto fresh = std::make_shared<JobClocks>(job.scenario, job.placement);
  return job.clocks == nullptr ? fresh : *job.clocks = fresh;
}

// Of Stage::Parts, which is no type of this file alone.

/// A job with servers, and what it is on.
struct ServerParts {
  ServerParts(const JobOnStage& job, Company* company, InputPipeline* input)
      : plan(*job.scenario.strategy.servers),
        platform(platform_of(job.scenario)),
        site{job.job,
             plan,
             platform,
             job.scenario.platform.placement,
             job.variability,
             job.scenario.platform.device.memory_bandwidth * job.scenario.mechanisms.copy_rate,
             job.scenario.fidelity,
             job.scenario.folding,
             job.timeline,
             host_memory_of(job.scenario) * job.scenario.mechanisms.server_rate,
             job.scenario.workload.optimizer.slots,
             !job.scenario.platform.device.asynchronous,
             job.scenario.effects.communication_compute_share,
             input,
             company} {
    if (plan.rate) *plan.rate *= job.scenario.mechanisms.network_rate;
  }
  ServerPlan plan;
  Platform platform;
  ServerSite site;
};

/// A job of collectives, and what it is on.
struct TrainerParts {
  TrainerParts(const JobOnStage& job, Simulator& simulator, Company* company, InputPipeline* input)
      : clocks(clocks_of(job)),
        strategy(job.scenario.strategy.make(site_of(job.scenario, job.job, job.placement, job.timeline))),
        representatives(company == nullptr && input == nullptr ? representatives_of(job) : std::nullopt),
        trainer(simulator, job_site(job, company), job.job, job.variability, *strategy, job.timeline) {
    if (input != nullptr) trainer.feed_from(*input);
  }
  TrainerParts(const TrainerParts&) = delete;
  TrainerParts& operator=(const TrainerParts&) = delete;
  ~TrainerParts() { clocks->release_network(); }  // which other clocks may want while these are kept
  JobSite job_site(const JobOnStage& job, Company* company) {
    const auto ranks = static_cast<int>(job.placement.device_of_rank.size());
    JobSite site = site_of_job(job.scenario, ranks, company, [this]() -> JobClocks& { return *clocks; });
    if (representatives) site.representatives = &*representatives;
    return site;
  }
  static std::optional<Representatives> representatives_of(const JobOnStage& job) {
    if (job.timeline != nullptr) return std::nullopt;  // on which an iteration that is gone through again leaves a gap
    return std::optional<Representatives>(
        meetings_of(job.scenario, static_cast<int>(job.placement.device_of_rank.size())));
  }
  SharedClocks clocks;
  std::unique_ptr<Strategy> strategy;
  std::optional<Representatives> representatives;
  Trainer trainer;
};

/// Another job on the network, iteration after iteration.
struct OtherJob {
  OtherJob(const Scenario& its, const Scenario& ours)
      : scenario(its), times(times_of(scenario)), job(job_of(scenario, times)) {
    scenario.seed = ours.seed;
    scenario.fidelity = ours.fidelity;
    scenario.folding = ours.folding;
    scenario.network = ours.network;
    scenario.mechanisms = ours.mechanisms;
    variability.emplace(variability_of(scenario, times));
  }
  void begin(Simulator& simulator, Company& company) {
    input = input_of(scenario, scenario.platform.placement);
    InputPipeline* const batches = input ? &*input : nullptr;
    const JobOnStage on_stage{scenario, job, *variability, scenario.platform.placement};
    if (is_of_servers(on_stage)) {
      constexpr int no_end = 1 << 30;
      servers.emplace(on_stage, &company, batches);
      server_trainer.emplace(simulator, servers->site, Carried::in_company, no_end);
      server_trainer->begin();
    } else {
      trainer.emplace(on_stage, simulator, &company, batches);
      trainer->trainer.keep_training();
    }
  }
  [[nodiscard]] int ended() const {
    return server_trainer ? server_trainer->iterations() : static_cast<int>(trainer->trainer.ended().size());
  }
  /// Of the iterations that it ended, after its warm-up where they were more than that; and what the same take alone.
  [[nodiscard]] Neighbour outcome() const {
    const int warmup = scenario.measure.warmup < ended() ? scenario.measure.warmup : 0;
    const Measure measure{ended() - warmup, warmup};
    Scenario quiet = scenario;
    quiet.measure = measure;
    Neighbour result{scenario.workload.model.name, scenario.platform.ranks, train(quiet, nullptr).iteration, {}};
    if (server_trainer) {
      result.beside = server_trainer->condensed(measure).iteration;
      return result;
    }
    for (int i = warmup; i < ended(); ++i) {
      result.beside += trainer->trainer.ended()[static_cast<std::size_t>(i)].duration / measure.iterations;
    }
    return result;
  }

  Scenario scenario;
  ComputeTimes times;
  Job job;
  std::optional<Variability> variability;
  std::optional<InputPipeline> input;
  std::optional<ServerParts> servers;
  std::optional<ServerTrainer> server_trainer;
  std::optional<TrainerParts> trainer;
};

static std::unique_ptr<SharedNetwork> network_of(Fidelity fidelity) {
  if (fidelity == Fidelity::analytic) return std::make_unique<SharedLinks>();
  return std::make_unique<MaxMinNetwork>();
}

static std::vector<OnOffSource> sources_of(const Scenario& scenario) {
  std::vector<OnOffSource> sources;
  for (const OnOffSpec& own : scenario.traffic.on_off) {
    sources.push_back({own.links, own.rate, own.on.mean, own.off.mean, own.on.spread, own.off.spread,
                       scenario.seed + sources.size() * 1000003, own.place});
  }
  return sources;
}

struct Stage::Parts {
  explicit Parts(JobOnStage of) : ours(std::move(of)), simulator(network_of(ours.scenario.fidelity)) {
    const bool others = has_others(ours);
    if (others) {
      for (const auto& job : ours.scenario.traffic.jobs)
        jobs.push_back(std::make_unique<OtherJob>(*job, ours.scenario));
    }
    if (others || meets_itself(ours)) {
      company.emplace(simulator, platform_of(ours.scenario), ours.scenario.fidelity);
    }
    if (others) {
      on_off.emplace(simulator, *company, sources_of(ours.scenario));
      for (const auto& job : jobs) job->begin(simulator, *company);
    }
    InputPipeline* const input = ours.input ? &*ours.input : nullptr;
    if (is_of_servers(ours)) {
      servers.emplace(ours, company ? &*company : nullptr, input);
    } else if (ours.scenario.strategy.pipeline > 1) {
      pipeline.emplace(ours, simulator, company ? &*company : nullptr);
    } else {
      trainer.emplace(ours, simulator, company ? &*company : nullptr, input);
    }
  }

  /// Until the iterations are over; in company.
  ServerTrainer& run_servers(int iterations) {
    server_trainer.emplace(simulator, servers->site, Carried::in_company, iterations);
    server_trainer->halt_when_over();
    server_trainer->begin();
    simulator.run();
    return *server_trainer;
  }

  [[nodiscard]] std::vector<Neighbour> neighbours() {
    std::vector<Neighbour> result;
    const int self = simulator.enlist([this](int /*event*/) { simulator.halt(); });
    for (const auto& job : jobs) {
      // The first one of every job takes as long as it takes.
      for (Seconds wait = simulator.now() / 16; job->ended() == 0; wait *= 2) {
        simulator.call_at(simulator.now() + wait, self, 0);
        simulator.run();
      }
      result.push_back(job->outcome());
    }
    return result;
  }

  JobOnStage ours;
  Simulator simulator;
  std::optional<Company> company;
  std::optional<OnOffTraffic> on_off;
  std::vector<std::unique_ptr<OtherJob>> jobs;
  std::optional<ServerParts> servers;
  std::optional<ServerTrainer> server_trainer;
  std::optional<TrainerParts> trainer;
  std::optional<PipelineParts> pipeline;
};

Stage::Stage(JobOnStage ours) : parts_(std::make_unique<Parts>(std::move(ours))) {}
Stage::~Stage() = default;

TrainingRun Stage::run(const Measure& measure) {
  TrainingRun run;
  if (parts_->pipeline) {
    run = run_training(parts_->pipeline->trainer(), measure);
  } else if (parts_->trainer) {
    run = run_training(parts_->trainer->trainer, parts_->ours.job, measure);
  } else if (parts_->company) {
    run = parts_->run_servers(measure.warmup + measure.iterations).condensed(measure);
  } else {
    run = run_with_servers(parts_->servers->site, measure);
  }
  run.neighbours = parts_->neighbours();
  return run;
}

UpdateLog Stage::updates(int iterations) {
  if (parts_->servers) {
    if (!parts_->company) return server_updates(parts_->servers->site, iterations);
    return updates_of(parts_->run_servers(iterations), *parts_->ours.scenario.strategy.servers);
  }
  UpdateLog log;
  Seconds end;
  for (int i = 0; i < iterations; ++i) {
    end += (parts_->pipeline ? parts_->pipeline->trainer().run_iteration() : parts_->trainer->trainer.run_iteration())
               .duration;
    log.push_back({end, every_rank, i});
  }
  return log;
}

Seconds iteration_of_one_worker(const JobOnStage& job, double factor) {
  return iteration_of_one_worker(ServerParts(job, nullptr, nullptr).site, factor);
}

}}  // namespace farandole::scenario
