// A platform as a file for other programs: a Graphviz graph of everything, and a platform of SimGrid.
//
// Called by `farandole show topology --format dot|simgrid`. The graph has a vertex for every node and every switch and
// an edge for every NIC and every cable, with rates and latencies exact to the last digit; the kind "graph" reads it
// back. SimGrid gets hosts for devices and the route of every pair, so O(devices^2); of a route with several paths the
// first.
#pragma once

#include <iosfwd>

#include "platform/platform.hpp"

namespace farandole {

void write_topology_dot(std::ostream& out, const Platform& platform);

/// Version 4.1 of SimGrid's DTD, routing "Full". For a simulation with no latency or bandwidth factors of its own.
void write_topology_simgrid(std::ostream& out, const Platform& platform);

}  // namespace farandole
