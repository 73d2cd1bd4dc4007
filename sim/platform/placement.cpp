#include "platform/placement.hpp"

#include <algorithm>
#include <cstdint>

namespace farandole { inline namespace platform {
namespace {

void check_ranks(int ranks, const Value& where) {
  if (ranks < 1) where.fail("at least one rank", std::to_string(ranks));
  if (ranks > most_devices) where.fail("at most " + std::to_string(most_devices) + " ranks", std::to_string(ranks));
}

void check_slots(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where) {
  if (hosts.size() > static_cast<std::size_t>(most_devices / devices_per_node)) {
    where.fail("hosts with at most " + std::to_string(most_devices) + " devices",
               std::to_string(hosts.size()) + " hosts of " + std::to_string(devices_per_node));
  }
  std::int64_t slots = 0;
  for (const Host& host : hosts) {
    if (host.slots < 1) where.fail("at least one slot on each host", host.name + ":" + std::to_string(host.slots));
    if (host.slots > devices_per_node) {
      where.fail("at most " + std::to_string(devices_per_node) + " ranks on a node, one per device",
                 std::to_string(host.slots) + " on " + (host.name.empty() ? "each node" : host.name));
    }
    slots += host.slots;
  }
  if (ranks > slots) {
    where.fail("at most " + std::to_string(slots) + " ranks, one per slot of the hosts", std::to_string(ranks));
  }
}

}  // namespace

int Placement::nodes_needed(int devices_per_node) const {
  return device_of_rank.empty() ? 0 : *std::ranges::max_element(device_of_rank) / devices_per_node + 1;
}

int Placement::ranks_per_node(int devices_per_node) const {
  const auto node = [&](std::size_t rank) { return device_of_rank[rank] / devices_per_node; };
  const std::size_t ranks = device_of_rank.size();
  std::size_t block = 1;
  while (block < ranks && node(block) == node(0)) ++block;
  for (std::size_t rank = block; rank < ranks; ++rank) {
    const bool same_node = node(rank) == node(rank - 1);
    if (same_node == (rank % block == 0)) return 1;
  }
  return static_cast<int>(block);
}

std::vector<Host> hosts_for(int ranks, int ranks_per_node) {
  const int nodes = ranks / ranks_per_node + (ranks % ranks_per_node != 0 ? 1 : 0);
  return std::vector<Host>(static_cast<std::size_t>(nodes), Host{"", ranks_per_node});
}

Placement place_by_slot(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where) {
  check_ranks(ranks, where);
  if (hosts.empty()) return place_by_slot(ranks, hosts_for(ranks, devices_per_node), devices_per_node, where);
  check_slots(ranks, hosts, devices_per_node, where);
  Placement placement;
  int left = ranks;
  for (std::size_t node = 0; left > 0; ++node) {
    const int here = std::min(left, hosts[node].slots);
    for (int slot = 0; slot < here; ++slot) {
      placement.device_of_rank.push_back(static_cast<int>(node) * devices_per_node + slot);
    }
    left -= here;
    ++placement.nodes_used;
  }
  return placement;
}

Placement place_by_node(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where) {
  check_ranks(ranks, where);
  check_slots(ranks, hosts, devices_per_node, where);
  Placement placement;
  int left = ranks;
  for (int slot = 0; left > 0; ++slot) {
    for (std::size_t node = 0; node < hosts.size() && left > 0; ++node) {
      if (slot >= hosts[node].slots) continue;
      placement.device_of_rank.push_back(static_cast<int>(node) * devices_per_node + slot);
      placement.nodes_used = std::max(placement.nodes_used, static_cast<int>(node) + 1);
      --left;
    }
  }
  return placement;
}

}}  // namespace farandole::platform
