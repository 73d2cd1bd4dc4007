#include "platform/topology.hpp"

#include <fmt/format.h>

#include "config/section.hpp"
#include "platform/topologies/kinds.hpp"
#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Everything from the file but links and network.
Platform platform_of(const Topology& topology, int nodes) {
  Platform platform;
  platform.name = topology.name;
  platform.device = topology.device;
  platform.measurements = topology.measurements;
  platform.nodes = nodes;
  platform.devices_per_node = topology.devices_per_node;
  platform.node = node_template(topology);
  platform.transport = topology.transport;
  platform.mpi = topology.mpi;
  platform.flow_rate = topology.nic.flow_rate;
  platform.ack_overhead = topology.nic.ack_overhead;
  platform.device_spread = topology.device_spread;
  platform.step_jitter = topology.step_jitter;
  return platform;
}

}  // namespace

BytesPerSecond Topology::LinkRate::effective() const {
  const BytesPerSecond payload = wire * payload_share;
  if (!host_rate) return payload;
  return 1.0 / (1.0 / payload + 1.0 / *host_rate);
}

NodeLayout layout_of(const Topology& topology) {
  return {topology.devices_per_node, topology.nodes, topology.nodes_per_group, topology.unit};
}

Platform build(const Topology& topology, int nodes, const Value& where) {
  if (nodes < 1) where.fail("at least one node", std::to_string(nodes) + " nodes");
  if (topology.nodes && nodes > *topology.nodes) {
    where.fail("at most the " + std::to_string(*topology.nodes) + " nodes of " + topology.name,
               std::to_string(nodes) + " nodes");
  }
  if (nodes > most_devices / topology.devices_per_node) {
    where.fail("at most " + std::to_string(most_devices) + " devices",
               std::to_string(nodes) + " nodes of " + std::to_string(topology.devices_per_node));
  }
  Platform platform = platform_of(topology, nodes);
  constexpr int most_links_of_nodes = 1 << 24;
  require_at_most(Count(nodes) * platform.node.links.size(), most_links_of_nodes, "links within nodes", where);
  add_nodes(platform);
  topology.network(platform, where);
  check_ports(platform, where);
  apply(topology.condition, platform, where);
  return platform;
}

Platform build_for(const Topology& topology, const Placement& placement, const Value& where) {
  const int needed = placement.nodes_needed(topology.devices_per_node);
  const int nodes = layout_of(topology).nodes_for(needed);
  if (needed > nodes) {
    where.fail(fmt::format("at most {} ranks, {} nodes with {} slots each, on {}", nodes * topology.devices_per_node,
                           nodes, topology.devices_per_node, topology.name),
               fmt::format("{} ranks on {} nodes", placement.device_of_rank.size(), needed));
  }
  return build(topology, nodes, where);
}

}}  // namespace farandole::platform
