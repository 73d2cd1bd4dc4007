// A network that is so many times as fast as its topology file says: what would faster links, or shorter ones, change?
//
// Said by a scenario's "platform": {"scale": {"rate": 2, "latency": 0.5}}. `rate` multiplies the wire of every link,
// inside nodes and between them, and what payload gets of it; `latency` multiplies that of links, of the transport's
// messages, handshakes and launches, and of small messages between hosts. Libraries with tables of their own decide as
// on the topology's network, and take as many times as long or short (simulate/library/planners.hpp). What processors
// do stays as it is: the rates of single connections, of a host's CPUs, of adding up. It is the machine that is scaled:
// what others take of its links (platform/condition.hpp) comes after it.
#pragma once

#include "config/document.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

struct NetworkScale {
  double rate = 1;     // above 0
  double latency = 1;  // 0 or more
};

NetworkScale read_network_scale(const Value& where);

/// As platform/topology.hpp builds it, its network scaled before its condition applies.
Platform build(const Topology& topology, const NetworkScale& scale, int nodes, const Value& where);
Platform build_for(const Topology& topology, const NetworkScale& scale, const Placement& placement, const Value& where);

}}  // namespace farandole::platform
