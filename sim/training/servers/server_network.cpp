#include "training/servers/server_network.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "platform/host_route.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace training {
namespace {

/// Every worker's routes to every server, before anything is folded.
class ServerRoutes {
 public:
  struct Worker {
    std::vector<int> ranks;
    std::vector<int> devices;  // of its ranks
    int node;
  };

  /// The references must outlive it.
  ServerRoutes(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
               const ServerPlan& plan)
      : platform_(platform), server_nodes_(server_nodes), plan_(plan) {
    for (const Link& link : platform.links) capacities_.push_back(link.capacity);
    if (plan.rate) capacities_.insert(capacities_.end(), server_nodes.size(), *plan.rate);
    add_workers(placement);
    add_routes();
  }

  [[nodiscard]] const std::vector<Worker>& workers() const { return workers_; }
  [[nodiscard]] std::size_t servers() const { return server_nodes_.size(); }
  /// Of a worker: server * 2 + to_server.
  [[nodiscard]] std::size_t ways() const { return server_nodes_.size() * 2; }
  [[nodiscard]] const Route& route(std::size_t worker, std::size_t way) const { return routes_[worker * ways() + way]; }
  /// Of the platform's links, the servers' software, single connections.
  [[nodiscard]] const std::vector<BytesPerSecond>& capacities() const { return capacities_; }
  [[nodiscard]] const Platform& platform() const { return platform_; }
  /// What a node's ranks get when all of them move a gradient to or from their host at once.
  [[nodiscard]] BytesPerSecond bus_of(const Worker& worker) const {
    if (!plan_.aggregate_on_node) return BytesPerSecond::infinity();
    std::map<int, double> crossed;
    for (const int device : worker.devices) {
      const Route route = route_to_host(platform_, device, worker.node);
      for (const int link : route.links) crossed[link] += 1.0 / route.paths;
    }
    BytesPerSecond rate = BytesPerSecond::infinity();
    for (const auto& [link, times] : crossed) rate = std::min(rate, capacities_[as_index(link)] / times);
    return rate;
  }

 private:
  void add_workers(const Placement& placement) {
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

  void add_routes() {
    const auto first_server = static_cast<int>(platform_.links.size());
    for (const Worker& worker : workers_) {
      for (std::size_t server = 0; server < server_nodes_.size(); ++server) {
        for (const bool to_server : {false, true}) {
          Route& route = routes_.emplace_back(route_of(worker, server_nodes_[server], to_server));
          if (plan_.rate) {
            route.links.insert(route.links.end(), as_index(route.paths), first_server + static_cast<int>(server));
          }
          if (platform_.flow_rate < BytesPerSecond::infinity() && worker.node != server_nodes_[server]) {
            route.links.insert(route.links.end(), as_index(route.paths), static_cast<int>(capacities_.size()));
            capacities_.push_back(platform_.flow_rate);
          }
        }
      }
    }
  }

  [[nodiscard]] Route route_of(const Worker& worker, int node, bool to_server) const {
    if (plan_.aggregate_on_node) {
      return to_server ? route_between_hosts(platform_, worker.node, node)
                       : route_between_hosts(platform_, node, worker.node);
    }
    const int device = worker.devices.front();
    return to_server ? route_to_host(platform_, device, node) : route_from_host(platform_, node, device);
  }

  const Platform& platform_;
  const std::vector<int>& server_nodes_;
  const ServerPlan& plan_;
  std::vector<Worker> workers_;
  std::vector<Route> routes_;  // [worker * ways + way]
  std::vector<BytesPerSecond> capacities_;
};

/// `moved[server * 2 + to_server]`: between every worker and the server.
std::vector<Bytes> link_bytes(const ServerRoutes& routes, const std::vector<Bytes>& moved) {
  std::vector<Bytes> bytes(routes.capacities().size());
  for (std::size_t worker = 0; worker < routes.workers().size(); ++worker) {
    for (std::size_t way = 0; way < routes.ways(); ++way) {
      const Route& r = routes.route(worker, way);
      for (const int link : r.links) bytes[as_index(link)] += moved[way] / r.paths;
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
      for (const int link : r.links) rates.push_back(routes.capacities()[as_index(link)]);
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
    moved[as_index(shard.server * 2)] += shard.pull;
    moved[as_index(shard.server * 2 + 1)] += shard.push;
  }
  return link_bytes(ServerRoutes(platform, placement, nodes, plan), moved);
}

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
      nodes.push_back(own[as_index(server) % own.size()]);
    }
    return nodes;
  }
  for (int node = 0; node < platform.nodes && static_cast<int>(nodes.size()) < plan.servers; ++node) {
    if (!used.contains(node)) nodes.push_back(node);
  }
  if (static_cast<int>(nodes.size()) < plan.servers) throw std::invalid_argument("too few nodes for the servers");
  return nodes;
}

