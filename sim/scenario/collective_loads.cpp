#include <utility>

#include "scenario/network_loads.hpp"
#include "simulate/link_loads.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// A library may lay its ways over limits of its own, which follow behind the platform's links.
RoutedSchedule route_request(const CollectiveRequest& request, const Topology& topology, const Platform& platform,
                             const Placement& placement, Bytes size) {
  if (!is_library(request.algorithm)) {
    return {request.algorithm.build(shape_of(request, topology, placement, size)), platform, placement};
  }
  return request.library.library->planner(library_job(request, platform, placement)).plan(size).route();
}

}  // namespace

NetworkLoads loads_of(const CollectivePoint& point, const CollectiveRequest& request, const Topology& topology,
                      const Value& where) {
  const Placement placement = place(request.placement, request.ranks, {}, layout_of(topology), where);
  Platform platform = build_for(topology, placement, where);
  std::vector<Bytes> bytes;
  if (request.ranks > 1 && point.bytes > Bytes(0)) {
    bytes = link_bytes(route_request(request, topology, platform, placement, point.bytes), point.bytes);
  }
  return loads_over(std::move(platform), std::move(bytes), point.time);
}

}}  // namespace farandole::scenario
