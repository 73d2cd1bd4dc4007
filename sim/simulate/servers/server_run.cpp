#include "simulate/servers/server_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "simulate/servers/fluid_messages.hpp"
#include "simulate/servers/server_network.hpp"
#include "simulate/servers/server_simulation.hpp"
#include "simulate/servers/shared_links.hpp"
#include "simulate/servers/worker_mean.hpp"
#include "training/strategies/parameter_server.hpp"

namespace farandole {
namespace {

/// Whether an iteration depends on its slowest worker alone: with a barrier, unless every worker is looked at.
bool keeps_step(const ServerSite& site) {
  return site.plan.mode == ServerMode::synchronous &&
         (site.variability.is_uniform() || site.fidelity != Fidelity::message);
}

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

/// SimGrid's, where it is worth its time: every worker on its own is for `message`.
std::unique_ptr<MessageNetwork> network_of(const ServerSite& site, const ServerNetwork& layout) {
  if (site.fidelity == Fidelity::analytic || (site.fidelity == Fidelity::flow && !keeps_step(site))) {
    return std::make_unique<SharedLinks>(layout.capacities, layout.congestion);
  }
  return std::make_unique<FluidMessages>(layout.capacities, layout.congestion);
}

/// Servers, and all of the job's workers or some of them, as they are simulated.
struct Layout {
  const Placement& workers;
  std::vector<int> nodes;  // of the servers
  std::vector<Shard> shards;
  ServerNetwork network;
};

Layout layout_of(const ServerSite& site, const Placement& workers, bool together) {
  Layout layout{workers,
                server_nodes_of(site.plan, site.platform, site.placement),
                shards_of(site.job, site.plan, site.memory_bandwidth),
                {}};
  layout.network = make_server_network(site.platform, workers, layout.nodes, site.plan, together);
  std::set<int> lent;
  for (const int device : site.placement.device_of_rank) {
    if (site.shares_processor) lent.insert(site.platform.node_of(device));
  }
  add_memories(layout.network, layout.nodes, site.server_memory, lent);
  return layout;
}

std::vector<int> workers_of(const ServerNetwork& network) {
  std::vector<int> workers;
  for (const ServerNetwork::Group& group : network.groups) workers.push_back(group.workers);
  return workers;
}

/// What a server's host works on a shard in an iteration of all workers.
Seconds serving_time(const ServerSite& site, const Shard& shard, double workers) {
  const bool together = site.plan.mode == ServerMode::synchronous;
  const Bytes traffic = server_traffic(shard, together ? workers : 1, site.slots);
  return traffic / site.server_memory * (together ? 1 : workers);
}

std::vector<WorkerGroup> groups_of(const ServerSite& site, const Layout& layout) {
  double workers = 0;
  for (const ServerNetwork::Group& group : layout.network.groups) workers += group.workers;
  std::map<int, Seconds> serving;  // of nodes whose device is the host
  for (const Shard& shard : layout.shards) {
    if (!site.shares_processor) break;
    serving[layout.nodes[static_cast<std::size_t>(shard.server)]] += serving_time(site, shard, workers);
  }
  std::vector<WorkerGroup> groups;
  for (const ServerNetwork::Group& group : layout.network.groups) {
    const int device = layout.workers.device_of_rank[static_cast<std::size_t>(group.ranks.front())];
    groups.push_back({static_cast<double>(group.workers), group.bus, serving[site.platform.node_of(device)]});
  }
  return groups;
}

/// An iteration whose workers all compute as the slowest does, so many times slower than nominal.
WorkerIteration in_step(const ServerSite& site, const Layout& layout, double factor, Timeline* timeline) {
  const RankTimes factors = RankTimes::Constant(static_cast<Eigen::Index>(layout.network.groups.size()), factor);
  ParameterServer strategy(
      site.job, site.plan, layout.shards, groups_of(site, layout),
      [&](int /*iteration*/) -> const RankTimes& { return factors; }, 1, timeline, site.slots);
  const auto network = network_of(site, layout.network);
  ServerSimulation(layout.network, *network).run(strategy);
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
    known.push_back(in_step(site, layout, least + i * step, i == 0 ? site.timeline : nullptr));
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

/// Every worker as it is, iteration after iteration.
WorkerMean mean_of_all(const ServerSite& site, const Layout& layout, const Measure& measure) {
  GroupFactors factors(site.variability, layout.network);
  ParameterServer strategy(site.job, site.plan, layout.shards, groups_of(site, layout), std::ref(factors),
                           measure.warmup + measure.iterations, site.timeline, site.slots);
  const auto network = network_of(site, layout.network);
  ServerSimulation(layout.network, *network).run(strategy);
  if (site.plan.mode == ServerMode::synchronous) {
    return mean_of_barriers(strategy.finished(), layout.network.groups.size(), measure.warmup);
  }
  return mean_of_stretch(strategy.finished(), workers_of(layout.network), site.plan, measure);
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
/// moment; so those fold only where all are one group.
bool may_fold(const ServerSite& site) {
  if (site.folding != FoldingPolicy::where_exact) return false;
  if (keeps_step(site)) return true;
  return site.variability.is_uniform() && layout_of(site, site.placement, true).network.groups.size() == 1;
}

/// Equal numbers for servers that keep alike shards.
std::vector<int> profiles_of(const std::vector<Shard>& shards, std::size_t servers) {
  std::vector<std::vector<std::tuple<int, Bytes, Bytes, Bytes>>> kept(servers);
  for (const Shard& shard : shards) {
    kept[static_cast<std::size_t>(shard.server)].emplace_back(shard.layer, shard.pull, shard.push, shard.kept);
  }
  std::map<std::vector<std::tuple<int, Bytes, Bytes, Bytes>>, int> numbers;
  std::vector<int> profiles;
  for (const auto& of_one : kept) {
    profiles.push_back(numbers.try_emplace(of_one, static_cast<int>(numbers.size())).first->second);
  }
  return profiles;
}

}  // namespace

TrainingRun run_with_servers(const ServerSite& site, const Measure& measure) {
  const bool as_the_slowest = keeps_step(site);
  const Layout layout = layout_of(site, site.placement, may_fold(site));
  WorkerMean mean = as_the_slowest ? mean_in_step(site, layout, measure) : mean_of_all(site, layout, measure);
  TrainingRun run;
  run.iteration = mean.iteration;
  run.durations = std::move(mean.durations);
  run.breakdown = break_down(mean, site.job);
  run.folded = std::ranges::any_of(layout.network.groups, [](const auto& group) { return group.workers > 1; });
  run.mean_staleness = mean.staleness;
  return run;
}

Seconds iteration_of_one_worker(const ServerSite& site, double factor) {
  const std::vector<int> nodes = server_nodes_of(site.plan, site.platform, site.placement);
  const std::vector<int> profile = profiles_of(shards_of(site.job, site.plan, site.memory_bandwidth), nodes.size());
  Seconds best = Seconds::infinity();
  for (const int rank : ranks_apart(site.platform, site.placement, nodes, site.plan, profile)) {
    const Placement alone{{site.placement.device_of_rank[static_cast<std::size_t>(rank)]}, 1};
    best = std::min(best, in_step(site, layout_of(site, alone, false), factor, nullptr).end);
  }
  return best;
}

UpdateLog server_updates(const ServerSite& site, int iterations) {
  const bool waits = site.plan.mode == ServerMode::synchronous;
  const Layout layout = layout_of(site, site.placement, waits && site.variability.is_uniform());
  GroupFactors factors(site.variability, layout.network);
  ParameterServer strategy(site.job, site.plan, layout.shards, groups_of(site, layout), std::ref(factors), iterations,
                           nullptr, site.slots);
  const auto network = network_of(site, layout.network);
  ServerSimulation(layout.network, *network).run(strategy);
  return waits ? updates_in_step(strategy.finished(), layout.network.groups.size())
               : updates_one_by_one(strategy.finished());
}

}  // namespace farandole
