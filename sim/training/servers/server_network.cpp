#include "training/servers/server_network.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "training/servers/server_routes.hpp"

namespace farandole { inline namespace training {
namespace {

/// `moved[server * 2 + to_server]`: between every worker and the server.
std::vector<Bytes> link_bytes(const ServerRoutes& routes, const std::vector<Bytes>& moved) {
  std::vector<Bytes> bytes(routes.capacities().size());
  for (std::size_t worker = 0; worker < routes.workers().size(); ++worker) {
    for (std::size_t way = 0; way < routes.ways(); ++way) {
      const Route& r = routes.route(worker, way);
      for (const int link : r.links) bytes[static_cast<std::size_t>(link)] += moved[way] / r.paths;
    }
  }
  return bytes;
}

}  // namespace

std::vector<int> ranks_apart(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
                             const ServerPlan& plan, const std::vector<int>& profile) {
  const ServerRoutes routes(platform, placement, server_nodes, plan);
  using Seen = std::tuple<int, Seconds, int, std::vector<BytesPerSecond>>;
  std::set<std::vector<Seen>> known;
  std::vector<int> ranks;
  for (std::size_t worker = 0; worker < routes.workers().size(); ++worker) {
    std::vector<Seen> seen;
    for (std::size_t way = 0; way < routes.ways(); ++way) {
      const Route& r = routes.route(worker, way);
      std::vector<BytesPerSecond> rates;
      for (const int link : r.links) rates.push_back(routes.capacities()[static_cast<std::size_t>(link)]);
      seen.emplace_back(profile[way / 2] * 2 + static_cast<int>(way % 2), r.latency, r.paths, std::move(rates));
    }
    std::ranges::sort(seen);
    if (known.insert(std::move(seen)).second) ranks.push_back(routes.workers()[worker].ranks.front());
  }
  return ranks;
}

std::vector<Bytes> server_link_bytes(const Platform& platform, const Placement& placement, const ServerPlan& plan,
                                     const std::vector<Shard>& shards) {
  const std::vector<int> nodes = server_nodes_of(plan, platform, placement);
  std::vector<Bytes> moved(nodes.size() * 2);
  for (const Shard& shard : shards) {
    moved[static_cast<std::size_t>(shard.server * 2)] += shard.pull;
    moved[static_cast<std::size_t>(shard.server * 2 + 1)] += shard.push;
  }
  return link_bytes(ServerRoutes(platform, placement, nodes, plan), moved);
}

}}  // namespace farandole::training
