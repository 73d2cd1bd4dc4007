#include <algorithm>
#include <map>

#include "platform/host_route.hpp"
#include "scenario/parts.hpp"

namespace farandole { inline namespace scenario {

BytesPerSecond host_copy_rate(const PlatformSpec& spec, const Placement& placement, double touches) {
  const Platform& platform = spec.platform;
  const int node = platform.node_of(placement.device_of_rank.front());
  std::map<int, double> crossed;
  int ranks = 0;
  for (const int device : placement.device_of_rank) {
    if (platform.node_of(device) != node) continue;
    ++ranks;
    const Route route = route_to_host(platform, device, node);
    for (const int link : route.links) crossed[link] += 1.0 / route.paths;
  }
  const BytesPerSecond memory = spec.device.host_memory_bandwidth;
  BytesPerSecond rate = memory > BytesPerSecond(0) ? memory / (touches * ranks) : BytesPerSecond::infinity();
  for (const auto& [link, times] : crossed) {
    rate = std::min(rate, platform.links[static_cast<std::size_t>(link)].capacity / times);
  }
  return rate;
}

Seconds offloaded_update(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const PlatformSpec& spec = scenario.platform;
  const int shards = scenario.strategy.shards_of(spec.ranks);
  const double parameters = static_cast<double>(workload.of_rank().parameters()) / shards;
  const BytesPerSecond copies = host_copy_rate(spec, spec.placement, pinned) * scenario.mechanisms.copy_rate;
  const int beside = spec.placement.ranks_per_node(spec.platform.devices_per_node);
  const Bytes moved = parameters * update_traffic(workload.optimizer) * element_size(GradientType::fp32);
  const Bytes copied = parameters * (element_size(workload.gradient_type) + element_size(workload.precision));
  return copied / copies + moved / (spec.device.host_memory_bandwidth / beside);
}

}}  // namespace farandole::scenario
