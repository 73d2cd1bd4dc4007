#include "platform/topologies/node_tree.hpp"

#include <algorithm>
#include <utility>

namespace farandole { inline namespace platform {

int add_cable(std::vector<Link>& links, const std::string& name, const Topology::LinkRate& rate, Seconds latency) {
  const int up = static_cast<int>(links.size());
  links.push_back({name + "/up", rate.effective(), latency, rate.wire});
  links.push_back({name + "/down", rate.effective(), latency, rate.wire});
  return up;
}

NodeTree::NodeTree(const Topology& topology, std::vector<Link>& links) : links_(links) {
  const auto count = static_cast<std::size_t>(topology.devices_per_node);
  if (!topology.pcie) {
    devices_.assign(count, 0);
    return;
  }
  const std::vector<int> hubs = add_hubs(*topology.pcie, topology.devices_per_node);
  for (std::size_t local = 0; local < count; ++local) {
    const int hub = hubs[local * hubs.size() / count];
    devices_.push_back(add_child(hub, "device" + std::to_string(local), topology.pcie->link));
  }
}

int NodeTree::add_child(int parent, const std::string& name, const Topology::LinkRate& rate) {
  const int up = add_cable(links_, name, rate, rate.latency);
  vertices_.push_back({name, parent, up, up + 1});
  return static_cast<int>(vertices_.size()) - 1;
}

std::vector<int> NodeTree::add_sockets(const Topology::PcieTree& pcie) {
  std::vector<int> sockets{0};
  for (int socket = 1; socket < pcie.sockets; ++socket) {
    sockets.push_back(add_child(0, "socket" + std::to_string(socket), pcie.interconnect.value()));
  }
  return sockets;
}

/// The vertices devices are attached to, one per PCIe switch or, without switches, one per socket.
std::vector<int> NodeTree::add_hubs(const Topology::PcieTree& pcie, int devices) {
  const std::vector<int> sockets = add_sockets(pcie);
  if (pcie.devices_per_switch == 1) return sockets;
  const int switches = devices / pcie.devices_per_switch;
  std::vector<int> hubs;
  for (int index = 0; index < switches; ++index) {
    const int socket = sockets[static_cast<std::size_t>(index * pcie.sockets / switches)];
    hubs.push_back(add_child(socket, "switch" + std::to_string(index), pcie.link));
  }
  return hubs;
}

int NodeTree::part(const std::string& name) const {
  return static_cast<int>(std::ranges::find(vertices_, name, &Vertex::name) - vertices_.begin());
}

int NodeTree::hub(int local) const {
  return std::max(at(device(local)).parent, 0);
}

int NodeTree::socket_of(int vertex) const {
  while (!at(vertex).name.starts_with("socket")) vertex = at(vertex).parent;
  return vertex;
}

Path NodeTree::climb(int from, int to) const {
  Path path;
  Path descent;
  while (from != to) {
    // A parent stands before its children, so the vertex with the larger index cannot be above the other: it climbs.
    const bool source_climbs = from > to;
    const Vertex& vertex = at(source_climbs ? from : to);
    (source_climbs ? path : descent).push_back(source_climbs ? vertex.up : vertex.down);
    (source_climbs ? from : to) = vertex.parent;
  }
  path.insert(path.end(), descent.rbegin(), descent.rend());
  return path;
}

}}  // namespace farandole::platform
