#include "platform/host_route.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Ways of a node, with links of the platform, that end at (or start from) one of its NICs.
struct NicWays {
  Paths paths;
  int nic;
};

int nic_of(const Platform& platform, int node, int nic) {
  return node * static_cast<int>(platform.node.nics.size()) + nic;
}

/// Those of the links that there are.
Paths own_links(const Platform& platform, int node, const std::vector<int>& offsets) {
  Path path;
  for (const int offset : offsets) {
    if (offset >= 0) path.push_back(platform.link_of(node, offset));
  }
  return {path};
}

NicWays host_out(const Platform& platform, int node) {
  const int up = platform.node.nics.front().up;
  return {own_links(platform, node, {platform.node.cpu, up}), nic_of(platform, node, 0)};
}

NicWays host_in(const Platform& platform, int node) {
  const int down = platform.node.nics.front().down;
  return {own_links(platform, node, {down, platform.node.cpu}), nic_of(platform, node, 0)};
}

/// How many links at its ends a way has that lead out of the node.
std::ptrdiff_t outer_links(const Platform& platform) {
  return (platform.node.nics.front().up >= 0 ? 1 : 0) + (platform.node.cpu >= 0 ? 1 : 0);
}

int local_of(const Platform& platform, int device) {
  return device % platform.devices_per_node;
}

int first_nic(const Platform& platform, int device) {
  return platform.node.nics_of_device[static_cast<std::size_t>(local_of(platform, device))].front();
}

NicWays device_out(const Platform& platform, int device, int nic) {
  const int node = platform.node_of(device);
  return {shifted(platform.node.way_out(local_of(platform, device), nic), platform.link_of(node, 0)),
          nic_of(platform, node, nic)};
}

NicWays device_in(const Platform& platform, int device, int nic) {
  const int node = platform.node_of(device);
  return {shifted(platform.node.way_in(nic, local_of(platform, device)), platform.link_of(node, 0)),
          nic_of(platform, node, nic)};
}

Route route_of(const Platform& platform, const Paths& paths, Seconds transport) {
  Route route;
  route.paths = static_cast<int>(paths.size());
  for (const Path& path : paths) append_links(route.links, path);
  if (route.paths > 0) route.latency = mean_latency(platform, route) + transport;
  return route;
}

Route over(const Platform& platform, const NicWays& out, const Paths& network, const NicWays& in) {
  return route_of(platform, end_to_end(out.paths, 0, network, in.paths, 0), platform.transport.inter_node_latency);
}

Route across(const Platform& platform, const NicWays& out, const NicWays& in) {
  if (!platform.network.choice) return over(platform, out, platform.network.paths(out.nic, in.nic), in);
  const WayChoice choice = platform.network.choice(out.nic, in.nic);
  const RouteChoice routes{over(platform, out, choice.minimal, in), over(platform, out, choice.other, in)};
  return routes.split(platform.network.minimal_parts);
}

}  // namespace

Route route_to_host(const Platform& platform, int device, int node) {
  if (platform.node_of(device) != node) {
    return across(platform, device_out(platform, device, first_nic(platform, device)), host_in(platform, node));
  }
  Paths paths = device_out(platform, device, 0).paths;
  for (Path& path : paths) path.erase(path.end() - outer_links(platform), path.end());
  return route_of(platform, paths, platform.transport.intra_node_latency);
}

Route route_from_host(const Platform& platform, int node, int device) {
  if (platform.node_of(device) != node) {
    return across(platform, host_out(platform, node), device_in(platform, device, first_nic(platform, device)));
  }
  Paths paths = device_in(platform, device, 0).paths;
  for (Path& path : paths) path.erase(path.begin(), path.begin() + outer_links(platform));
  return route_of(platform, paths, platform.transport.intra_node_latency);
}

Route route_between_hosts(const Platform& platform, int from_node, int to_node) {
  if (from_node == to_node) return {};
  return across(platform, host_out(platform, from_node), host_in(platform, to_node));
}

}}  // namespace farandole::platform
