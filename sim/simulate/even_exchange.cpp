#include "simulate/even_exchange.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// As `direct_alltoall` has it: rank r to r + 1, r + 2, ... in one round.
bool is_even_exchange(const Schedule& schedule) {
  if (schedule.phases.size() != 1 || !schedule.weights.empty()) return false;
  const Phase& phase = schedule.phases.front();
  const bool is_one_round = phase.repeats == 1 && phase.window == 0 && !phase.one_by_one && phase.bundle.empty();
  if (!is_one_round || phase.peer_step != 1 || phase.fan != schedule.ranks - 1) return false;
  if (std::ssize(phase.transfers) != schedule.ranks) return false;
  std::vector<bool> sends(as_index(schedule.ranks), false);
  for (const Transfer& transfer : phase.transfers) {
    const bool alike = transfer.count == phase.transfers.front().count && transfer.start == 0 &&
                       transfer.to == (transfer.from + 1) % schedule.ranks;
    if (!alike || sends[as_index(transfer.from)]) return false;
    sends[as_index(transfer.from)] = true;
  }
  return true;
}

/// The nodes that have ranks; nothing where one has ranks on some of its devices only.
std::optional<std::vector<int>> full_nodes(const Platform& platform, const Placement& placement) {
  std::vector<int> devices = placement.device_of_rank;
  std::ranges::sort(devices);
  const int each = platform.devices_per_node;
  if (devices.size() % as_index(each) != 0 || std::ranges::adjacent_find(devices) != devices.end()) return std::nullopt;
  std::vector<int> nodes;
  for (std::size_t first = 0; first < devices.size(); first += as_index(each)) {
    nodes.push_back(platform.node_of(devices[first]));
    if (platform.node_of(devices[first + as_index(each) - 1]) != nodes.back()) return std::nullopt;
  }
  return nodes;
}

bool is_like(const Platform& platform, std::span<const BytesPerSecond> capacities, int node, int other) {
  for (int offset = 0; offset < static_cast<int>(platform.node.links.size()); ++offset) {
    const std::size_t here = as_index(platform.link_of(node, offset));
    const std::size_t there = as_index(platform.link_of(other, offset));
    if (capacities[here] != capacities[there] || platform.links[here].latency != platform.links[there].latency)
      return false;
  }
  return true;
}

bool has_one_switch(const Platform& platform, int node) {
  const std::size_t nics = platform.node.nics.size();
  const auto plugged_in = std::span(platform.network.switch_of_nic).subspan(as_index(node) * nics, nics);
  return std::ranges::adjacent_find(plugged_in, std::ranges::not_equal_to()) == plugged_in.end();
}

bool is_plain_platform(const Platform& platform) {
  if (platform.network.switch_of_nic.empty() || platform.flow_rate < BytesPerSecond::infinity()) return false;
  if (platform.first_network_link() == static_cast<int>(platform.links.size())) return false;
  const auto network = std::span(platform.links).subspan(as_index(platform.first_network_link()));
  return std::ranges::all_of(platform.links, [](const Link& link) { return link.congestion == nullptr; }) &&
         std::ranges::all_of(network, [](const Link& link) { return link.latency == Seconds(0); });
}

/// What a node sends to all others together at most, or receives.
BytesPerSecond most_of(const Platform& platform, std::span<const BytesPerSecond> capacities, int node) {
  BytesPerSecond up;
  BytesPerSecond down;
  for (const NodeTemplate::Nic& nic : platform.node.nics) {
    if (nic.up < 0 || nic.down < 0) return BytesPerSecond::infinity();
    up += capacities[as_index(platform.link_of(node, nic.up))];
    down += capacities[as_index(platform.link_of(node, nic.down))];
  }
  return std::min(up, down);
}

}  // namespace

bool network_is_idle_in_even_exchange(const Schedule& schedule, const Platform& platform, const Placement& placement,
                                      std::span<const BytesPerSecond> capacities) {
  if (!is_even_exchange(schedule) || !is_plain_platform(platform)) return false;
  const auto nodes = full_nodes(platform, placement);
  if (!nodes || nodes->size() < 2) return false;
  const auto fits = [&](int node) {
    return has_one_switch(platform, node) && is_like(platform, capacities, node, nodes->front());
  };
  if (!std::ranges::all_of(*nodes, fits)) return false;
  const BytesPerSecond most = most_of(platform, capacities, nodes->front());
  if (most == BytesPerSecond::infinity()) return false;
  const BytesPerSecond of_pair = most / static_cast<double>(nodes->size() - 1);
  std::vector<double> crossed(capacities.size());  // by a byte from every node to every other
  for (const int from : *nodes) {
    for (const int to : *nodes) {
      if (from == to) continue;
      const Route way = platform.choices(from * platform.devices_per_node, to * platform.devices_per_node).minimal;
      for (const int link : way.links) crossed[as_index(link)] += 1.0 / way.paths;
    }
  }
  for (std::size_t link = as_index(platform.first_network_link()); link < capacities.size(); ++link) {
    if (of_pair * crossed[link] > capacities[link]) return false;
  }
  return true;
}

}}  // namespace farandole::simulate
