#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/topologies/kinds.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {
namespace {

int add_cable(std::vector<Link>& links, const std::string& name, const Topology::LinkRate& rate, Seconds latency) {
  const int up = static_cast<int>(links.size());
  links.push_back({name + "/up", rate.effective(), latency, rate.wire});
  links.push_back({name + "/down", rate.effective(), latency, rate.wire});
  return up;
}

// The buses inside a node as a tree: CPU sockets, PCIe switches and devices, each with a cable up to its parent.
//
// Called by node.cpp, which turns it into ways. Socket 0 is the root; the other sockets reach it over the
// interconnect; switches are attached to sockets, devices to switches or to sockets. A node without buses is socket 0
// alone, with all devices on it at no cost.

class NodeTree {
 public:
  /// Adds the tree's links to `links`.
  NodeTree(const Topology& topology, std::vector<Link>& links) : links_(links) {
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

  /// The vertex of a socket or a switch: "socket0", "switch3"; there must be one of that name.
  [[nodiscard]] int part(const std::string& name) const {
    return static_cast<int>(std::ranges::find(vertices_, name, &Vertex::name) - vertices_.begin());
  }

  [[nodiscard]] int device(int local) const { return devices_[static_cast<std::size_t>(local)]; }
  /// What a device is attached to.
  [[nodiscard]] int hub(int local) const { return std::max(at(device(local)).parent, 0); }

  /// The socket at or above a vertex.
  [[nodiscard]] int socket_of(int vertex) const {
    while (!at(vertex).name.starts_with("socket")) vertex = at(vertex).parent;
    return vertex;
  }

  /// The links from one vertex to the other.
  [[nodiscard]] Path climb(int from, int to) const {
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

 private:
  struct Vertex {
    std::string name;
    int parent = -1;  // stands before its children
    int up = -1;
    int down = -1;
  };

  int add_child(int parent, const std::string& name, const Topology::LinkRate& rate) {
    const int up = add_cable(links_, name, rate, rate.latency);
    vertices_.push_back({name, parent, up, up + 1});
    return static_cast<int>(vertices_.size()) - 1;
  }

  std::vector<int> add_sockets(const Topology::PcieTree& pcie) {
    std::vector<int> sockets{0};
    for (int socket = 1; socket < pcie.sockets; ++socket) {
      sockets.push_back(add_child(0, "socket" + std::to_string(socket), pcie.interconnect.value()));
    }
    return sockets;
  }

  /// The vertices devices are attached to, one per PCIe switch or, without switches, one per socket.
  std::vector<int> add_hubs(const Topology::PcieTree& pcie, int devices) {
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

  [[nodiscard]] const Vertex& at(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)]; }

  std::vector<Link>& links_;
  std::vector<Vertex> vertices_{{"socket0"}};
  std::vector<int> devices_;  // their vertices; the root's where nothing lies between
};

class Builder {
 public:
  explicit Builder(const Topology& topology) : topology_(topology), nics_(add_nics()), tree_(topology, node_.links) {}

  NodeTemplate build() {
    node_.devices = topology_.devices_per_node;
    node_.nics = nics_;
    for (int device = 0; device < node_.devices; ++device) node_.nics_of_device.push_back(share_of_nics(device));
    if (topology_.nic.cpu_rate) {
      node_.cpu = static_cast<int>(node_.links.size());
      node_.links.push_back({"cpu", *topology_.nic.cpu_rate, Seconds(0), *topology_.nic.cpu_rate});
    }
    add_memories();
    add_nvlinks();
    add_ways();
    return std::move(node_);
  }

 private:
  std::vector<NodeTemplate::Nic> add_nics() {
    std::vector<NodeTemplate::Nic> nics(topology_.nics_at.size());
    for (std::size_t nic = 0; nic < nics.size() && topology_.has_nic(); ++nic) {
      // A route between nodes crosses one NIC upwards and one downwards; half the latency on each adds up to the
      // file's.
      const int up = add_cable(node_.links, "nic" + std::to_string(nic), topology_.nic, topology_.nic.latency / 2);
      nics[nic] = {up, up + 1};
    }
    return nics;
  }

  void add_memories() {
    if (!topology_.pcie || !topology_.pcie->staging) return;
    const Topology::LinkRate& memory = topology_.pcie->staging->memory;
    for (int socket = 0; socket < topology_.pcie->sockets; ++socket) {
      const std::string name = "socket" + std::to_string(socket);
      memories_[tree_.part(name)] = static_cast<int>(node_.links.size());
      node_.links.push_back({name + "/memory", memory.effective(), memory.latency, memory.wire});
    }
  }

