// What targets of platform files share: what was read can be built, and every host reaches every other.
#pragma once

#include <algorithm>

#include "fuzz/fuzz.hpp"
#include "platform/topology.hpp"

namespace farandole::fuzz {

inline void require_sound(const Link& link) {
  require(link.capacity > BytesPerSecond(0) && link.capacity < BytesPerSecond::infinity(), "a link has a rate");
  require(link.latency >= Seconds(0) && link.latency < Seconds::infinity(), "a link has a latency");
}

/// As many as a few executions per millisecond allow.
inline void build_and_cross(NetworkPlan network, std::size_t hosts) {
  constexpr int most_nodes = 6;
  static const Document anything = Document::parse("{}", "fuzz.json");
  Topology topology;
  topology.nodes = static_cast<int>(hosts);
  topology.network = std::move(network);
  const Platform platform = build(topology, std::min(static_cast<int>(hosts), most_nodes), anything.root());
  for (const Link& link : platform.links) require_sound(link);
  for (int from = 0; from < platform.devices(); ++from) {
    for (int to = 0; to < platform.devices(); ++to) {
      const Route route = platform.route(from, to);
      require(route.links.empty() == (from == to), "a way has links, but for that to oneself");
      require(route.latency >= Seconds(0) && route.latency < Seconds::infinity(), "a way has a latency");
      for (const int link : route.links) {
        require(link >= 0 && link < static_cast<int>(platform.links.size()), "a way goes over links of the platform");
      }
    }
  }
}

}  // namespace farandole::fuzz
