// Kinds of topologies that need nothing but their sizes.
#pragma once

#include <string>

#include "config/document.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

// The topology kind "star": nodes around one switch that never limits and costs nothing.

NetworkPlan read_star(Section& file, const Topology& topology, const TextReader& text);

/// One switch for all NICs of the platform's nodes.
Network one_switch(const Platform& platform);

// The topology kind "torus": routers in a grid of any number of dimensions, each joined to its neighbours, the last of
// a row to the first.
//
// Routes are dimension-ordered, the shorter way round in each dimension: first along the first dimension, then along
// the second, and so on. Half-way round, routers with even coordinates go up and others down, so that both ways are
// used. A dimension of two has one cable between its two routers.

NetworkPlan read_torus(Section& file, const Topology& topology, const TextReader& text);

// The inside of a node as a template: its buses, its devices and its NIC, and the ways between them.
//
// Called by build() (platform/topology.hpp) for every kind of topology; the kinds lay out the network around it.

NodeTemplate node_template(const Topology& topology);

/// A copy of the template's links for each of the platform's nodes: "node3/nic0/up".
void add_nodes(Platform& platform);

/// "node3".
std::string node_name(int node);

}}  // namespace farandole::platform
