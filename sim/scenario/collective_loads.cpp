#include "scenario/collective_loads.hpp"

#include <algorithm>
#include <functional>

#include "simulate/link_loads.hpp"

namespace farandole {
namespace {

/// A library may lay its ways over limits of its own, which follow behind the platform's links.
RoutedSchedule route(const CollectiveRequest& request, const Topology& topology, const Platform& platform,
                     const Placement& placement, Bytes size) {
  if (!is_library(request.algorithm)) {
    return {request.algorithm.build(shape_of(request, topology, placement, size)), platform, placement};
  }
  const LibraryJob job{platform, placement, request.algorithm.operation, request.root,
                       request.library.compute_capability};
  return request.library.library->planner(job).plan(size).route();
}

}  // namespace

std::vector<LinkUse> CollectiveLoads::busiest(std::size_t count) const {
  std::vector<LinkUse> uses;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Link& link = platform.links[i];
    if (bytes[i] > Bytes(0)) uses.push_back({link.name, bytes[i], link.capacity, utilisation[i]});
  }
  std::ranges::stable_sort(uses, std::greater{}, &LinkUse::utilisation);
  if (uses.size() > count) uses.resize(count);
  return uses;
}

CollectiveLoads loads_of(const CollectivePoint& point, const CollectiveRequest& request, const Topology& topology,
                         const Value& where) {
  const Placement placement = place(request.placement, request.ranks, {}, layout_of(topology), where);
  CollectiveLoads loads{build_for(topology, placement, where), {}, {}};
  const std::size_t links = loads.platform.links.size();
  if (request.ranks > 1 && point.bytes > Bytes(0)) {
    loads.bytes = link_bytes(route(request, topology, loads.platform, placement, point.bytes), point.bytes);
  }
  loads.bytes.resize(links);
  loads.utilisation.resize(links);
  for (std::size_t i = 0; i < links; ++i) {
    if (loads.bytes[i] == Bytes(0)) continue;
    loads.utilisation[i] = loads.bytes[i] / (loads.platform.links[i].capacity * point.time);
  }
  return loads;
}

}  // namespace farandole
