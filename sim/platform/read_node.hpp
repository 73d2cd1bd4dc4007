// Reads the "node" of a topology file: devices, the buses and NVLinks between them, and where the NICs are.
//
// Called by read_topology (platform/topology.hpp); fills in its part of the Topology.
#pragma once

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

void read_node(const Value& value, Topology& topology);

}}  // namespace farandole::platform
