#include "platform/topologies/node.hpp"

#include <utility>

namespace farandole {
namespace {

/// A CPU socket, a PCIe switch or a device, on its way up to the socket that owns the NIC. A parent stands before its
/// children.
struct Vertex {
  int parent = -1;
  int up = -1;
  int down = -1;
};

class Builder {
 public:
  explicit Builder(const Topology& topology) : topology_(topology) {}
  NodeTemplate build();

 private:
  struct Ends {
    int up;
    int down;
  };
  Ends add_cable(const std::string& name, const Topology::LinkRate& rate, Seconds latency);
  int add_child(int parent, const std::string& name, const Topology::LinkRate& rate);
  std::vector<int> add_sockets(const Topology::PcieTree& pcie);
  std::vector<int> add_hubs(const Topology::PcieTree& pcie);
  void add_devices();
  void add_ports();
  [[nodiscard]] Path climb(int from, int to) const;
  [[nodiscard]] Path within(int from, int to) const;
  void add_ways();

  const Topology& topology_;
  NodeTemplate node_;
  std::vector<Vertex> tree_{{}};  // the socket with the NIC is the root
  std::vector<int> devices_;      // their vertices
  std::vector<Ends> ports_;       // of each device into NVLink, where there is any
};

Builder::Ends Builder::add_cable(const std::string& name, const Topology::LinkRate& rate, Seconds latency) {
  const int up = static_cast<int>(node_.links.size());
  node_.links.push_back({name + "/up", rate.effective(), latency, rate.wire});
  node_.links.push_back({name + "/down", rate.effective(), latency, rate.wire});
  return {up, up + 1};
}

int Builder::add_child(int parent, const std::string& name, const Topology::LinkRate& rate) {
  const Ends cable = add_cable(name, rate, rate.latency);
  tree_.push_back({parent, cable.up, cable.down});
  return static_cast<int>(tree_.size()) - 1;
}

/// Socket 0 is the root, the others reach it over the interconnect.
std::vector<int> Builder::add_sockets(const Topology::PcieTree& pcie) {
  std::vector<int> sockets{0};
  for (int socket = 1; socket < pcie.sockets; ++socket) {
    sockets.push_back(add_child(0, "socket" + std::to_string(socket), pcie.interconnect.value()));
  }
  return sockets;
}

/// The vertices devices hang on, one per PCIe switch or, without switches, one per socket.
std::vector<int> Builder::add_hubs(const Topology::PcieTree& pcie) {
  const std::vector<int> sockets = add_sockets(pcie);
  if (pcie.devices_per_switch == 1) return sockets;
  const int switches = topology_.devices_per_node / pcie.devices_per_switch;
  std::vector<int> hubs;
  for (int index = 0; index < switches; ++index) {
    const int socket = sockets[static_cast<std::size_t>(index * pcie.sockets / switches)];
    hubs.push_back(add_child(socket, "switch" + std::to_string(index), pcie.link));
  }
  return hubs;
}

void Builder::add_devices() {
  const auto count = static_cast<std::size_t>(topology_.devices_per_node);
  if (!topology_.pcie) {
    devices_.assign(count, 0);
    return;
  }
  const std::vector<int> hubs = add_hubs(*topology_.pcie);
  for (std::size_t local = 0; local < count; ++local) {
    const int hub = hubs[local * hubs.size() / count];
    devices_.push_back(add_child(hub, "device" + std::to_string(local), topology_.pcie->link));
  }
}

void Builder::add_ports() {
  if (!topology_.nvlink) return;
  for (int local = 0; local < topology_.devices_per_node; ++local) {
    // As with the NIC: a pair crosses one port into the fabric and one out of it.
    const Topology::LinkRate& rate = topology_.nvlink->link;
    ports_.push_back(add_cable("nvlink" + std::to_string(local), rate, rate.latency / 2));
  }
}

Path Builder::climb(int from, int to) const {
  Path path;
  Path descent;
  while (from != to) {
    // A parent stands before its children, so the vertex with the larger index cannot be above the other: it climbs.
    const bool source_climbs = from > to;
    const Vertex& vertex = tree_[static_cast<std::size_t>(source_climbs ? from : to)];
    (source_climbs ? path : descent).push_back(source_climbs ? vertex.up : vertex.down);
    (source_climbs ? from : to) = vertex.parent;
  }
  path.insert(path.end(), descent.rbegin(), descent.rend());
  return path;
}

Path Builder::within(int from, int to) const {
  const auto sender = static_cast<std::size_t>(from);
  const auto receiver = static_cast<std::size_t>(to);
  if (from == to) return {};
  if (!ports_.empty()) return {ports_[sender].up, ports_[receiver].down};
  return climb(devices_[sender], devices_[receiver]);
}

void Builder::add_ways() {
  for (int from = 0; from < node_.devices; ++from) {
    for (int to = 0; to < node_.devices; ++to) node_.between.push_back({within(from, to)});
  }
  const NodeTemplate::Nic nic = node_.nics.front();
  for (const int device : devices_) {
    Path out = climb(device, 0);
    out.push_back(nic.up);
    node_.to_nic.push_back({std::move(out)});
    Path in{nic.down};
    const Path rest = climb(0, device);
    in.insert(in.end(), rest.begin(), rest.end());
    node_.from_nic.push_back({std::move(in)});
  }
}

NodeTemplate Builder::build() {
  node_.devices = topology_.devices_per_node;
  // A route between nodes crosses one NIC upwards and one downwards; half the latency on each adds up to the file's.
  const Ends nic = add_cable("nic0", topology_.nic, topology_.nic.latency / 2);
  node_.nics.push_back({nic.up, nic.down});
  node_.nics_of_device.assign(static_cast<std::size_t>(node_.devices), {0});
  add_devices();
  add_ports();
  add_ways();
  return std::move(node_);
}

}  // namespace

NodeTemplate node_template(const Topology& topology) {
  return Builder(topology).build();
}

void add_nodes(Platform& platform) {
  platform.links.reserve(static_cast<std::size_t>(platform.nodes) * platform.node.links.size());
  for (int node = 0; node < platform.nodes; ++node) {
    const std::string prefix = node_name(node) + "/";
    for (const Link& link : platform.node.links) {
      platform.links.push_back(link);
      platform.links.back().name.insert(0, prefix);
    }
  }
}

std::string node_name(int node) {
  return "node" + std::to_string(node);
}

}  // namespace farandole