namespace {

/// Which flows cross a link, and how often: (class of the worker, class of the server and direction) to a count.
using Load = std::map<std::pair<int, int>, int>;
using Colours = std::vector<int>;

/// What a flow crosses: the classes of its links, in order, its latency and its paths.
using Crossed = std::tuple<std::vector<int>, Seconds, int>;

/// A flow as whoever is at its one end sees it: the class at the other end with the direction, and the number of what
/// it crosses.
using Seen = std::pair<int, int>;

/// Classes of workers, servers and links that cannot be told apart.
struct Classes {
  Colours workers;
  Colours servers;
  std::vector<Load> loads;  // of every link
  Colours links;
  std::vector<int> crossed;  // of every flow, [worker * ways + way]: equal numbers where it is alike

  [[nodiscard]] int way(std::size_t way) const { return servers[way / 2] * 2 + static_cast<int>(way % 2); }
};

class Folder {
 public:
  explicit Folder(const ServerRoutes& routes) : routes_(routes) {}
  /// The coarsest that are finer than these.
  [[nodiscard]] Classes refined(Colours workers, Colours servers) const;
  /// Whether all flows between a class of workers and one of servers cross alike links.
  [[nodiscard]] bool pairs_are_alike(const Classes& classes) const;
  [[nodiscard]] ServerNetwork network(Classes classes, bool in_company) const;

 private:
  void look_at_links(Classes& classes) const;
  void look_at_flows(Classes& classes) const;
  [[nodiscard]] int crossed(const Classes& classes, std::size_t worker, std::size_t way) const {
    return classes.crossed[worker * routes_.ways() + way];
  }
  [[nodiscard]] Colours finer_workers(const Classes& classes) const;
  [[nodiscard]] Colours finer_servers(const Classes& classes) const;
  void add_ways(ServerNetwork& network, const Classes& classes, std::size_t worker) const;
  [[nodiscard]] Congestion congestion_of(std::size_t link) const {
    const std::vector<Link>& links = routes_.platform().links;
    return {link < links.size() ? links[link].congestion : nullptr};
  }

