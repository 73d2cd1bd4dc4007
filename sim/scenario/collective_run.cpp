#include "scenario/collective_run.hpp"

#include <algorithm>

#include "collective/specification.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/fluid_network.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

/// nccl-tests' bus bandwidth factor: what the slowest link carries per byte of the size.
double bus_factor(Operation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (operation) {
    case Operation::allreduce:
      return 2 * others;
    case Operation::reduce_scatter:
    case Operation::allgather:
    case Operation::alltoall:
    case Operation::gather:
    case Operation::scatter:
      return others;
    case Operation::broadcast:
    case Operation::reduce:
      return 1;
    case Operation::barrier:
      return 0;
  }
  return 1;
}

Shape shape_of(const CollectiveRequest& request, const Topology& topology, const Placement& placement) {
  Shape shape(request.ranks, request.root);
  shape.ranks_per_node = placement.ranks_per_node(topology.devices_per_node);
  shape.segments = request.segments;
  return shape;
}

CollectivePoint point(const CollectiveRequest& request, Fidelity fidelity, Bytes size, Seconds time, bool folded) {
  const BytesPerSecond bandwidth = time > Seconds(0) ? size / time : BytesPerSecond(0);
  return {name(request.algorithm.operation),
          request.algorithm.name,
          request.ranks,
          size,
          time,
          bandwidth,
          bandwidth * bus_factor(request.algorithm.operation, request.ranks),
          name(fidelity),
          folded,
          request.root};
}

}  // namespace

std::vector<Bytes> size_range(Bytes least, Bytes most, int factor) {
  std::vector<Bytes> sizes;
  for (Bytes size = least; size <= most; size *= factor) {
    sizes.push_back(size);
    if (factor < 2 || size == Bytes(0)) break;
  }
  return sizes;
}

std::vector<CollectivePoint> run_collective(const CollectiveRequest& request, const Topology& topology,
                                            const Value& where) {
  const Placement placement = place(request.placement, request.ranks, {}, layout_of(topology), where);
  const Platform platform = build_for(topology, placement, where);
  const RankTimes start = all_at(request.ranks, Seconds(0));
  std::vector<CollectivePoint> points;
  for (const Fidelity fidelity : request.fidelities) {
    const auto clock = make_collective_clock(
        fidelity, RoutedSchedule(request.algorithm.build(shape_of(request, topology, placement)), platform, placement),
        request.folding);
    for (const Bytes size : request.sizes) {
      const Seconds launch = request.ranks > 1 ? platform.transport.launch : Seconds(0);
      const Seconds time = latest(clock->finish(size, start)) + launch;
      points.push_back(point(request, fidelity, size, time, clock->folded()));
    }
  }
  std::ranges::stable_sort(points, {}, &CollectivePoint::bytes);
  return points;
}

Settings collective_settings(const CollectiveRequest& request, const Topology& topology) {
  Settings settings{
      {"transport.name", topology.transport.name},
      {"transport.intra_node_latency", format(topology.transport.intra_node_latency)},
      {"transport.inter_node_latency", format(topology.transport.inter_node_latency)},
      {"transport.launch", format(topology.transport.launch)},
      {"topology", topology.name},
  };
  if (has_root(request.algorithm.operation)) settings["root"] = std::to_string(request.root);
  if (request.segments > 0) settings["segments"] = std::to_string(request.segments);
  const bool simgrid = std::ranges::any_of(request.fidelities, [](Fidelity f) { return f != Fidelity::analytic; });
  if (simgrid) {
    for (const auto& [key, value] : simgrid_settings()) settings["simgrid." + key] = value;
  }
  return settings;
}

}  // namespace farandole
