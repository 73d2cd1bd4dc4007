#include "platform/platform.hpp"

#include <cmath>
#include <numeric>

namespace farandole::inline platform {
namespace {

/// The same path from another node's first link on.
void append(Path& path, const Path& offsets, int first_link) {
  for (const int offset : offsets) path.push_back(first_link + offset);
}

/// Through one NIC of each node.
Paths through(const Platform& platform, int from_device, int from_nic, int to_device, int to_nic) {
  const auto nics = static_cast<int>(platform.node.nics.size());
  const int from_node = platform.node_of(from_device);
  const int to_node = platform.node_of(to_device);
  const int each = platform.devices_per_node;
  const Paths& out = platform.node.way_out(from_device % each, from_nic);
  const Paths& in = platform.node.way_in(to_nic, to_device % each);
  const Paths across = platform.network.paths(from_node * nics + from_nic, to_node * nics + to_nic);
  Paths paths(std::lcm(out.size(), std::lcm(across.size(), in.size())));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    paths[i].reserve(out[i % out.size()].size() + across[i % across.size()].size() + in[i % in.size()].size());
    append(paths[i], out[i % out.size()], platform.link_of(from_node, 0));
    append(paths[i], across[i % across.size()], 0);
    append(paths[i], in[i % in.size()], platform.link_of(to_node, 0));
  }
  return paths;
}

Paths between_nodes(const Platform& platform, int from, int to) {
  const auto& senders = platform.node.nics_of_device[static_cast<std::size_t>(from % platform.devices_per_node)];
  const auto& own = platform.node.nics_of_device[static_cast<std::size_t>(to % platform.devices_per_node)];
  const auto& receivers = platform.network.rails_apart ? senders : own;
  if (senders.size() == 1 && receivers.size() == 1) {
    return through(platform, from, senders.front(), to, receivers.front());
  }
  std::vector<Paths> ways;
  const std::size_t pairs = std::lcm(senders.size(), receivers.size());
  ways.reserve(pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    ways.push_back(through(platform, from, senders[i % senders.size()], to, receivers[i % receivers.size()]));
  }
  return side_by_side(ways);
}

/// Whether acknowledgements are worth the length of the route they make.
bool counts_acknowledgements(const Platform& platform) {
  constexpr double least = 0.01;
  return platform.ack_overhead >= least;
}

/// Acknowledgements as a share of what is sent that goes back the way it came: with `ack_overhead` = 1/k, every path k
/// times and the opposite direction once.
void add_acknowledgements(const Platform& platform, const Paths& back, Route& route) {
  const auto times = static_cast<std::size_t>(std::lround(1 / platform.ack_overhead));
  const std::vector<int> forward = route.links;
  route.links.reserve(forward.size() * (times + 1));
  for (std::size_t i = 1; i < times; ++i) route.links.insert(route.links.end(), forward.begin(), forward.end());
  for (const Path& path : back) route.links.insert(route.links.end(), path.begin(), path.end());
  route.paths *= static_cast<int>(times);
}

Paths within_node(const Platform& platform, int from, int to) {
  const int each = platform.devices_per_node;
  return shifted(platform.node.way(from % each, to % each), platform.link_of(platform.node_of(from), 0));
}

}  // namespace

Route Platform::route(int from_device, int to_device) const {
  Route route;
  if (from_device == to_device) return route;
  const bool same_node = node_of(from_device) == node_of(to_device);
  const Paths paths =
      same_node ? within_node(*this, from_device, to_device) : between_nodes(*this, from_device, to_device);
  route.paths = static_cast<int>(paths.size());
  if (!paths.empty()) route.links.reserve(paths.size() * paths.front().size());
  for (const Path& path : paths) route.links.insert(route.links.end(), path.begin(), path.end());
  for (const int link : route.links) route.latency += links[static_cast<std::size_t>(link)].latency;
  route.latency /= route.paths;
  route.latency += same_node ? transport.intra_node_latency : transport.inter_node_latency;
  if (!same_node && counts_acknowledgements(*this))
    add_acknowledgements(*this, between_nodes(*this, to_device, from_device), route);
  return route;
}

}  // namespace farandole::inline platform
