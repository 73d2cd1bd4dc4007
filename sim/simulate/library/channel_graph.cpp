#include "simulate/library/channel_graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace farandole { inline namespace simulate {
namespace {

/// The devices of one node that take part, by their numbers within the node.
using Locals = std::vector<int>;

const Link& link_of(const NodeTemplate& node, int offset) {
  return node.links[static_cast<std::size_t>(offset)];
}

/// A way over NVLinks alone.
bool is_over_nvlinks(const NodeTemplate& node, const Path& path) {
  return !path.empty() && std::ranges::all_of(path, [&](int offset) { return is_nvlink(link_of(node, offset)); });
}

int links_in(BytesPerSecond rate, BytesPerSecond nvlink) {
  return std::max(1, static_cast<int>(std::lround(rate / nvlink)));
}

/// The offsets of the device's links to others that take part: to each device it is wired to, or, where it is wired to
/// none, its port to the switch. Empty without NVLink.
std::set<int> own_nvlinks(const NodeTemplate& node, const Locals& locals, int device) {
  std::set<int> direct;
  std::set<int> ports;
  for (const int other : locals) {
    if (other == device) continue;
    for (const Path& path : node.way(device, other)) {
      if (is_over_nvlinks(node, path)) (path.size() == 1 ? direct : ports).insert(path.front());
    }
  }
  return direct.empty() ? ports : direct;
}

bool is_wired_directly(const NodeTemplate& node, const Locals& locals) {
  for (const int from : locals) {
    for (const int to : locals) {
      for (const Path& path : node.way(from, to)) {
        if (path.size() == 1 && is_over_nvlinks(node, path)) return true;
      }
    }
  }
  return false;
}

int nvlinks_of(const NodeTemplate& node, const Locals& locals, int device, BytesPerSecond nvlink) {
  int links = 0;
  for (const int offset : own_nvlinks(node, locals, device)) links += links_in(link_of(node, offset).wire, nvlink);
  return links;
}

void survey_inside(const NodeTemplate& node, const Locals& locals, BytesPerSecond nvlink, ChannelGraph& graph) {
  if (locals.size() < 2) return;
  for (std::size_t i = 0; i < locals.size(); ++i) {
    graph.nvlinks = std::min(graph.nvlinks, nvlinks_of(node, locals, locals[i], nvlink));
    for (const Path& path : node.way(locals[i], locals[(i + 1) % locals.size()])) {
      for (const int offset : path) graph.pci = std::min(graph.pci, link_of(node, offset).wire);
    }
  }
  graph.is_switched = graph.is_switched && !is_wired_directly(node, locals);
}

/// Nothing between them, or the device's cable to a PCIe switch. Without switches devices and NICs are on their
/// processors' own lanes, and a way from one to the other passes these.
bool is_beside(const NodeTemplate& node, int device, int nic) {
  const auto is_switch = [](const Link& link) { return link.name.starts_with("switch"); };
  const std::size_t onto_wire = node.nics[static_cast<std::size_t>(nic)].up >= 0 ? 1 : 0;
  const std::size_t between = node.way_out(device, nic).front().size() - onto_wire;
  return between == 0 || (between == 1 && std::ranges::any_of(node.links, is_switch));
}

BytesPerSecond narrowest_wire(const NodeTemplate& node, const Path& path) {
  BytesPerSecond narrowest = BytesPerSecond::infinity();
  for (const int offset : path) narrowest = std::min(narrowest, link_of(node, offset).wire);
  return narrowest;
}

/// NCCL's search takes what it tries from every link of a way (search.cc: followPath): a NIC is as fast as the widest
/// way to it from a device that uses it.
BytesPerSecond rate_of_nic(const NodeTemplate& node, const Locals& locals, int nic) {
  BytesPerSecond widest;
  for (const int device : locals) {
    const auto& own = node.nics_of_device[static_cast<std::size_t>(device)];
    if (std::ranges::find(own, nic) == own.end()) continue;
    for (const Path& path : node.way_out(device, nic)) widest = std::max(widest, narrowest_wire(node, path));
  }
  return widest;
}

void survey_nics(const NodeTemplate& node, const Locals& locals, ChannelGraph& graph) {
  std::set<int> nics;
  for (const int device : locals) {
    const auto& own = node.nics_of_device[static_cast<std::size_t>(device)];
    nics.insert(own.begin(), own.end());
  }
  graph.nics = std::min(graph.nics, static_cast<int>(nics.size()));
  for (const int nic : nics) {
    graph.nic = std::min(graph.nic, rate_of_nic(node, locals, nic));
    const auto near = [&](int device) { return is_beside(node, device, nic); };
    graph.is_beside = graph.is_beside && std::ranges::any_of(locals, near);
  }
}

/// Where the network's own links begin at the NIC, its rate is that of the slowest link between two nodes.
void survey_network(const Platform& platform, ChannelGraph& graph) {
  const auto far = std::ranges::find_if(graph.node, [](int node) { return node > 0; }) - graph.node.begin();
  const Route route = platform.route(graph.device.front(), graph.device[static_cast<std::size_t>(far)]);
  for (const int link : route.links)
    graph.nic = std::min(graph.nic, platform.links[static_cast<std::size_t>(link)].wire);
}

/// Positions of the node that the position is on: [first, last).
std::pair<int, int> node_range(const ChannelGraph& graph, int position) {
  const int here = graph.node[static_cast<std::size_t>(position)];
  const auto [first, last] = std::equal_range(graph.node.begin(), graph.node.end(), here);
  return {static_cast<int>(first - graph.node.begin()), static_cast<int>(last - graph.node.begin())};
}

Locals locals_of(const Platform& platform, const ChannelGraph& graph, int position) {
  Locals locals;
  const auto [begin, end] = node_range(graph, position);
  for (int i = begin; i < end; ++i) {
    locals.push_back(graph.device[static_cast<std::size_t>(i)] % platform.devices_per_node);
  }
  return locals;
}

void order_by_device(const Platform& platform, const Placement& placement, ChannelGraph& graph) {
  graph.ranks = static_cast<int>(placement.device_of_rank.size());
  graph.order.resize(placement.device_of_rank.size());
  std::iota(graph.order.begin(), graph.order.end(), 0);
  const auto device = [&](int rank) { return placement.device_of_rank[static_cast<std::size_t>(rank)]; };
  std::ranges::stable_sort(graph.order, {}, device);
  int last = -1;
  graph.nodes = 0;
  for (const int rank : graph.order) {
    const int here = platform.node_of(device(rank));
    if (here != last) ++graph.nodes;
    last = here;
    graph.device.push_back(device(rank));
    graph.node.push_back(graph.nodes - 1);
  }
}

/// In equal shares, each of which has as many parts as is divided by the numbers of paths of all.
ChannelWay side_by_side(const std::vector<Route>& routes, int paths) {
  ChannelWay way{{}, paths * static_cast<int>(routes.size())};
  for (const Route& route : routes) {
    for (int i = 0; i < paths / route.paths; ++i)
      way.links.insert(way.links.end(), route.links.begin(), route.links.end());
  }
  return way;
}

ChannelWay over_own_nvlinks(const Platform& platform, const Locals& locals, int device, BytesPerSecond nvlink) {
  ChannelWay way{{}, 0};
  for (const int offset : own_nvlinks(platform.node, locals, device % platform.devices_per_node)) {
    const int width = links_in(link_of(platform.node, offset).wire, nvlink);
    const int link = platform.link_of(platform.node_of(device), offset);
    way.links.insert(way.links.end(), static_cast<std::size_t>(width), link);
    way.parts += width;
  }
  return way;
}

/// Side by side along every channel's ring, from the device at one place of it to the one at the other.
ChannelWay along_rings(const Platform& platform, const ChannelGraph& graph, int node, std::size_t from,
                       std::size_t to) {
  std::vector<Route> hops;
  int paths = 1;
  for (const auto& ring : graph.rings) {
    const int first = node * platform.devices_per_node;
    hops.push_back(platform.route(first + ring.at(from), first + ring.at(to)));
    paths = std::lcm(paths, hops.back().paths);
  }
  return side_by_side(hops, paths);
}

/// As many devices of a node as it has NICs, each beside the ones it is near.
std::vector<int> devices_at_nics(const Platform& platform, const ChannelGraph& graph, int position) {
  std::map<int, std::size_t> users;  // by the first of their NICs
  std::vector<int> devices;
  const auto [begin, end] = node_range(graph, position);
  for (int i = begin; i < end; ++i) {
    const int device = graph.device[static_cast<std::size_t>(i)];
    const auto& own = platform.node.nics_of_device[static_cast<std::size_t>(device % platform.devices_per_node)];
    if (users[own.front()]++ < own.size()) devices.push_back(device);
  }
  return devices;
}

/// Side by side over the NICs of both nodes, in equal shares and each over one of its own at either end: as many as
/// both have.
ChannelWay over_all_nics(const Platform& platform, const ChannelGraph& graph, int from, int to) {
  const std::vector<int> senders = devices_at_nics(platform, graph, from);
  const std::vector<int> receivers = devices_at_nics(platform, graph, to);
  std::vector<Route> rails;
  int paths = 1;
  for (std::size_t i = 0; i < std::min(senders.size(), receivers.size()); ++i) {
    rails.push_back(platform.route(senders[i], receivers[i]));
    paths = std::lcm(paths, rails.back().paths);
  }
  return side_by_side(rails, paths);
}

}  // namespace

