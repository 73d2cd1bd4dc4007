#include "platform/platform.hpp"

#include <algorithm>
#include <utility>

namespace farandole {
namespace {

std::vector<int> tree_path(const std::vector<Vertex>& vertices, int from, int to) {
  std::vector<int> links;
  std::vector<int> descent;
  while (from != to) {
    // A parent stands before its children, so the vertex with the larger index cannot be above the other: it climbs.
    const bool source_climbs = from > to;
    const Vertex& vertex = vertices[static_cast<std::size_t>(source_climbs ? from : to)];
    const int link = source_climbs ? vertex.up : vertex.down;
    if (link >= 0) (source_climbs ? links : descent).push_back(link);
    (source_climbs ? from : to) = vertex.parent;
  }
  links.insert(links.end(), descent.rbegin(), descent.rend());
  return links;
}

}  // namespace

Route Platform::route(int from_device, int to_device) const {
  Route route;
  if (from_device == to_device) return route;
  const DeviceSlot& from = devices[static_cast<std::size_t>(from_device)];
  const DeviceSlot& to = devices[static_cast<std::size_t>(to_device)];
  const bool same_node = from.node == to.node;
  if (same_node && from.fabric_up >= 0 && to.fabric_down >= 0) {
    route.links = {from.fabric_up, to.fabric_down};
  } else {
    route.links = tree_path(vertices, from.vertex, to.vertex);
  }
  for (const int link : route.links) route.latency += links[static_cast<std::size_t>(link)].latency;
  route.latency += same_node ? transport.intra_node_latency : transport.inter_node_latency;
  return route;
}

}  // namespace farandole
