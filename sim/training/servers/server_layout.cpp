#include "training/servers/server_layout.hpp"

#include <map>
#include <set>

namespace farandole::inline training {

Layout layout_of(const ServerSite& site, const Placement& workers, Carried carried) {
  Layout layout{workers,
                server_nodes_of(site.plan, site.platform, site.placement),
                shards_of(site.job, site.plan, site.memory_bandwidth),
                {}};
  layout.network = make_server_network(site.platform, workers, layout.nodes, site.plan, carried);
  std::set<int> lent;
  for (const int device : site.placement.device_of_rank) {
    if (site.shares_processor) lent.insert(site.platform.node_of(device));
  }
  add_memories(layout.network, layout.nodes, site.server_memory, lent);
  return layout;
}

std::vector<int> workers_of(const ServerNetwork& network) {
  std::vector<int> workers;
  for (const ServerNetwork::Group& group : network.groups) workers.push_back(group.workers);
  return workers;
}

namespace {

/// What a server's host works on a shard in an iteration of all workers.
Seconds serving_time(const ServerSite& site, const Shard& shard, double workers) {
  const bool together = site.plan.mode == ServerMode::synchronous;
  const Bytes traffic = server_traffic(shard, together ? workers : 1, site.slots);
  return traffic / site.server_memory * (together ? 1 : workers);
}

}  // namespace

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
  std::vector<int> ranks;
  for (const ServerNetwork::Group& group : network.groups) ranks.push_back(group.ranks.front());
  return ranks;
}

JobSite job_site(const ServerSite& site, const ServerNetwork& network) {
  JobSite job;
  job.compute_share = site.compute_share;
  job.servers = &network;
  return job;
}

}  // namespace farandole::inline training
