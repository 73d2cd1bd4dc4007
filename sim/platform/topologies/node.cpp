#include "platform/topologies/node.hpp"

#include <utility>

namespace farandole {
namespace {

struct Cable {
  int up;
  int down;
};

Cable add_cable(Platform& platform, const std::string& name, const Topology::LinkRate& rate, Seconds latency) {
  const int up = static_cast<int>(platform.links.size());
  platform.links.push_back({name + "/up", rate.effective(), latency, rate.wire});
  platform.links.push_back({name + "/down", rate.effective(), latency, rate.wire});
  return {up, up + 1};
}

std::string part_name(int node, const char* part, int index) {
  return node_name(node) + "/" + part + std::to_string(index);
}

/// The vertices of the CPU sockets; socket 0 is the head, the others reach it over the interconnect.
std::vector<int> add_sockets(Platform& platform, const Topology::PcieTree& pcie, int node, int head) {
  std::vector<int> sockets{head};
  for (int socket = 1; socket < pcie.sockets; ++socket) {
    const Topology::LinkRate& rate = pcie.interconnect.value();
    sockets.push_back(add_child(platform, head, part_name(node, "socket", socket), rate, rate.latency));
  }
  return sockets;
}

/// The vertices devices hang on, one per PCIe switch or, without switches, one per socket.
std::vector<int> add_switches(Platform& platform, const Topology& topology, int node, std::vector<int> sockets) {
  const Topology::PcieTree& pcie = topology.pcie.value();
  if (pcie.devices_per_switch == 1) return sockets;
  const int switches = topology.devices_per_node / pcie.devices_per_switch;
  std::vector<int> hubs;
  for (int index = 0; index < switches; ++index) {
    const int socket = sockets[static_cast<std::size_t>(index * pcie.sockets / switches)];
    hubs.push_back(add_child(platform, socket, part_name(node, "switch", index), pcie.link, pcie.link.latency));
  }
  return hubs;
}

/// The vertex of each device of the node.
std::vector<int> add_pcie(Platform& platform, const Topology& topology, int node, int head) {
  const Topology::PcieTree& pcie = topology.pcie.value();
  const auto hubs = add_switches(platform, topology, node, add_sockets(platform, pcie, node, head));
  std::vector<int> vertices;
  for (int local = 0; local < topology.devices_per_node; ++local) {
    const auto hub =
        static_cast<std::size_t>(local) * hubs.size() / static_cast<std::size_t>(topology.devices_per_node);
    vertices.push_back(add_child(platform, hubs[hub], part_name(node, "device", local), pcie.link, pcie.link.latency));
  }
  return vertices;
}

}  // namespace

Platform empty_platform(const Topology& topology, int nodes) {
  Platform platform;
  platform.name = topology.name;
  platform.device = topology.device;
  platform.measurements = topology.measurements;
  platform.nodes = nodes;
  platform.devices_per_node = topology.devices_per_node;
  platform.transport = topology.transport;
  platform.device_spread = topology.device_spread;
  platform.step_jitter = topology.step_jitter;
  platform.devices.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(topology.devices_per_node));
  return platform;
}

std::string node_name(int node) {
  return "node" + std::to_string(node);
}

int add_vertex(Platform& platform, Vertex vertex) {
  platform.vertices.push_back(vertex);
  return static_cast<int>(platform.vertices.size()) - 1;
}

int add_child(Platform& platform, int parent, const std::string& name, const Topology::LinkRate& rate,
              Seconds latency_each_way) {
  const Cable cable = add_cable(platform, name, rate, latency_each_way);
  return add_vertex(platform, {parent, cable.up, cable.down});
}

void add_devices(Platform& platform, const Topology& topology, int node, int head) {
  std::vector<int> vertices(static_cast<std::size_t>(topology.devices_per_node), head);
  if (topology.pcie) vertices = add_pcie(platform, topology, node, head);
  for (int local = 0; local < topology.devices_per_node; ++local) {
    DeviceSlot slot{node, local, vertices[static_cast<std::size_t>(local)], -1, -1};
    if (topology.nvlink) {
      // As with the NIC: a pair crosses one port into the fabric and one out of it.
      const Topology::LinkRate& rate = topology.nvlink->link;
      const Cable port = add_cable(platform, part_name(node, "nvlink", local), rate, rate.latency / 2);
      slot.fabric_up = port.up;
      slot.fabric_down = port.down;
    }
    platform.devices.push_back(slot);
  }
}

}  // namespace farandole
