// Little platforms for tests: stars built in code, so that every number stands in the test.
#pragma once

#include "collective/algorithms/rings.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole::test {

/// `nodes` nodes of `devices`, each device on a bus of `bus` bytes per second, all on one NIC whose latency is
/// `latency` end to end; the way between NICs is still to be said.
inline Platform nodes_of(int nodes, int devices, BytesPerSecond bus, BytesPerSecond nic, Seconds latency) {
  Platform platform;
  platform.nodes = nodes;
  platform.devices_per_node = devices;
  NodeTemplate& node = platform.node;
  node.devices = devices;
  node.nics = {{0, 1}};
  node.nics_of_device.assign(static_cast<std::size_t>(devices), {0});
  node.links = {{"nic up", nic, latency / 2, nic}, {"nic down", nic, latency / 2, nic}};
  for (int from = 0; from < devices; ++from) {
    node.links.push_back({"bus up", bus, 0_s, bus});
    node.links.push_back({"bus down", bus, 0_s, bus});
    for (int to = 0; to < devices; ++to) node.between.push_back({{2 + 2 * from, 3 + 2 * to}});
    node.to_nic.push_back({{2 + 2 * from, 0}});
    node.from_nic.push_back({{1, 3 + 2 * from}});
  }
  for (int index = 0; index < nodes; ++index) {
    platform.links.insert(platform.links.end(), node.links.begin(), node.links.end());
  }
  return platform;
}

/// `nodes` nodes of `devices`, each device on a bus of `bus` bytes per second, each node on a NIC of `nic`.
inline Platform two_level(int nodes, int devices, BytesPerSecond bus, BytesPerSecond nic) {
  Platform platform = nodes_of(nodes, devices, bus, nic, 0_s);
  platform.network.paths = [](int, int) { return Paths{{}}; };
  platform.network.alike_after = 1;
  return platform;
}

/// `nodes` single-device nodes on one switch: up and down links of `rate`, `latency` end to end.
inline Platform star(int nodes, BytesPerSecond rate, Seconds latency) {
  Platform platform;
  platform.nodes = nodes;
  platform.node.nics = {{0, 1}};
  platform.node.nics_of_device = {{0}};
  platform.node.links = {{"up", rate, latency / 2, rate}, {"down", rate, latency / 2, rate}};
  platform.node.between = {{{}}};
  platform.node.to_nic = {{{0}}};
  platform.node.from_nic = {{{1}}};
  platform.network.paths = [](int, int) { return Paths{{}}; };
  platform.network.alike_after = 1;
  for (int node = 0; node < nodes; ++node) {
    platform.links.insert(platform.links.end(), platform.node.links.begin(), platform.node.links.end());
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
  return ring_clock(fidelity, platform, placement)->completion_times(size, start);
}

inline Seconds ring_time(Fidelity fidelity, const Platform& platform, int ranks, Bytes size) {
  return latest(ring_finish(fidelity, platform, in_order(ranks), size, all_at(ranks, 0_s)));
}

}  // namespace farandole::test
