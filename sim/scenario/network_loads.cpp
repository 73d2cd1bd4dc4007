#include "scenario/network_loads.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "scenario/apply_effects.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/pipeline.hpp"
#include "scenario/train.hpp"
#include "simulate/link_loads.hpp"
#include "training/servers/server_network.hpp"

namespace farandole { inline namespace scenario {
std::vector<LinkUse> NetworkLoads::busiest(std::size_t count) const {
  std::vector<LinkUse> uses;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Link& link = platform.links[i];
    if (bytes[i] > Bytes(0)) uses.push_back({link.name, bytes[i], link.capacity, utilisation[i]});
  }
  std::ranges::stable_sort(uses, std::greater{}, &LinkUse::utilisation);
  if (uses.size() > count) uses.resize(count);
  return uses;
}

/// What spreads over a bundle is on its members, too, beside what goes over each of them alone.
static void add_to_members(const Network& network, std::vector<Bytes>& bytes) {
  const auto at = [&](int link) -> Bytes& { return bytes[static_cast<std::size_t>(link)]; };
  for (const Bundle& bundle : network.bundles) {
    if (!bundle.carries || bundle.members.empty()) continue;
    Bytes alone;
    for (const int member : bundle.members) alone += bundle.counts_members ? at(member) : Bytes(0);
    const Bytes each = (at(bundle.link) - alone) * (bundle.hops / static_cast<double>(bundle.members.size()));
    for (const int member : bundle.members) at(member) += each;
  }
}

NetworkLoads loads_over(Platform platform, std::vector<Bytes> bytes, Seconds time) {
  const Links& links = platform.links;
  bytes.resize(links.size());
  add_to_members(platform.network, bytes);
  std::vector<double> utilisation(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (bytes[i] > Bytes(0)) utilisation[i] = bytes[i] / (links[i].capacity * time);
  }
  return {std::move(platform), std::move(bytes), std::move(utilisation)};
}

namespace {

RoutedSchedule route_operation(const Scenario& scenario, const Platform& platform, const Placement& placement,
                               Operation operation, Bytes size) {
  const auto library = scenario.libraries.find(operation);
  if (library == scenario.libraries.end()) {
    if (operation == Operation::parameter_server) return {schedule_of(scenario, operation), platform, placement};
    return {build_schedule(scenario, placement, operation), platform, placement};
  }
  const LibraryJob job{platform, placement, operation, 0, library->second.device, scenario.platform.scale};
  return library->second.library->planner(job).plan(size).route();
}

/// Of every group of the kind that met.
std::vector<Bytes> bytes_of_collectives(const Scenario& scenario, const TrainingRun& run, const Platform& platform) {
  std::vector<Bytes> all(platform.links.size());
  if (scenario.platform.ranks == 1) return all;
  const Placement& placement = scenario.platform.placement;
  for (const auto& [collective, times] : run.collectives) {
    const auto& [operation, size, group] = collective;
    if (size == Bytes(0)) continue;
    for (const std::vector<int>& members : members_of(scenario, group, placement)) {
      if (members.size() == 1) continue;
      const Placement of_group = placement_of(platform, placement, members);
      const std::vector<Bytes> bytes = link_bytes(route_operation(scenario, platform, of_group, operation, size), size);
      for (std::size_t link = 0; link < all.size(); ++link) all[link] += bytes[link] * times;
    }
  }
  return all;
}

/// Of a pipeline: what its stages' groups carry, and what each hands to the next and gets back for every micro-batch.
std::vector<Bytes> bytes_of_pipeline(const Scenario& scenario, const TrainingRun& run, const Platform& platform) {
  std::vector<Bytes> all(platform.links.size());
  const auto add = [&](const Scenario& part, const CollectiveCounts& collectives) {
    TrainingRun own;
    own.collectives = collectives;
    const std::vector<Bytes> bytes = bytes_of_collectives(part, own, platform);
    for (std::size_t link = 0; link < all.size(); ++link) all[link] += bytes[link];
  };
  const int stages = scenario.strategy.pipeline;
  const Placement& placement = scenario.platform.placement;
  const std::vector<Bytes> sizes = handed_on(scenario);
  const double passes = scenario.strategy.accumulation;
  std::vector<Scenario> parts;
  for (int stage = 0; stage < stages; ++stage) parts.push_back(stage_of(scenario, placement, stage));
  for (std::size_t stage = 0; stage < parts.size(); ++stage) {
    add(parts[stage], run.of_stages[stage]);
    if (stage + 1 == parts.size()) continue;
    const Placement& here = parts[stage].platform.placement;
    const Placement& there = parts[stage + 1].platform.placement;
    const CollectiveCounts messages{{{Operation::broadcast, sizes[stage], Group::neighbours}, passes}};
    add(pair_of(scenario, here, there), messages);
    add(pair_of(scenario, there, here), messages);
  }
  if (scenario.workload.staged.tied > 0) {
    const CollectiveCounts sum{{{Operation::allreduce, tied_gradient(scenario), Group::neighbours}, 1}};
    add(pair_of(scenario, parts.front().platform.placement, parts.back().platform.placement), sum);
  }
  return all;
}

}  // namespace

NetworkLoads loads_of(const Scenario& scenario, const TrainingRun& run, const std::vector<Shard>& shards) {
  Platform platform = platform_of(scenario);
  const auto& servers = scenario.strategy.servers;
  std::vector<Bytes> bytes = servers ? server_link_bytes(platform, scenario.platform.placement, *servers, shards)
                             : scenario.strategy.pipeline > 1 ? bytes_of_pipeline(scenario, run, platform)
                                                              : bytes_of_collectives(scenario, run, platform);
  return loads_over(std::move(platform), std::move(bytes), run.iteration);
}

}}  // namespace farandole::scenario
