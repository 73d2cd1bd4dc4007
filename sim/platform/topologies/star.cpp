#include "platform/topologies/star.hpp"

#include "platform/topologies/node.hpp"

namespace farandole {

Platform build_star(const Topology& topology, int nodes) {
  Platform platform = empty_platform(topology, nodes);
  const int network_switch = add_vertex(platform, {});
  for (int node = 0; node < nodes; ++node) {
    // A route between nodes crosses one NIC upwards and one downwards; half the latency on each adds up to the file's.
    const std::string name = node_name(node);
    const int head = add_child(platform, network_switch, name + "/nic0", topology.nic, topology.nic.latency / 2);
    add_devices(platform, topology, node, head);
  }
  return platform;
}

}  // namespace farandole
