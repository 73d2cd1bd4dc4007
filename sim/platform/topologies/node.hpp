// What every topology kind does alike: the inside of a node, from its devices to the vertex that owns the NIC.
//
// Called by the builders of topology kinds, which lay out the network above the nodes.
#pragma once

#include <string>

#include "platform/topology.hpp"

namespace farandole {

/// A platform that has taken over everything from the file but the graph.
Platform empty_platform(const Topology& topology, int nodes);

/// "node3".
std::string node_name(int node);

/// Adds a vertex and returns its index.
int add_vertex(Platform& platform, Vertex vertex);

/// Adds the two links "NAME/up" and "NAME/down" and returns a vertex with them under `parent`.
int add_child(Platform& platform, int parent, const std::string& name, const Topology::LinkRate& rate,
              Seconds latency_each_way);

/// Adds the devices of `node` and the buses between them and `head`, the node's vertex (its CPU socket 0).
void add_devices(Platform& platform, const Topology& topology, int node, int head);

}  // namespace farandole
