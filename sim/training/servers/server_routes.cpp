#include "training/servers/server_routes.hpp"

#include <algorithm>
#include <map>

#include "platform/host_route.hpp"

namespace farandole { inline namespace training {

ServerRoutes::ServerRoutes(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
                           const ServerPlan& plan)
    : platform_(platform), server_nodes_(server_nodes), plan_(plan) {
  for (const Link& link : platform.links) capacities_.push_back(link.capacity);
  if (plan.rate) capacities_.insert(capacities_.end(), server_nodes.size(), *plan.rate);
  add_workers(placement);
  add_routes();
}

void ServerRoutes::add_workers(const Placement& placement) {
  std::map<int, std::size_t> of_node;
  for (std::size_t rank = 0; rank < placement.device_of_rank.size(); ++rank) {
    const int device = placement.device_of_rank[rank];
    const int node = platform_.node_of(device);
    const auto [place, is_new] = of_node.emplace(node, workers_.size());
    if (is_new || !plan_.aggregate_on_node) {
      workers_.push_back({{static_cast<int>(rank)}, {device}, node});
    } else {
      workers_[place->second].ranks.push_back(static_cast<int>(rank));
      workers_[place->second].devices.push_back(device);
    }
  }
}

Route ServerRoutes::route_of(const Worker& worker, int node, bool to_server) const {
  if (plan_.aggregate_on_node) {
    return to_server ? route_between_hosts(platform_, worker.node, node)
                     : route_between_hosts(platform_, node, worker.node);
  }
  const int device = worker.devices.front();
  return to_server ? route_to_host(platform_, device, node) : route_from_host(platform_, node, device);
}

void ServerRoutes::add_routes() {
  const auto first_server = static_cast<int>(platform_.links.size());
  for (const Worker& worker : workers_) {
    for (std::size_t server = 0; server < server_nodes_.size(); ++server) {
      for (const bool to_server : {false, true}) {
        Route& route = routes_.emplace_back(route_of(worker, server_nodes_[server], to_server));
        if (plan_.rate) {
          route.links.insert(route.links.end(), static_cast<std::size_t>(route.paths),
                             first_server + static_cast<int>(server));
        }
        if (platform_.flow_rate < BytesPerSecond::infinity() && worker.node != server_nodes_[server]) {
          route.links.insert(route.links.end(), static_cast<std::size_t>(route.paths),
                             static_cast<int>(capacities_.size()));
          capacities_.push_back(platform_.flow_rate);
        }
      }
    }
  }
}

BytesPerSecond ServerRoutes::bus_of(const Worker& worker) const {
  if (!plan_.aggregate_on_node) return BytesPerSecond::infinity();
  std::map<int, double> crossed;
  for (const int device : worker.devices) {
    const Route route = route_to_host(platform_, device, worker.node);
    for (const int link : route.links) crossed[link] += 1.0 / route.paths;
  }
  BytesPerSecond rate = BytesPerSecond::infinity();
  for (const auto& [link, times] : crossed) rate = std::min(rate, capacities_[static_cast<std::size_t>(link)] / times);
  return rate;
}

}}  // namespace farandole::training
