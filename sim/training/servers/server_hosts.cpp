#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "training/servers/server_network.hpp"

namespace farandole { inline namespace training {

void add_memories(ServerNetwork& network, const std::vector<int>& server_nodes, BytesPerSecond rate,
                  const std::set<int>& lent) {
  if (rate == BytesPerSecond::infinity()) return;
  int alike = 0;  // as many workers of every group share a link of as much less
  for (const ServerNetwork::Group& group : network.groups) alike = std::gcd(alike, group.workers);
  std::map<int, std::pair<int, int>> links;  // of a node: for the work of all, and for that of single pushes
  for (const int node : server_nodes) {
    if (lent.contains(node)) {
      network.work.resize(network.work.size() + 1 + network.groups.size());
      continue;
    }
    const auto [place, is_new] = links.try_emplace(node, 0, 0);
    if (is_new) {
      place->second = {static_cast<int>(network.capacities.size()), static_cast<int>(network.capacities.size()) + 1};
      network.capacities.insert(network.capacities.end(), {rate, rate / alike});
      network.congestion.resize(network.capacities.size());
    }
    network.work.push_back({{{place->second.first, 1}}, {}, 1});
    for (const ServerNetwork::Group& group : network.groups) {
      network.work.push_back({{{place->second.second, group.workers / alike}}, {}, 1});
    }
  }
}

std::vector<int> server_nodes_of(const ServerPlan& plan, const Platform& platform, const Placement& placement) {
  std::set<int> used;
  for (const int device : placement.device_of_rank) used.insert(platform.node_of(device));
  std::vector<int> nodes;
  if (plan.colocated) {
    const std::vector<int> own(used.begin(), used.end());
    for (int server = 0; server < plan.servers; ++server) {
      nodes.push_back(own[static_cast<std::size_t>(server) % own.size()]);
    }
    return nodes;
  }
  for (int node = 0; node < platform.nodes && static_cast<int>(nodes.size()) < plan.servers; ++node) {
    if (!used.contains(node)) nodes.push_back(node);
  }
  if (static_cast<int>(nodes.size()) < plan.servers) throw std::invalid_argument("too few nodes for the servers");
  return nodes;
}

}}  // namespace farandole::training
