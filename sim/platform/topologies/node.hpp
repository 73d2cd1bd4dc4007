// The inside of a node as a template: its buses, its devices and its NIC, and the ways between them.
//
// Called by build() (platform/topology.hpp) for every kind of topology; the kinds lay out the network around it.
#pragma once

#include <string>

#include "platform/topology.hpp"

namespace farandole {

NodeTemplate node_template(const Topology& topology);

/// A copy of the template's links for each of the platform's nodes: "node3/nic0/up".
void add_nodes(Platform& platform);

/// "node3".
std::string node_name(int node);

}  // namespace farandole
