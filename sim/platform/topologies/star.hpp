// The topology kind "star": nodes with one NIC each around one non-blocking switch.
#pragma once

#include "platform/topology.hpp"

namespace farandole {

/// Any number of nodes; the switch itself never limits and costs nothing.
Platform build_star(const Topology& topology, int nodes);

}  // namespace farandole