  const ServerRoutes& routes_;
};

bool are_all_apart(const Colours& colours) {
  return !colours.empty() && std::ranges::max(colours) + 1 == static_cast<int>(colours.size());
}

Colours all_apart(std::size_t count) {
  Colours colours(count);
  std::iota(colours.begin(), colours.end(), 0);
  return colours;
}

void Folder::look_at_links(Classes& classes) const {
  classes.loads.assign(routes_.capacities().size(), {});
  for (std::size_t worker = 0; worker < routes_.workers().size(); ++worker) {
    for (std::size_t way = 0; way < routes_.ways(); ++way) {
      for (const int link : routes_.route(worker, way).links) {
        ++classes.loads[as_index(link)][{classes.workers[worker], classes.way(way)}];
      }
    }
  }
  std::map<std::tuple<BytesPerSecond, const CongestionCurve*, const Load&>, int> numbers;
  classes.links.clear();
  for (std::size_t link = 0; link < classes.loads.size(); ++link) {
    const std::tuple<BytesPerSecond, const CongestionCurve*, const Load&> key{
        routes_.capacities()[link], congestion_of(link).curve.get(), classes.loads[link]};
    classes.links.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
}

void Folder::look_at_flows(Classes& classes) const {
  std::map<Crossed, int> numbers;
  Crossed crossed;
  classes.crossed.clear();
  for (std::size_t worker = 0; worker < routes_.workers().size(); ++worker) {
    for (std::size_t way = 0; way < routes_.ways(); ++way) {
      const Route& route = routes_.route(worker, way);
      auto& [links, latency, paths] = crossed;
      links.clear();
      for (const int link : route.links) links.push_back(classes.links[as_index(link)]);
      latency = route.latency;
      paths = route.paths;
      classes.crossed.push_back(numbers.try_emplace(crossed, static_cast<int>(numbers.size())).first->second);
    }
  }
}

Colours Folder::finer_workers(const Classes& classes) const {
  std::map<std::tuple<int, std::size_t, std::vector<Seen>>, int> numbers;
  Colours finer;
  for (std::size_t worker = 0; worker < routes_.workers().size(); ++worker) {
    std::vector<Seen> ways;
    for (std::size_t way = 0; way < routes_.ways(); ++way) {
      ways.emplace_back(classes.way(way), crossed(classes, worker, way));
    }
    std::ranges::sort(ways);
    finer.push_back(numbers
                        .try_emplace({classes.workers[worker], routes_.workers()[worker].ranks.size(), std::move(ways)},
                                     static_cast<int>(numbers.size()))
                        .first->second);
  }
  return finer;
}

Colours Folder::finer_servers(const Classes& classes) const {
  if (are_all_apart(classes.servers)) return classes.servers;
  std::map<std::pair<int, std::vector<Seen>>, int> numbers;
  Colours finer;
  for (std::size_t server = 0; server < routes_.servers(); ++server) {
    std::vector<Seen> ways;
    for (std::size_t worker = 0; worker < routes_.workers().size(); ++worker) {
      for (const std::size_t to_server : {0U, 1U}) {
        ways.emplace_back(classes.workers[worker] * 2 + static_cast<int>(to_server),
                          crossed(classes, worker, server * 2 + to_server));
      }
    }
    std::ranges::sort(ways);
    finer.push_back(numbers.try_emplace({classes.servers[server], std::move(ways)}, static_cast<int>(numbers.size()))
                        .first->second);
  }
  return finer;
}

Classes Folder::refined(Colours workers, Colours servers) const {
  Classes classes{std::move(workers), std::move(servers), {}, {}, {}};
  while (true) {
    look_at_links(classes);
    look_at_flows(classes);
    Colours finer_of_workers = finer_workers(classes);
    Colours finer_of_servers = finer_servers(classes);
    if (finer_of_workers == classes.workers && finer_of_servers == classes.servers) return classes;
    classes.workers = std::move(finer_of_workers);
    classes.servers = std::move(finer_of_servers);
  }
}

bool Folder::pairs_are_alike(const Classes& classes) const {
  std::map<std::pair<int, int>, int> of_pair;
  for (std::size_t worker = 0; worker < routes_.workers().size(); ++worker) {
    for (std::size_t way = 0; way < routes_.ways(); ++way) {
      const int flow = crossed(classes, worker, way);
      const auto place = of_pair.try_emplace({classes.workers[worker], classes.way(way)}, flow).first;
      if (place->second != flow) return false;
    }
  }
  return true;
}

/// The ways of a worker that stands for its class, to the first server of every class.
void Folder::add_ways(ServerNetwork& network, const Classes& classes, std::size_t worker) const {
  int next = 0;
  for (std::size_t way = 0; way < routes_.ways(); ++way) {
    if (classes.way(way) != next) continue;
    ++next;
    const Route& route = routes_.route(worker, way);
    std::map<int, int> times;
    for (const int link : route.links) {
      const auto index = as_index(link);
      times[classes.links[index]] = classes.loads[index].at({classes.workers[worker], classes.way(way)});
    }
    ServerNetwork::Way& added = network.ways.emplace_back(ServerNetwork::Way{{}, route.latency, route.paths});
    for (const auto& [link, count] : times) added.crossings.push_back({link, count});
  }
}

/// What all flows on a link have in common goes into its capacity.
void reduce(ServerNetwork& network) {
  std::vector<int> common(network.capacities.size(), 0);
  for (const ServerNetwork::Way& way : network.ways) {
    for (const auto& [link, times] : way.crossings) {
      int& divisor = common[as_index(link)];
      divisor = std::gcd(divisor, times);
    }
  }
  for (ServerNetwork::Way& way : network.ways) {
    for (Crossing& crossing : way.crossings) crossing.times /= common[as_index(crossing.link)];
  }
  for (std::size_t link = 0; link < common.size(); ++link) {
    network.capacities[link] /= std::max(common[link], 1);
    network.congestion[link].flows = std::max(common[link], 1);
  }
}

ServerNetwork Folder::network(Classes classes, bool in_company) const {
  if (in_company) classes.links = all_apart(classes.links.size());
  ServerNetwork network;
  network.servers = classes.servers.empty() ? 0 : std::ranges::max(classes.servers) + 1;
  network.stands_for = classes.servers;
  for (std::size_t link = 0; link < classes.links.size(); ++link) {
    if (classes.links[link] != static_cast<int>(network.capacities.size())) continue;
    network.capacities.push_back(routes_.capacities()[link]);
    network.congestion.push_back(congestion_of(link));
  }
  for (std::size_t w = 0; w < routes_.workers().size(); ++w) {
    const ServerRoutes::Worker& worker = routes_.workers()[w];
    if (classes.workers[w] == static_cast<int>(network.groups.size())) {
      network.groups.push_back({{}, 0, routes_.bus_of(worker)});
      add_ways(network, classes, w);
    }
    ServerNetwork::Group& group = network.groups[as_index(classes.workers[w])];
    ++group.workers;
    group.ranks.insert(group.ranks.end(), worker.ranks.begin(), worker.ranks.end());
  }
  if (in_company) {
    network.shared = routes_.platform().links.size();
  } else {
    reduce(network);
  }
  return network;
}

/// Servers that keep alike shards, in the same order, are numbered alike, from zero on in the order of the first.
Colours numbered(const std::vector<int>& profile) {
  std::map<int, int> numbers;
  Colours colours;
  for (const int kept : profile) {
    colours.push_back(numbers.try_emplace(kept, static_cast<int>(numbers.size())).first->second);
  }
  return colours;
}

}  // namespace

ServerNetwork make_server_network(const Platform& platform, const Placement& placement,
                                  const std::vector<int>& server_nodes, const ServerPlan& plan, Carried carried,
                                  const std::vector<int>& profile) {
  const ServerRoutes routes(platform, placement, server_nodes, plan);
  const Folder folder(routes);
  const std::size_t workers = routes.workers().size();
  const Colours first = carried == Carried::together ? Colours(workers, 0) : all_apart(workers);
  if (!profile.empty()) {
    Classes classes = folder.refined(first, numbered(profile));
    if (folder.pairs_are_alike(classes)) return folder.network(std::move(classes), false);
  }
  return folder.network(folder.refined(first, all_apart(routes.servers())), carried == Carried::in_company);
}

}}  // namespace farandole::training
