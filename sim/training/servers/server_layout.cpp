#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "training/servers/server_run.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace training {
namespace {

/// What of a layer a device encodes, or a node's bus brings to its host, leaves one shard after the other: no two
/// servers are alike then.
bool may_fold_servers(const ServerSite& site, const std::vector<Shard>& shards, Carried carried) {
  return carried != Carried::in_company && site.folding == FoldingPolicy::where_exact && !site.plan.colocated &&
         !site.plan.aggregate_on_node &&
         std::ranges::all_of(shards, [](const Shard& shard) { return shard.encode == Seconds(0); });
}

/// Only the first of servers that are alike.
void keep_one_of_each(Layout& layout) {
  std::vector<int> nodes;
  std::vector<bool> stays;
  for (std::size_t server = 0; server < layout.nodes.size(); ++server) {
    stays.push_back(layout.network.stands_for[server] == static_cast<int>(nodes.size()));
    if (stays.back()) nodes.push_back(layout.nodes[server]);
  }
  layout.nodes = std::move(nodes);
  std::erase_if(layout.shards, [&](const Shard& shard) { return !stays[static_cast<std::size_t>(shard.server)]; });
  for (Shard& shard : layout.shards) {
    shard.server = layout.network.stands_for[static_cast<std::size_t>(shard.server)];
  }
}

}  // namespace

std::vector<int> profiles_of(const std::vector<Shard>& shards, std::size_t servers) {
  std::vector<std::vector<std::tuple<int, Bytes, Bytes, Bytes>>> kept(servers);
  for (const Shard& shard : shards) {
    kept[static_cast<std::size_t>(shard.server)].emplace_back(shard.layer, shard.pull, shard.push, shard.kept);
  }
  std::map<std::vector<std::tuple<int, Bytes, Bytes, Bytes>>, int> numbers;
  return mapped(kept, [&](const auto& of_one) {
    return numbers.try_emplace(of_one, static_cast<int>(numbers.size())).first->second;
  });
}

Layout layout_of(const ServerSite& site, const Placement& workers, Carried carried) {
  Layout layout{workers,
                server_nodes_of(site.plan, site.platform, site.placement),
                shards_of(site.job, site.plan, site.memory_bandwidth),
                {}};
  std::vector<int> profile;
  if (may_fold_servers(site, layout.shards, carried)) profile = profiles_of(layout.shards, layout.nodes.size());
  layout.network = make_server_network(site.platform, workers, layout.nodes, site.plan, carried, profile);
  keep_one_of_each(layout);
  std::set<int> lent;
  for (const int device : site.placement.device_of_rank) {
    if (site.shares_processor) lent.insert(site.platform.node_of(device));
  }
  add_memories(layout.network, layout.nodes, site.server_memory, lent);
  return layout;
}

/// What a server's host works on a shard in an iteration of all workers.
static Seconds serving_time(const ServerSite& site, const Shard& shard, double workers) {
  const bool together = site.plan.mode == ServerMode::synchronous;
  const Bytes traffic = server_traffic(shard, together ? workers : 1, site.slots);
  return traffic / site.server_memory * (together ? 1 : workers);
}

std::vector<WorkerGroup> groups_of(const ServerSite& site, const Layout& layout) {
  double workers = 0;
  for (const ServerNetwork::Group& group : layout.network.groups) workers += group.workers;
  std::map<int, Seconds> serving;  // of nodes whose device is the host
  for (const Shard& shard : layout.shards) {
    if (!site.shares_processor) break;
    serving[layout.nodes[static_cast<std::size_t>(shard.server)]] += serving_time(site, shard, workers);
  }
  std::vector<WorkerGroup> groups;
  for (const ServerNetwork::Group& group : layout.network.groups) {
    const int device = layout.workers.device_of_rank[static_cast<std::size_t>(group.ranks.front())];
    groups.push_back({static_cast<double>(group.workers), group.bus, serving[site.platform.node_of(device)]});
  }
  return groups;
}

std::vector<int> first_ranks(const ServerNetwork& network) {
  return mapped(network.groups, [](const ServerNetwork::Group& group) { return group.ranks.front(); });
}

JobSite job_site(const ServerSite& site, const ServerNetwork& network) {
  JobSite job;
  job.compute_share = site.compute_share;
  job.servers = &network;
  job.company = site.company;
  return job;
}

}}  // namespace farandole::training
