#include "training/servers/server_network.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

#include "platform/host_route.hpp"

namespace farandole::inline training {
namespace {

/// A worker before folding.
struct Worker {
  std::vector<int> ranks;
  std::vector<int> devices;  // of its ranks
  int node;
};

/// Which flows cross a link, and how often: (class of the worker, server and direction) to a count.
using Load = std::map<std::pair<int, int>, int>;
using Colours = std::vector<int>;

class Folder {
 public:
  Folder(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
         const ServerPlan& plan);
  ServerNetwork fold(Carried carried);
  /// `moved[server * 2 + to_server]`: between every worker and the server.
  [[nodiscard]] std::vector<Bytes> link_bytes(const std::vector<Bytes>& moved) const;
  [[nodiscard]] std::vector<int> ranks_apart(const std::vector<int>& profile) const;

 private:
  void add_workers(const Placement& placement);
  void add_routes();
  [[nodiscard]] Route route_of(const Worker& worker, int node, bool to_server) const;
  [[nodiscard]] std::vector<Load> loads(const Colours& classes) const;
  [[nodiscard]] Colours link_classes(const std::vector<Load>& loads) const;
  [[nodiscard]] Colours refined(const Colours& classes, const Colours& links) const;
  void add_ways(ServerNetwork& network, std::size_t worker, int of_class, const std::vector<Load>& load,
                const Colours& links) const;
  [[nodiscard]] const CongestionCurve* curve_of(std::size_t link) const {
    return link < platform_.links.size() ? platform_.links[link].congestion.get() : nullptr;
  }
  [[nodiscard]] BytesPerSecond bus_of(const Worker& worker) const;
  [[nodiscard]] std::size_t ways() const { return server_nodes_.size() * 2; }
  [[nodiscard]] const Route& route(std::size_t worker, std::size_t way) const { return routes_[worker * ways() + way]; }

