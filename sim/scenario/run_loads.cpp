#include <utility>

#include "scenario/apply_effects.hpp"
#include "scenario/network_loads.hpp"
#include "scenario/train.hpp"
#include "simulate/link_loads.hpp"
#include "training/servers/server_network.hpp"

namespace farandole::inline scenario {
namespace {

RoutedSchedule route(const Scenario& scenario, const Platform& platform, Operation operation, Bytes size) {
  const Placement& placement = scenario.platform.placement;
  const auto library = scenario.libraries.find(operation);
  if (library == scenario.libraries.end()) return {schedule_of(scenario, operation), platform, placement};
  const LibraryJob job{platform, placement, operation, 0, library->second.compute_capability, scenario.platform.scale};
  return library->second.library->planner(job).plan(size).route();
}

std::vector<Bytes> bytes_of_collectives(const Scenario& scenario, const TrainingRun& run, const Platform& platform) {
  std::vector<Bytes> all(platform.links.size());
  if (scenario.platform.ranks == 1) return all;
  for (const auto& [collective, times] : run.collectives) {
    const auto& [operation, size] = collective;
    if (size == Bytes(0)) continue;
    const std::vector<Bytes> bytes = link_bytes(route(scenario, platform, operation, size), size);
    for (std::size_t link = 0; link < all.size(); ++link) all[link] += bytes[link] * times;
  }
  return all;
}

}  // namespace

NetworkLoads loads_of(const Scenario& scenario, const TrainingRun& run, const std::vector<Shard>& shards) {
  Platform platform = platform_of(scenario);
  const auto& servers = scenario.strategy.servers;
  std::vector<Bytes> bytes = servers ? server_link_bytes(platform, scenario.platform.placement, *servers, shards)
                                     : bytes_of_collectives(scenario, run, platform);
  return loads_over(std::move(platform), std::move(bytes), run.iteration);
}

}  // namespace farandole::inline scenario