bool is_nvlink(const Link& link) {
  return link.name.find("nvlink") != std::string::npos;
}

ChannelGraph survey_channels(const Platform& platform, const Placement& placement, BytesPerSecond nvlink,
                             double scale) {
  ChannelGraph graph;
  order_by_device(platform, placement, graph);
  constexpr int many = std::numeric_limits<int>::max();
  graph.nvlinks = graph.nics = graph.fewest_per_node = many;
  graph.pci = graph.nic = BytesPerSecond::infinity();
  graph.sharp = platform.transport.sharp;
  graph.posted = platform.transport.nic;
  std::set<Locals> seen;
  for (int position = 0; position < graph.ranks; position = node_range(graph, position).second) {
    const Locals locals = locals_of(platform, graph, position);
    if (!seen.insert(locals).second) continue;
    const int ranks = node_range(graph, position).second - position;
    graph.fewest_per_node = std::min(graph.fewest_per_node, ranks);
    graph.fullest = std::max(graph.fullest, ranks);
    survey_inside(platform.node, locals, nvlink * scale, graph);
    survey_nics(platform.node, locals, graph);
  }
  if (graph.nvlinks == many) graph.nvlinks = 0;
  if (graph.nvlinks > 0) graph.inside = LinkClass::nvlink;
  if (graph.nodes == 1) graph.nics = 0;
  const bool has_wires = std::ranges::none_of(platform.node.nics, [](const auto& nic) { return nic.up < 0; });
  if (graph.nodes > 1 && !has_wires) survey_network(platform, graph);
  graph.pci /= scale;
  graph.nic /= scale;
  return graph;
}

ChannelWay channel_way(const Platform& platform, const ChannelGraph& graph, BytesPerSecond nvlink, int from, int to) {
  const auto at = [&](const std::vector<int>& of, int position) { return of[static_cast<std::size_t>(position)]; };
  if (at(graph.node, from) != at(graph.node, to)) return over_all_nics(platform, graph, from, to);
  if (!graph.rings.empty()) {
    const auto place = [&](int position) { return static_cast<std::size_t>(position - node_range(graph, from).first); };
    return along_rings(platform, graph, platform.node_of(at(graph.device, from)), place(from), place(to));
  }
  if (graph.inside == LinkClass::nvlink && !graph.is_switched) {
    return over_own_nvlinks(platform, locals_of(platform, graph, from), at(graph.device, from), nvlink);
  }
  const Route route = platform.route(at(graph.device, from), at(graph.device, to));
  return {route.links, route.paths};
}

}}  // namespace farandole::simulate
