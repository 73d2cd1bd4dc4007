// Switches and the cables between them, added to a platform one by one, and the checks that every network must pass.
//
// Called by the readers and builders of topology kinds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/section.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

// How large a machine may be asked for: looked at before anything of it is laid out. A switch and a cable with its two
// links take about 100 and 250 bytes, so that the largest network stays well below a gigabyte; platform.hpp has the
// limit of devices.

inline constexpr int most_switches = 1 << 20;
inline constexpr int most_cables = 1 << 21;
/// Between the same two ends, or from one switch to all above it.
inline constexpr int most_cables_together = 1 << 16;
/// The ways between all pairs of them are kept.
inline constexpr int most_devices_of_node = 512;
inline constexpr int most_nics_of_node = 512;

/// Fails at `where` where there are more of them than that.
inline void require_size(Count switches, Count cables, const Value& where) {
  require_at_most(switches, most_switches, "switches", where);
  require_at_most(cables, most_cables, "cables", where);
}

/// The index of the new switch. `ports` 0: nobody says how many.
int add_switch(Platform& platform, const std::string& name, int level = 0, int ports = 0);

/// The index of the new cable, of two links "NAME/up" (towards `to`) and "NAME/down". `count` cables that hardware
/// shares packet by packet are one of so many times the rate.
int add_cable(Platform& platform, int from, int to, const std::string& name, const Topology::LinkRate& rate,
              int count = 1);

/// Fails at `where` when a switch has fewer ports than NICs and cables.
void check_ports(const Platform& platform, const Value& where);

/// Edges from one vertex to every other on a shortest way, -1 where there is none. `edges`: of every vertex, `end`
/// where one leads.
template <class Edge, class End = std::identity>
std::vector<int> distances_from(int vertex, const std::vector<std::vector<Edge>>& edges, End end = {}) {
  std::vector<int> distance(edges.size(), -1);
  std::vector<int> queue{vertex};
  distance[static_cast<std::size_t>(vertex)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto here = static_cast<std::size_t>(queue[next]);
    for (const Edge& edge : edges[here]) {
      const int to = std::invoke(end, edge);
      int& there = distance[static_cast<std::size_t>(to)];
      if (there >= 0) continue;
      there = distance[here] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

/// A number that depends on all of its arguments and on nothing else, for choices that hardware makes by hashing.
std::uint64_t flow_hash(std::uint64_t seed, int from, int to, int choice);

}}  // namespace farandole::platform