  const Platform& platform_;
  const std::vector<int>& server_nodes_;
  const ServerPlan& plan_;
  std::vector<Worker> workers_;
  std::vector<Route> routes_;               // [worker * ways + server * 2 + to_server]
  std::vector<BytesPerSecond> capacities_;  // of the platform's links, the servers' software, single connections
};

Folder::Folder(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
               const ServerPlan& plan)
    : platform_(platform), server_nodes_(server_nodes), plan_(plan) {
  for (const Link& link : platform.links) capacities_.push_back(link.capacity);
  if (plan.rate) capacities_.insert(capacities_.end(), server_nodes.size(), *plan.rate);
  add_workers(placement);
  add_routes();
}

void Folder::add_workers(const Placement& placement) {
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

Route Folder::route_of(const Worker& worker, int node, bool to_server) const {
  if (plan_.aggregate_on_node) {
    return to_server ? route_between_hosts(platform_, worker.node, node)
                     : route_between_hosts(platform_, node, worker.node);
  }
  const int device = worker.devices.front();
  return to_server ? route_to_host(platform_, device, node) : route_from_host(platform_, node, device);
}

void Folder::add_routes() {
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

std::vector<Load> Folder::loads(const Colours& classes) const {
  std::vector<Load> loads(capacities_.size());
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    for (std::size_t way = 0; way < ways(); ++way) {
      for (const int link : route(worker, way).links) {
        ++loads[static_cast<std::size_t>(link)][{classes[worker], static_cast<int>(way)}];
      }
    }
  }
  return loads;
}

Colours Folder::link_classes(const std::vector<Load>& loads) const {
  std::map<std::tuple<BytesPerSecond, const CongestionCurve*, Load>, int> numbers;
  Colours classes;
  for (std::size_t link = 0; link < loads.size(); ++link) {
    classes.push_back(
        numbers.try_emplace({capacities_[link], curve_of(link), loads[link]}, static_cast<int>(numbers.size()))
            .first->second);
  }
  return classes;
}

Colours Folder::refined(const Colours& classes, const Colours& links) const {
  using Signature = std::vector<std::tuple<std::vector<int>, Seconds, int>>;
  std::map<std::tuple<int, std::size_t, Signature>, int> numbers;
  Colours finer;
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    Signature signature;
    for (std::size_t way = 0; way < ways(); ++way) {
      const Route& r = route(worker, way);
      std::vector<int> crossed;
      for (const int link : r.links) crossed.push_back(links[static_cast<std::size_t>(link)]);
      signature.emplace_back(std::move(crossed), r.latency, r.paths);
    }
    finer.push_back(numbers
                        .try_emplace({classes[worker], workers_[worker].ranks.size(), std::move(signature)},
                                     static_cast<int>(numbers.size()))
                        .first->second);
  }
  return finer;
}

/// What a node's ranks get when all of them move a gradient to or from their host at once.
BytesPerSecond Folder::bus_of(const Worker& worker) const {
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

/// The ways of a worker that stands for its class.
void Folder::add_ways(ServerNetwork& network, std::size_t worker, int of_class, const std::vector<Load>& load,
                      const Colours& links) const {
  for (std::size_t way = 0; way < ways(); ++way) {
    const Route& r = route(worker, way);
    std::map<int, int> times;
    for (const int link : r.links) {
      const auto index = static_cast<std::size_t>(link);
      times[links[index]] = load[index].at({of_class, static_cast<int>(way)});
    }
    ServerNetwork::Way& added = network.ways.emplace_back(ServerNetwork::Way{{}, r.latency, r.paths});
    for (const auto& [link, count] : times) added.crossings.push_back({link, count});
  }
}

/// What all flows on a link have in common goes into its capacity.
void reduce(ServerNetwork& network) {
  std::vector<int> common(network.capacities.size(), 0);
  for (const ServerNetwork::Way& way : network.ways) {
    for (const auto& [link, times] : way.crossings) {
      int& divisor = common[static_cast<std::size_t>(link)];
      divisor = std::gcd(divisor, times);
    }
  }
  for (ServerNetwork::Way& way : network.ways) {
    for (Crossing& crossing : way.crossings) crossing.times /= common[static_cast<std::size_t>(crossing.link)];
  }
  for (std::size_t link = 0; link < common.size(); ++link) {
    network.capacities[link] /= std::max(common[link], 1);
    network.congestion[link].flows = std::max(common[link], 1);
  }
}

ServerNetwork Folder::fold(Carried carried) {
  Colours classes(workers_.size(), 0);
  if (carried != Carried::together) std::iota(classes.begin(), classes.end(), 0);
  std::vector<Load> load = loads(classes);
  Colours links = link_classes(load);
  for (Colours finer = refined(classes, links); finer != classes; finer = refined(classes, links)) {
    classes = std::move(finer);
    load = loads(classes);
    links = link_classes(load);
  }
  if (carried == Carried::in_company) std::iota(links.begin(), links.end(), 0);
  ServerNetwork network;
  network.servers = static_cast<int>(server_nodes_.size());
  for (std::size_t link = 0; link < links.size(); ++link) {
    if (links[link] != static_cast<int>(network.capacities.size())) continue;
    network.capacities.push_back(capacities_[link]);
    network.congestion.push_back({link < platform_.links.size() ? platform_.links[link].congestion : nullptr});
  }
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    if (classes[w] == static_cast<int>(network.groups.size())) {
      network.groups.push_back({{}, 0, bus_of(workers_[w])});
      add_ways(network, w, classes[w], load, links);
    }
    ServerNetwork::Group& group = network.groups[static_cast<std::size_t>(classes[w])];
    ++group.workers;
    group.ranks.insert(group.ranks.end(), workers_[w].ranks.begin(), workers_[w].ranks.end());
  }
  if (carried == Carried::in_company) {
    network.shared = platform_.links.size();
  } else {
    reduce(network);
  }
  return network;
}

std::vector<Bytes> Folder::link_bytes(const std::vector<Bytes>& moved) const {
  std::vector<Bytes> bytes(capacities_.size());
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    for (std::size_t way = 0; way < ways(); ++way) {
      const Route& r = route(worker, way);
      for (const int link : r.links) bytes[static_cast<std::size_t>(link)] += moved[way] / r.paths;
    }
  }
  return bytes;
}

std::vector<int> Folder::ranks_apart(const std::vector<int>& profile) const {
  using Seen = std::tuple<int, Seconds, int, std::vector<BytesPerSecond>>;
  std::set<std::vector<Seen>> known;
  std::vector<int> ranks;
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    std::vector<Seen> seen;
    for (std::size_t way = 0; way < ways(); ++way) {
      const Route& r = route(worker, way);
      std::vector<BytesPerSecond> rates;
      for (const int link : r.links) rates.push_back(capacities_[static_cast<std::size_t>(link)]);
      seen.emplace_back(profile[way / 2] * 2 + static_cast<int>(way % 2), r.latency, r.paths, std::move(rates));
    }
    std::ranges::sort(seen);
    if (known.insert(std::move(seen)).second) ranks.push_back(workers_[worker].ranks.front());
  }
  return ranks;
}

}  // namespace

std::vector<int> ranks_apart(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
                             const ServerPlan& plan, const std::vector<int>& profile) {
  return Folder(platform, placement, server_nodes, plan).ranks_apart(profile);
}

std::vector<Bytes> server_link_bytes(const Platform& platform, const Placement& placement, const ServerPlan& plan,
                                     const std::vector<Shard>& shards) {
  const std::vector<int> nodes = server_nodes_of(plan, platform, placement);
  std::vector<Bytes> moved(nodes.size() * 2);
  for (const Shard& shard : shards) {
    moved[static_cast<std::size_t>(shard.server * 2)] += shard.pull;
    moved[static_cast<std::size_t>(shard.server * 2 + 1)] += shard.push;
  }
  return Folder(platform, placement, nodes, plan).link_bytes(moved);
}

ServerNetwork make_server_network(const Platform& platform, const Placement& placement,
                                  const std::vector<int>& server_nodes, const ServerPlan& plan, Carried carried) {
  return Folder(platform, placement, server_nodes, plan).fold(carried);
}

}  // namespace farandole::inline training
