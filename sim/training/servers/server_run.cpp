#include "training/servers/server_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "simulate/max_min_network.hpp"
#include "simulate/shared_links.hpp"
#include "training/servers/server_layout.hpp"

namespace farandole { inline namespace training {
namespace {

/// Whether an iteration depends on its slowest worker alone: with a barrier, unless every worker is looked at.
bool is_bulk_synchronous(const ServerSite& site) {
  return site.plan.mode == ServerMode::synchronous &&
         (site.variability.is_uniform() || site.fidelity != Fidelity::message) && site.input == nullptr &&
         site.compute_share == 0;
}

/// Every worker on its own with max-min shares is for `message`.
std::unique_ptr<SharedNetwork> network_of(const ServerSite& site) {
  if (site.fidelity == Fidelity::analytic || (site.fidelity == Fidelity::flow && !is_bulk_synchronous(site))) {
    return std::make_unique<SharedLinks>();
  }
  return std::make_unique<MaxMinNetwork>();
}

/// Until the strategy has nothing more to do.
void run(Simulator& simulator, const ServerSite& site, const Layout& layout, ParameterServer& strategy) {
  SimulatedJob job(simulator, job_site(site, layout.network));
  job.tell([&](const Happening& happening) { strategy.on(job, happening); });
  if (site.input != nullptr) strategy.feed_from(site.input, first_ranks(layout.network));
  strategy.begin(job, {});
  simulator.run();
}

/// An iteration whose workers all compute as the slowest does, so many times slower than nominal.
WorkerIteration bulk_synchronous_iteration(const ServerSite& site, const Layout& layout, double factor,
                                           Timeline* timeline) {
  const RankTimes factors = RankTimes::Constant(static_cast<Eigen::Index>(layout.network.groups.size()), factor);
  ParameterServer strategy(
      site.job, site.plan, layout.shards, groups_of(site, layout),
      [&](int /*iteration*/) -> const RankTimes& { return factors; }, 1, timeline, site.slots);
  Simulator simulator(network_of(site));
  run(simulator, site, layout, strategy);
  WorkerIteration last = strategy.finished().back();
  for (const WorkerIteration& each : strategy.finished()) last.updating = std::max(last.updating, each.updating);
  return last;
}

/// Simulated for a few speeds of the slowest worker, and for those between them by straight lines.
WorkerMean mean_in_step(const ServerSite& site, const Layout& layout, const Measure& measure) {
  constexpr int speeds = 5;
  std::vector<double> slowest;
  for (int i = 0; i < measure.iterations; ++i) {
    slowest.push_back(site.variability.factors(measure.warmup + i).maxCoeff());
  }
  const auto [least, most] = std::ranges::minmax(slowest);
  const double step = (most - least) / (speeds - 1);
  std::vector<WorkerIteration> known;
  for (int i = 0; i < (step > 0 ? speeds : 1); ++i) {
    known.push_back(bulk_synchronous_iteration(site, layout, least + i * step, i == 0 ? site.timeline : nullptr));
  }
  WorkerMean mean;
  for (const double factor : slowest) {
    const double at = step > 0 ? (factor - least) / step : 0;
    const auto below = std::min(static_cast<std::size_t>(at), std::max<std::size_t>(known.size(), 2) - 2);
    const WorkerIteration& slow = known[below];
    const WorkerIteration& slower = known[std::min(below + 1, known.size() - 1)];
    const double share = at - static_cast<double>(below);
    mean.durations.push_back(slow.end + share * (slower.end - slow.end));
    mean.iteration += mean.durations.back() / measure.iterations;
    mean.updating += (slow.updating + share * (slower.updating - slow.updating)) / measure.iterations;
    mean.computing += site.job.backward_end * factor / measure.iterations;
  }
  return mean;
}

UpdateLog updates_in_step(const std::vector<WorkerIteration>& finished, std::size_t groups) {
  UpdateLog log;
  for (std::size_t last = groups - 1; last < finished.size(); last += groups) {
    log.push_back({finished[last].end, every_rank, static_cast<int>(log.size())});
  }
  return log;
}

/// Every worker is a group of its own.
UpdateLog updates_one_by_one(const std::vector<WorkerIteration>& finished) {
  UpdateLog log;
  for (const WorkerIteration& iteration : finished) {
    log.push_back(
        {iteration.end, iteration.group, static_cast<int>(log.size()) - static_cast<int>(iteration.staleness)});
  }
  return log;
}

/// Without a barrier workers of different groups drift apart and meet one after the other, each of a group at its own
/// moment; so those fold only where all are one group. So do those with batches of their own.
bool may_fold(const ServerSite& site) {
  if (site.folding != FoldingPolicy::where_exact || site.input != nullptr) return false;
  if (is_bulk_synchronous(site)) return true;
  if (!site.variability.is_uniform()) return false;
  return site.plan.mode == ServerMode::synchronous ||
         layout_of(site, site.placement, Carried::together).network.groups.size() == 1;
}

TrainingRun as_run(WorkerMean mean, const ServerSite& site, const ServerNetwork& network) {
  TrainingRun run;
  run.iteration = mean.iteration;
  run.durations = std::move(mean.durations);
  run.breakdown = break_down(mean, site.job);
  run.provenance.folded = network.servers < static_cast<int>(network.stands_for.size()) ||
                          std::ranges::any_of(network.groups, [](const auto& group) { return group.workers > 1; });
  run.mean_staleness = mean.staleness;
  return run;
}

}  // namespace

/// Of each group the factor of its slowest rank.
class GroupFactors {
 public:
  GroupFactors(const Variability& variability, const ServerNetwork& network)
      : variability_(variability), network_(network) {}

