// Little platforms for tests: stars built in code, so that every number stands in the test.
#pragma once

#include "collective/algorithms/ring.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole::test {

/// `nodes` single-device nodes on one switch: up and down links of `rate`, `latency` end to end.
inline Platform star(int nodes, BytesPerSecond rate, Seconds latency) {
  Platform platform;
  platform.nodes = nodes;
  platform.vertices.push_back({});
  for (int node = 0; node < nodes; ++node) {
    const auto link = static_cast<int>(platform.links.size());
    platform.links.push_back({"up", rate, latency / 2, rate});
    platform.links.push_back({"down", rate, latency / 2, rate});
    platform.devices.push_back({node, 0, static_cast<int>(platform.vertices.size()), -1, -1});
    platform.vertices.push_back({0, link, link + 1});
  }
  return platform;
}

/// `nodes` nodes of `devices`, each device on a bus of `bus` bytes per second, each node on a NIC of `nic`.
inline Platform two_level(int nodes, int devices, BytesPerSecond bus, BytesPerSecond nic) {
  Platform platform = star(nodes, nic, 0_s);
  platform.devices.clear();
  platform.devices_per_node = devices;
  for (int node = 0; node < nodes; ++node) {
    for (int local = 0; local < devices; ++local) {
      const auto link = static_cast<int>(platform.links.size());
      platform.links.push_back({"bus up", bus, 0_s, bus});
      platform.links.push_back({"bus down", bus, 0_s, bus});
      platform.devices.push_back({node, local, static_cast<int>(platform.vertices.size()), -1, -1});
      platform.vertices.push_back({1 + node, link, link + 1});
    }
  }
  return platform;
}

/// Rank r on device r.
inline Placement in_order(int ranks) {
  Placement placement;
  for (int rank = 0; rank < ranks; ++rank) placement.device_of_rank.push_back(rank);
  placement.nodes_used = ranks;
  return placement;
}

inline std::unique_ptr<CollectiveClock> ring_clock(Fidelity fidelity, const Platform& platform,
                                                   const Placement& placement) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  return make_collective_clock(fidelity, RoutedSchedule(ring_allreduce(ranks), platform, placement));
}

inline RankTimes ring_finish(Fidelity fidelity, const Platform& platform, const Placement& placement, Bytes size,
                             const RankTimes& start) {
  return ring_clock(fidelity, platform, placement)->finish(size, start);
}

inline Seconds ring_time(Fidelity fidelity, const Platform& platform, int ranks, Bytes size) {
  return latest(ring_finish(fidelity, platform, in_order(ranks), size, all_at(ranks, 0_s)));
}

}  // namespace farandole::test