  void add_nvlinks() {
    if (!topology_.nvlink) return;
    const Topology::LinkRate& rate = topology_.nvlink->link;
    for (const auto& [from, to, links] : topology_.nvlink->mesh) {
      Topology::LinkRate bundle = rate;
      bundle.wire *= links;
      const auto name = "nvlink" + std::to_string(from) + "-" + std::to_string(to);
      const int there = add_cable(node_.links, name, bundle, rate.latency);
      nvlinks_[{from, to}] = {there};
      nvlinks_[{to, from}] = {there + 1};
    }
    if (!topology_.nvlink->mesh.empty()) return;
    std::vector<int> ports;
    for (int local = 0; local < topology_.devices_per_node; ++local) {
      // As with the NIC: a pair crosses one port into the fabric and one out of it.
      ports.push_back(add_cable(node_.links, "nvlink" + std::to_string(local), rate, rate.latency / 2));
    }
    for (std::size_t from = 0; from < ports.size(); ++from) {
      for (std::size_t to = 0; to < ports.size(); ++to) {
        nvlinks_[{static_cast<int>(from), static_cast<int>(to)}] = {ports[from], ports[to] + 1};
      }
    }
  }

  enum class Reach : std::uint8_t { hub, socket, node };

  /// Those on the device's own switch or socket; where there are none, those under its socket; else all.
  [[nodiscard]] std::pair<Reach, std::vector<int>> nearest_nics(int device) const {
    std::vector<int> on_hub;
    std::vector<int> on_socket;
    std::vector<int> all;
    for (std::size_t nic = 0; nic < topology_.nics_at.size(); ++nic) {
      const int place = tree_.part(topology_.nics_at[nic]);
      const int index = static_cast<int>(nic);
      all.push_back(index);
      if (place == tree_.hub(device)) on_hub.push_back(index);
      if (tree_.socket_of(place) == tree_.socket_of(tree_.device(device))) on_socket.push_back(index);
    }
    if (!on_hub.empty()) return {Reach::hub, on_hub};
    if (!on_socket.empty()) return {Reach::socket, on_socket};
    return {Reach::node, all};
  }

  /// Devices that are nearest to the same NICs divide them: each its own NICs, or several one NIC.
  [[nodiscard]] std::vector<int> share_of_nics(int device) const {
    const auto nearest = nearest_nics(device);
    const std::vector<int>& nics = nearest.second;
    int before = 0;
    int sharers = 0;
    for (int other = 0; other < topology_.devices_per_node; ++other) {
      if (nearest_nics(other) != nearest) continue;
      if (other < device) ++before;
      ++sharers;
    }
    const auto count = static_cast<int>(nics.size());
    if (count >= sharers && count % sharers != 0) return nics;
    const auto first = nics.begin() + before * count / sharers;
    return {first, first + std::max(1, count / sharers)};
  }

  /// Up into the memory of a socket and down again, or straight where nothing is staged.
  [[nodiscard]] Path staged(int from, int to, int socket) const {
    if (memories_.empty()) return tree_.climb(from, to);
    Path path = tree_.climb(from, socket);
    path.push_back(memories_.at(socket));
    append_links(path, tree_.climb(socket, to));
    return path;
  }

  [[nodiscard]] Path within(int from, int to) const {
    if (from == to) return {};
    if (const auto direct = nvlinks_.find({from, to}); direct != nvlinks_.end()) return direct->second;
    const int sender = tree_.device(from);
    const int receiver = tree_.device(to);
    if (!memories_.empty() && topology_.pcie->staging->between_devices) {
      return staged(sender, receiver, tree_.socket_of(sender));
    }
    return tree_.climb(sender, receiver);
  }

  void add_ways() {
    for (int from = 0; from < node_.devices; ++from) {
      for (int to = 0; to < node_.devices; ++to) node_.between.push_back({within(from, to)});
    }
    for (int device = 0; device < node_.devices; ++device) {
      for (std::size_t nic = 0; nic < nics_.size(); ++nic) {
        const int place = tree_.part(topology_.nics_at[nic]);
        Path out = staged(tree_.device(device), place, tree_.socket_of(place));
        if (node_.cpu >= 0) out.push_back(node_.cpu);
        if (topology_.has_nic()) out.push_back(nics_[nic].up);
        node_.to_nic.push_back({std::move(out)});
      }
    }
    for (std::size_t nic = 0; nic < nics_.size(); ++nic) {
      for (int device = 0; device < node_.devices; ++device) {
        const int place = tree_.part(topology_.nics_at[nic]);
        Path in;
        if (topology_.has_nic()) in.push_back(nics_[nic].down);
        if (node_.cpu >= 0) in.push_back(node_.cpu);
        append_links(in, staged(place, tree_.device(device), tree_.socket_of(place)));
        node_.from_nic.push_back({std::move(in)});
      }
    }
  }

  const Topology& topology_;
  NodeTemplate node_;
  std::vector<NodeTemplate::Nic> nics_;
  NodeTree tree_;
  std::map<std::pair<int, int>, Path> nvlinks_;  // of the pairs of devices that have one
  std::map<int, int> memories_;  // per socket, the link through its memory; none where nothing is staged
};

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

}}  // namespace farandole::platform