  const RankTimes& operator()(int iteration) {
    const auto [place, is_new] = of_iteration_.try_emplace(iteration);
    if (is_new) {
      const RankTimes ranks = variability_.factors(iteration);
      place->second = RankTimes::Zero(static_cast<Eigen::Index>(network_.groups.size()));
      for (std::size_t group = 0; group < network_.groups.size(); ++group) {
        double& slowest = place->second[static_cast<Eigen::Index>(group)];
        for (const int rank : network_.groups[group].ranks) slowest = std::max(slowest, ranks[rank]);
      }
    }
    return place->second;
  }

 private:
  const Variability& variability_;
  const ServerNetwork& network_;
  std::map<int, RankTimes> of_iteration_;
};

struct ServerTrainer::Parts {
  Parts(Simulator& on, const ServerSite& of, Carried carried, int iterations)
      : simulator(on),
        site(of),
        layout(layout_of(site, site.placement, carried)),
        factors(site.variability, layout.network),
        strategy(site.job, site.plan, layout.shards, groups_of(site, layout), std::ref(factors), iterations,
                 site.timeline, site.slots),
        job(on, job_site(site, layout.network)) {
    if (site.input != nullptr) strategy.feed_from(site.input, first_ranks(layout.network));
  }
  Simulator& simulator;
  ServerSite site;
  Layout layout;
  GroupFactors factors;
  ParameterServer strategy;
  SimulatedJob job;
};

ServerTrainer::ServerTrainer(Simulator& simulator, const ServerSite& site, Carried carried, int iterations)
    : parts_(std::make_unique<Parts>(simulator, site, carried, iterations)) {
  parts_->job.tell([this](const Happening& happening) {
    parts_->strategy.on(parts_->job, happening);
    if (halts_ && parts_->strategy.is_over()) parts_->simulator.halt();
  });
}

ServerTrainer::~ServerTrainer() = default;

void ServerTrainer::begin() {
  parts_->strategy.begin(parts_->job, {});
}

const std::vector<WorkerIteration>& ServerTrainer::finished() const {
  return parts_->strategy.finished();
}

TrainingRun ServerTrainer::condensed(const Measure& measure) const {
  const ServerNetwork& network = parts_->layout.network;
  const ServerPlan& plan = parts_->site.plan;
  return as_run(plan.mode == ServerMode::synchronous
                    ? mean_of_barriers(finished(), network.groups.size(), measure.warmup)
                    : mean_of_stretch(finished(), workers_of(network), plan, measure),
                parts_->site, network);
}

int ServerTrainer::iterations() const {
  std::vector<int> ended(parts_->layout.network.groups.size(), 0);
  for (const WorkerIteration& iteration : finished()) ++ended[static_cast<std::size_t>(iteration.group)];
  return std::ranges::min(ended);
}

TrainingRun run_with_servers(const ServerSite& site, const Measure& measure) {
  const Carried carried = may_fold(site) ? Carried::together : Carried::apart;
  if (is_bulk_synchronous(site)) {
    const Layout layout = layout_of(site, site.placement, carried);
    return as_run(mean_in_step(site, layout, measure), site, layout.network);
  }
  Simulator simulator(network_of(site));
  ServerTrainer trainer(simulator, site, carried, measure.warmup + measure.iterations);
  trainer.begin();
  simulator.run();
  return trainer.condensed(measure);
}

Seconds iteration_of_one_worker(const ServerSite& site, double factor) {
  const std::vector<int> nodes = server_nodes_of(site.plan, site.platform, site.placement);
  const std::vector<int> profile = profiles_of(shards_of(site.job, site.plan, site.memory_bandwidth), nodes.size());
  Seconds best = Seconds::infinity();
  for (const int rank : ranks_apart(site.platform, site.placement, nodes, site.plan, profile)) {
    const Placement alone{{site.placement.device_of_rank[static_cast<std::size_t>(rank)]}, 1};
    best =
        std::min(best, bulk_synchronous_iteration(site, layout_of(site, alone, Carried::apart), factor, nullptr).end);
  }
  return best;
}

UpdateLog server_updates(const ServerSite& site, int iterations) {
  const bool waits = site.plan.mode == ServerMode::synchronous;
  const bool together = waits && site.variability.is_uniform() && site.input == nullptr;
  ServerSite quiet = site;
  quiet.timeline = nullptr;
  Simulator simulator(network_of(site));
  ServerTrainer trainer(simulator, quiet, together ? Carried::together : Carried::apart, iterations);
  trainer.begin();
  simulator.run();
  return updates_of(trainer, site.plan);
}

UpdateLog updates_of(const ServerTrainer& trainer, const ServerPlan& plan) {
  if (plan.mode != ServerMode::synchronous) return updates_one_by_one(trainer.finished());
  std::set<int> groups;
  for (const WorkerIteration& iteration : trainer.finished()) groups.insert(iteration.group);
  return updates_in_step(trainer.finished(), groups.size());
}

}}  // namespace farandole::training
