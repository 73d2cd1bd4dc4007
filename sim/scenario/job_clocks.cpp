#include "scenario/job_clocks.hpp"

#include <utility>

#include "scenario/apply_effects.hpp"
#include "scenario/train.hpp"
#include "simulate/slowdown.hpp"
#include "simulate/uncontended.hpp"

namespace farandole {
namespace {

/// What the sources that are on leave of its links.
Platform beside_sources(Platform platform, const TrafficSpec& traffic, const std::vector<bool>& sources) {
  for (std::size_t source = 0; source < sources.size(); ++source) {
    if (!sources[source]) continue;
    for (const int link : traffic.on_off[source].links) {
      platform.links[static_cast<std::size_t>(link)].capacity -= traffic.on_off[source].rate;
    }
  }
  return platform;
}

Slowdown slowdown_of(const Scenario& scenario, const Placement& placement) {
  const auto route = [&scenario, placement, quiet = platform_of(scenario)](const Party& party,
                                                                           const std::vector<bool>& sources) {
    const bool is_ours = party.job == 0;
    const Scenario& job = is_ours ? scenario : *scenario.traffic.jobs[party.job - 1];
    const Placement& placed = is_ours ? placement : job.platform.placement;
    return RoutedSchedule(build_schedule(job, placed, party.operation),
                          beside_sources(quiet, scenario.traffic, sources), placed);
  };
  return Slowdowns(scenario.fidelity, route);
}

}  // namespace

Schedule build_schedule(const Scenario& scenario, const Placement& placement, Operation operation, bool hierarchical) {
  Shape shape(static_cast<int>(placement.device_of_rank.size()));
  shape.ranks_per_node = placement.ranks_per_node(scenario.platform.platform.devices_per_node);
  if (hierarchical) return find_algorithm(operation, "hierarchical")->build(shape);
  const bool is_fixed = !scenario.libraries.contains(operation);
  return (is_fixed ? scenario.collectives.at(operation) : *find_algorithm(operation, "ring")).build(shape);
}

std::shared_ptr<Traffic> traffic_beside(const Scenario& scenario, const Placement& placement) {
  const TrafficSpec& spec = scenario.traffic;
  const bool is_empty = spec.on_off.empty() && spec.jobs.empty();
  if (is_empty || !scenario.mechanisms.contention || placement.device_of_rank.size() == 1) return nullptr;
  std::vector<OnOffSource> sources;
  for (const OnOffTraffic& own : spec.on_off) {
    sources.push_back(
        {own.on.mean, own.off.mean, own.on.spread, own.off.spread, scenario.seed + sources.size() * 1000003});
  }
  std::vector<IterationProfile> others;
  for (const auto& job : spec.jobs) {
    Scenario alone = *job;
    alone.seed = scenario.seed;
    alone.fidelity = scenario.fidelity;
    alone.folding = scenario.folding;
    alone.mechanisms = scenario.mechanisms;
    others.push_back(profile_of(alone));
  }
  return std::make_shared<Traffic>(sources, std::move(others), slowdown_of(scenario, placement));
}

CollectiveClocks clocks_of(const Scenario& scenario, const Placement& placement, std::shared_ptr<Traffic> traffic) {
  return CollectiveClocks([&scenario, platform = platform_of(scenario), placement, traffic](
                              Operation operation, bool hierarchical) -> std::unique_ptr<CollectiveClock> {
    const auto found = scenario.libraries.find(operation);
    if (found != scenario.libraries.end() && !hierarchical) {
      const Mechanisms& mechanisms = scenario.mechanisms;
      const LibraryJob job{platform,
                           placement,
                           operation,
                           0,
                           found->second.compute_capability,
                           scenario.platform.scale,
                           {mechanisms.network_rate, mechanisms.latency},
                           mechanisms.contention};
      return make_library_clock(*found->second.library, job, scenario.fidelity, scenario.folding);
    }
    RoutedSchedule routed(build_schedule(scenario, placement, operation, hierarchical), platform, placement);
    auto alone = scenario.mechanisms.contention ? std::nullopt : uncontended(routed);
    auto quiet =
        make_collective_clock(scenario.fidelity, alone ? std::move(*alone) : std::move(routed), scenario.folding);
    return traffic ? make_traffic_clock(traffic, operation, std::move(quiet)) : std::move(quiet);
  });
}

std::unique_ptr<SharedStreams> streams_of(const Scenario& scenario, const Placement& placement) {
  if (scenario.strategy.streams == 1 || placement.device_of_rank.size() == 1) return nullptr;
  const Platform platform = platform_of(scenario);
  std::map<Operation, RoutedSchedule> schedules;
  for (const auto& [operation, algorithm] : scenario.collectives) {
    RoutedSchedule routed(build_schedule(scenario, placement, operation), platform, placement);
    auto alone = scenario.mechanisms.contention ? std::nullopt : uncontended(routed);
    schedules.emplace(operation, alone ? std::move(*alone) : std::move(routed));
  }
  return std::make_unique<SharedStreams>(scenario.fidelity, schedules, scenario.strategy.streams,
                                         scenario.platform.platform.transport.launch * scenario.mechanisms.latency);
}

std::vector<Neighbour> neighbours_of(const Scenario& scenario, Traffic* traffic) {
  std::vector<Neighbour> neighbours;
  if (traffic == nullptr) return neighbours;
  const std::vector<Seconds> beside = traffic->iterations_of_others();
  const std::vector<Seconds> alone = traffic->iterations_alone();
  for (std::size_t job = 0; job < scenario.traffic.jobs.size(); ++job) {
    const Scenario& other = *scenario.traffic.jobs[job];
    neighbours.push_back({other.workload.model.name, other.platform.ranks, alone[job], beside[job]});
  }
  return neighbours;
}

}  // namespace farandole
