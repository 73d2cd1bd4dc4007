#include "simulate/servers/server_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "simulate/servers/fluid_messages.hpp"
#include "simulate/servers/server_simulation.hpp"
#include "simulate/servers/shared_links.hpp"
#include "training/strategies/parameter_server.hpp"

namespace farandole {
namespace {

constexpr int iterations_looked_at = 8;

/// Whether all ranks compute alike, in every iteration as in the first.
bool is_uniform(const Variability& variability) {
  const RankTimes first = variability.factors(0);
  for (int iteration = 0; iteration < iterations_looked_at; ++iteration) {
    if (!(variability.factors(iteration) == first[0]).all()) return false;
  }
  return true;
}

/// Whether an iteration depends on its slowest worker alone: with a barrier, unless every worker is looked at.
bool keeps_step(const ServerSite& site, bool uniform) {
  return site.plan.mode == ServerMode::synchronous && (uniform || site.fidelity != Fidelity::message);
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
std::unique_ptr<MessageNetwork> network_of(const ServerSite& site, const ServerNetwork& layout, bool each_alone) {
  const bool is_closed = site.fidelity == Fidelity::analytic || (each_alone && site.fidelity == Fidelity::flow);
  if (is_closed) return std::make_unique<SharedLinks>(layout.capacities, layout.congestion);
  return std::make_unique<FluidMessages>(layout.capacities, layout.congestion);
}

/// What is known of a mean iteration, in seconds.
struct Mean {
  Seconds iteration;
  Seconds computing;
  Seconds waited;
  double staleness = 0;
  std::vector<Seconds> durations;
};

/// All groups start and end their iterations together.
Mean mean_of_barriers(const std::vector<WorkerIteration>& finished, std::size_t groups, int warmup) {
  Mean mean;
  const auto measured = static_cast<double>(finished.size() / groups) - warmup;
  for (auto i = static_cast<std::size_t>(warmup) * groups; i < finished.size(); i += groups) {
    Seconds computing;
    for (std::size_t g = 0; g < groups; ++g) computing = std::max(computing, finished[i + g].computing);
    const Seconds start = i == 0 ? Seconds(0) : finished[i - 1].end;
    mean.durations.push_back(finished[i + groups - 1].end - start);
    mean.iteration += mean.durations.back() / measured;
    mean.computing += computing / measured;
  }
  return mean;
}

/// The share of an iteration that lies in a stretch of time.
double share_within(const WorkerIteration& iteration, Seconds from, Seconds to) {
  const Seconds length = iteration.end - iteration.start;
  const Seconds inside = std::min(iteration.end, to) - std::max(iteration.start, from);
  return length > Seconds(0) ? std::max(0.0, inside / length) : 0;
}

/// From when the last group is warm to when the slowest has done its iterations; all are at work all the time.
Mean mean_of_stretch(const std::vector<WorkerIteration>& finished, const ServerNetwork& network, int warmup,
                     int iterations) {
  std::vector<int> done(network.groups.size(), 0);
  Seconds from;
  Seconds to;
  for (const WorkerIteration& iteration : finished) {
    const int number = ++done[static_cast<std::size_t>(iteration.group)];
    if (number == warmup) from = std::max(from, iteration.end);
    if (number == warmup + iterations) to = std::max(to, iteration.end);
  }
  Mean mean;
  double sum = 0;
  for (const WorkerIteration& iteration : finished) {
    const double share =
        share_within(iteration, from, to) * network.groups[static_cast<std::size_t>(iteration.group)].workers;
    if (share == 0) continue;
    sum += share;
    mean.durations.push_back(iteration.end - iteration.start);
    mean.iteration += share * mean.durations.back();
    mean.computing += share * iteration.computing;
    mean.waited += share * iteration.waited;
    mean.staleness += share * iteration.staleness;
  }
  if (sum == 0) return mean;
  for (Seconds Mean::*part : {&Mean::iteration, &Mean::computing, &Mean::waited}) mean.*part /= sum;
  mean.staleness /= sum;
  return mean;
}

Breakdown break_down(const Mean& mean, const Job& job) {
  Breakdown parts;
  parts.compute = job.backward_end;  // servers update
  parts.exposed_communication = std::max(Seconds(0), mean.iteration - mean.computing - mean.waited);
  parts.straggler = mean.iteration - parts.compute - parts.exposed_communication;
  if (parts.straggler < Seconds(0)) {
    parts.compute += parts.straggler;
    parts.straggler = Seconds(0);
  }
  return parts;
}

std::vector<WorkerGroup> groups_of(const ServerNetwork& network) {
  std::vector<WorkerGroup> groups;
  for (const ServerNetwork::Group& group : network.groups) {
    groups.push_back({static_cast<double>(group.workers), group.bus});
  }
  return groups;
}

/// An iteration whose workers all compute as the slowest does, so many times slower than nominal.
Seconds time_in_step(const ServerSite& site, const ServerNetwork& layout, double factor, Timeline* timeline) {
  const RankTimes factors = RankTimes::Constant(static_cast<Eigen::Index>(layout.groups.size()), factor);
  ParameterServer strategy(
      site.job, site.plan, shards_of(site.job, site.plan, site.memory_bandwidth), groups_of(layout),
      [&](int /*iteration*/) -> const RankTimes& { return factors; }, 1, timeline);
  const auto network = network_of(site, layout, false);
  ServerSimulation(layout, *network).run(strategy);
  return strategy.finished().back().end;
}

/// Simulated for a few speeds of the slowest worker, and for those between them by straight lines.
Mean mean_in_step(const ServerSite& site, const ServerNetwork& layout, const Measure& measure) {
  constexpr int speeds = 5;
  std::vector<double> slowest;
  for (int i = 0; i < measure.iterations; ++i) {
    slowest.push_back(site.variability.factors(measure.warmup + i).maxCoeff());
  }
  const auto [least, most] = std::ranges::minmax(slowest);
  const double step = (most - least) / (speeds - 1);
  std::vector<Seconds> times;
  for (int i = 0; i < (step > 0 ? speeds : 1); ++i) {
    times.push_back(time_in_step(site, layout, least + i * step, i == 0 ? site.timeline : nullptr));
  }
  Mean mean;
  for (const double factor : slowest) {
    const double at = step > 0 ? (factor - least) / step : 0;
    const auto below = std::min(static_cast<std::size_t>(at), std::max<std::size_t>(times.size(), 2) - 2);
    const Seconds rise = times.size() > 1 ? times[below + 1] - times[below] : Seconds(0);
    mean.durations.push_back(times[below] + rise * (at - static_cast<double>(below)));
    mean.iteration += mean.durations.back() / measure.iterations;
    mean.computing += site.job.backward_end * factor / measure.iterations;
  }
  return mean;
}

/// Every worker as it is, iteration after iteration.
Mean mean_of_all(const ServerSite& site, const ServerNetwork& layout, const Measure& measure) {
  GroupFactors factors(site.variability, layout);
  ParameterServer strategy(site.job, site.plan, shards_of(site.job, site.plan, site.memory_bandwidth),
                           groups_of(layout), std::ref(factors), measure.warmup + measure.iterations, site.timeline);
  const bool each_alone = std::ranges::all_of(layout.groups, [](const auto& group) { return group.workers == 1; });
  const auto network = network_of(site, layout, each_alone);
  ServerSimulation(layout, *network).run(strategy);
  if (site.plan.mode == ServerMode::synchronous) {
    return mean_of_barriers(strategy.finished(), layout.groups.size(), measure.warmup);
  }
  return mean_of_stretch(strategy.finished(), layout, measure.warmup, measure.iterations);
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

}  // namespace

TrainingRun run_with_servers(const ServerSite& site, const Measure& measure) {
  const bool uniform = is_uniform(site.variability);
  const bool in_step = keeps_step(site, uniform);
  const bool together = site.folding == FoldingPolicy::where_exact && (in_step || uniform);
  const auto nodes = server_nodes_of(site.plan, site.platform, site.placement);
  const ServerNetwork layout = make_server_network(site.platform, site.placement, nodes, site.plan, together);
  Mean mean = in_step ? mean_in_step(site, layout, measure) : mean_of_all(site, layout, measure);
  TrainingRun run;
  run.iteration = mean.iteration;
  run.durations = std::move(mean.durations);
  run.breakdown = break_down(mean, site.job);
  run.folded = std::ranges::any_of(layout.groups, [](const auto& group) { return group.workers > 1; });
  run.mean_staleness = mean.staleness;
  return run;
}

UpdateLog server_updates(const ServerSite& site, int iterations) {
  const bool waits = site.plan.mode == ServerMode::synchronous;
  const auto nodes = server_nodes_of(site.plan, site.platform, site.placement);
  const ServerNetwork layout =
      make_server_network(site.platform, site.placement, nodes, site.plan, waits && is_uniform(site.variability));
  GroupFactors factors(site.variability, layout);
  ParameterServer strategy(site.job, site.plan, shards_of(site.job, site.plan, site.memory_bandwidth),
                           groups_of(layout), std::ref(factors), iterations, nullptr);
  const auto network = network_of(site, layout, !waits);
  ServerSimulation(layout, *network).run(strategy);
  return waits ? updates_in_step(strategy.finished(), layout.groups.size()) : updates_one_by_one(strategy.finished());
}

}  // namespace farandole
