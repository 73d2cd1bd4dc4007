// The buses inside a node as a tree: CPU sockets, PCIe switches and devices, each with a cable up to its parent.
//
// Called by node.cpp, which turns it into ways. Socket 0 is the root; the other sockets reach it over the interconnect;
// switches are attached to sockets, devices to switches or to sockets. A node without buses is socket 0 alone, with all
// devices on it at no cost.
#pragma once

#include <string>
#include <vector>

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

class NodeTree {
 public:
  /// Adds the tree's links to `links`.
  NodeTree(const Topology& topology, std::vector<Link>& links);

  /// The vertex of a socket or a switch: "socket0", "switch3"; there must be one of that name.
  [[nodiscard]] int part(const std::string& name) const;
  [[nodiscard]] int device(int local) const { return devices_[static_cast<std::size_t>(local)]; }
  /// What a device is attached to.
  [[nodiscard]] int hub(int local) const;
  /// The socket at or above a vertex.
  [[nodiscard]] int socket_of(int vertex) const;
  /// The links from one vertex to the other.
  [[nodiscard]] Path climb(int from, int to) const;

 private:
  struct Vertex {
    std::string name;
    int parent = -1;  // stands before its children
    int up = -1;
    int down = -1;
  };

  int add_child(int parent, const std::string& name, const Topology::LinkRate& rate);
  std::vector<int> add_sockets(const Topology::PcieTree& pcie);
  std::vector<int> add_hubs(const Topology::PcieTree& pcie, int devices);
  [[nodiscard]] const Vertex& at(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)]; }

  std::vector<Link>& links_;
  std::vector<Vertex> vertices_{{"socket0"}};
  std::vector<int> devices_;  // their vertices; the root's where nothing lies between
};

/// Adds "NAME/up" and "NAME/down" to `links`; the first one's index.
int add_cable(std::vector<Link>& links, const std::string& name, const Topology::LinkRate& rate, Seconds latency);

}}  // namespace farandole::platform
