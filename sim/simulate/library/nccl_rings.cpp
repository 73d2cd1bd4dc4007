#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "collective/specification.hpp"
#include "simulate/library/nccl_model.hpp"
#include "simulate/library/nccl_route.hpp"
#include "simulate/library/planners.hpp"
#include "simulate/link_loads.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// A run's place in the machine.
struct Rings {
  explicit Rings(const LibraryJob& of)
      : job(of),
        nvlink(nvlink_rate(of.device.compute_capability)),
        graph(survey_channels(of.platform, of.placement, nvlink)),
        root(static_cast<int>(std::ranges::find(graph.order, of.root) - graph.order.begin())) {}

  LibraryJob job;
  BytesPerSecond nvlink;
  ChannelGraph graph;
  int root;

  [[nodiscard]] int channels() const { return std::max(1, graph.nodes > 1 ? graph.nics : graph.nvlinks); }
};

/// Rounds in which a pipeline fills stand for many shorter ones: neither links nor latencies are charged for them. That
/// goes for rounds that are all alike, so that no hop is faster than the slowest one (`hold_back`).
struct Pipelining {
  double filling = 1;  // of the links' capacity
  double waiting = 1;  // share of a message's latency
};
Pipelining pipelining_of(const Schedule& schedule) {
  const double all = rounds(schedule);
  int active = 0;
  for (const Phase& phase : schedule.phases) active += active_repeats(phase);
  const bool is_pipeline = active < rounds(schedule);
  return {all / active, is_pipeline ? (schedule.ranks - 1) / all : 1};
}

RoutedSchedule::Leg ring_leg(const Rings& rings, const Transfer& transfer,
                             const std::vector<BytesPerSecond>& capacities, double waiting) {
  const Platform& platform = rings.job.platform;
  const ChannelGraph& graph = rings.graph;
  const auto device = [&](int position) { return graph.device[static_cast<std::size_t>(position)]; };
  const Route route = platform.route(device(transfer.from), device(transfer.to));
  const bool leaves = platform.node_of(device(transfer.from)) != platform.node_of(device(transfer.to));
  const bool is_spread = leaves ? graph.nics > 1 : graph.inside == LinkClass::nvlink;
  ChannelWay way{route.links, route.paths};
  if (is_spread) way = channel_way(platform, graph, rings.nvlink, transfer.from, transfer.to);
  const BytesPerSecond narrowest = narrowest_of(way.links, way.parts, capacities);
  const bool reduces = transfer.action != Action::copy;
  return {std::move(way.links), route.latency * waiting, narrowest, way.parts,
          reduces ? platform.transport.reduce_rate : BytesPerSecond::infinity()};
}

using Legs = std::vector<std::vector<RoutedSchedule::Leg>>;

/// Every hop crosses a limit of its own, at the rate of the slowest.
void hold_back(Legs& legs, std::vector<BytesPerSecond>& capacities) {
  BytesPerSecond slowest = BytesPerSecond::infinity();
  for (const auto& phase : legs) {
    for (const RoutedSchedule::Leg& leg : phase) slowest = std::min(slowest, leg.narrowest);
  }
  for (auto& phase : legs) {
    for (RoutedSchedule::Leg& leg : phase) {
      leg.links.insert(leg.links.begin(), static_cast<std::size_t>(leg.paths), static_cast<int>(capacities.size()));
      leg.narrowest = slowest;
      capacities.push_back(slowest);
    }
  }
}

RoutedSchedule route_rings(const Rings& rings, int segments) {
  Shape shape(rings.graph.ranks, rings.root);
  shape.segments = segments;
  Schedule schedule = schedule_of_rings(rings.job.operation, shape);
  const Pipelining pipelining = pipelining_of(schedule);
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : rings.job.platform.links) capacities.push_back(link.capacity * pipelining.filling);
  Legs legs;
  for (const Phase& phase : schedule.phases) {
    auto& own = legs.emplace_back();
    for (const Transfer& transfer : phase.transfers)
      own.push_back(ring_leg(rings, transfer, capacities, pipelining.waiting));
  }
  if (pipelining.filling > 1) hold_back(legs, capacities);
  const Platform& platform = rings.job.platform;
  return on_links_of(platform,
                     {std::move(schedule), std::move(legs), std::move(capacities), platform.transport.message});
}

LibraryPlan rings_plan(const std::shared_ptr<const Rings>& rings, Bytes size) {
  const bool is_chain = has_root(rings->job.operation);
  const int segments = is_chain ? nccl_segments(size) : 1;
  return {{is_chain ? "chain" : "ring", "Simple", rings->channels()},
          rings->job.platform.transport.launch,
          fmt::format("{}", segments),
          [=] { return route_rings(*rings, segments); }};
}

}  // namespace

std::function<LibraryPlanner(const LibraryJob& job)> nccl_of_rings() {
  return [](const LibraryJob& job) {
    auto rings = std::make_shared<const Rings>(job);
    return LibraryPlanner{rings->graph.order, [rings](Bytes size) { return rings_plan(rings, size); }};
  };
}

}}  // namespace farandole::simulate
