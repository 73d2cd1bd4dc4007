#include "simulate/library/nccl_route.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/rings.hpp"
#include "collective/algorithms/trees.hpp"
#include "simulate/link_loads.hpp"

namespace farandole::inline simulate {
namespace {

bool is_tree(const NcclChoice& choice) {
  return choice.algorithm == NcclAlgorithm::tree || choice.algorithm == NcclAlgorithm::nvls_tree;
}

/// NVLink SHARP is laid as a ring inside a node, and as trees between nodes. PAT, in which every rank sends to those at
/// 1, 2, 4, ..., is laid as a ring, too: it sends as many bytes from and to every NIC.
Schedule schedule_of(const NcclJob& job, const NcclChoice& choice, int segments) {
  Shape shape(job.graph.ranks, job.root);
  shape.segments = segments;
  shape.ranks_per_node = (job.graph.ranks + job.graph.nodes - 1) / job.graph.nodes;
  switch (job.operation) {
    case Operation::allreduce:
      return is_tree(choice) ? node_tree_allreduce(shape) : ring_allreduce(shape);
    case Operation::reduce_scatter:
      return ring_reduce_scatter(shape);
    case Operation::allgather:
      return ring_allgather(shape);
    case Operation::broadcast:
      return chain_broadcast(shape);
    case Operation::reduce:
      return chain_reduce(shape);
    default:
      return direct_alltoall(shape);
  }
}

/// What a hop carries in a round it takes part in, as a share of the size.
double share_per_round(const Schedule& schedule) {
  return 1.0 / static_cast<double>(schedule.chunks);
}

using Legs = std::vector<std::vector<RoutedSchedule::Leg>>;

/// Messages of an alltoall go from device to device; all else is spread over the channels.
ChannelWay way_between(const NcclJob& job, int from, int to) {
  if (job.operation != Operation::alltoall) return channel_way(job.platform, job.graph, job.nvlink, from, to);
  const Route route = job.platform.route(job.graph.device[static_cast<std::size_t>(from)],
                                         job.graph.device[static_cast<std::size_t>(to)]);
  return {route.links, route.paths};
}

std::vector<BytesPerSecond> capacities_of(const Platform& platform, double payload) {
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : platform.links) capacities.push_back(link.capacity * payload);
  return capacities;
}

/// With switches that add and multiply a device sends its data once, for them to be added up, and its part of the sum;
/// and receives as much. What its schedule says more is on no wire.
void add_in_switches(const NcclJob& job, const NcclChoice& choice, std::vector<BytesPerSecond>& capacities) {
  const double members = job.graph.ranks_per_node();
  const double scheduled = is_tree(choice) ? 2 : 2 * (members - 1) / members;
  for (std::size_t link = 0; link < capacities.size(); ++link) {
    if (is_nvlink(job.platform.links[link])) capacities[link] *= scheduled / (1 + 1 / members);
  }
}

/// All parts of the way cross the limit first. `narrowest`: of the way.
RoutedSchedule::Leg leg(int limit, const ChannelWay& way, Seconds latency, BytesPerSecond narrowest,
                        const std::vector<BytesPerSecond>& capacities) {
  RoutedSchedule::Leg result{{}, latency, std::min(narrowest, capacities[static_cast<std::size_t>(limit)]), way.parts};
  const auto parts = static_cast<std::size_t>(way.parts);
  result.links.reserve(parts + way.links.size());
  result.links.assign(parts, limit);
  result.links.insert(result.links.end(), way.links.begin(), way.links.end());
  return result;
}

/// Links lose to flows that converge whoever sends.
RoutedSchedule on_links_of(const Platform& platform, RoutedSchedule routed) {
  std::vector<Congestion> congestion(routed.capacities().size());
  bool has_any = false;
  for (std::size_t link = 0; link < platform.links.size(); ++link) {
    congestion[link].curve = platform.links[link].congestion;
    has_any = has_any || congestion[link].curve != nullptr;
  }
  if (has_any) routed.congest(std::move(congestion));
  return routed;
}

RoutedSchedule route_algorithm(const NcclJob& job, const NcclChoice& choice, int segments) {
  Schedule schedule = schedule_of(job, choice, segments);
  const int all_rounds = rounds(schedule);
  int active = 0;
  for (const Phase& phase : schedule.phases) active += active_repeats(phase);
  const double filling = static_cast<double>(all_rounds) / active;
  auto capacities = capacities_of(job.platform, payload_share(choice.protocol) * filling);
  if (is_nvls(choice.algorithm)) add_in_switches(job, choice, capacities);
  const BytesPerSecond limit = choice.cost.rate * (share_per_round(schedule) * all_rounds);
  // A ring goes the same way twice, and over a wide fat tree a way has thousands of links.
  std::map<std::pair<int, int>, std::pair<ChannelWay, BytesPerSecond>> ways;
  Legs legs;
  for (const Phase& phase : schedule.phases) {
    auto& own = legs.emplace_back();
    for (const Transfer& transfer : phase.transfers) {
      const auto [known, is_new] = ways.try_emplace({transfer.from, transfer.to});
      auto& [way, narrowest] = known->second;
      if (is_new) {
        way = way_between(job, transfer.from, transfer.to);
        narrowest = narrowest_of(way.links, way.parts, capacities);
      }
      capacities.push_back(limit);
      own.push_back(
          leg(static_cast<int>(capacities.size()) - 1, way, choice.cost.hops / all_rounds, narrowest, capacities));
    }
  }
  return on_links_of(job.platform, {std::move(schedule), std::move(legs), std::move(capacities)});
}

/// From so many messages on their ways are worked out when they are asked for, which ranks that are alike spare.
constexpr std::size_t many_messages = std::size_t{1} << 17;

/// The same on the machine's own links and transport. Two things are not told apart there: messages inside a node keep
/// the proxy busy, too (7 of 511, of 512 ranks in nodes of eight), and a device may send to its node and to the others
/// at once, which together can only be more than its channels do where there are few others.
RoutedSchedule route_many_messages(const NcclJob& job, const NcclModel& model, Schedule schedule,
                                   const Occupancy& proxy) {
  Platform platform = job.platform;
  for (Link& link : platform.links) link.latency = Seconds(0);
  Transport& transport = platform.transport;
  transport.intra_node_latency = model.message_hop(job.graph.inside);
  transport.inter_node_latency = model.message_hop(LinkClass::net);
  transport.occupancy = proxy;
  transport.message = {};
  transport.eager_sends = false;
  transport.send_window = transport.burst = Bytes(0);
  transport.handshakes.reset();
  platform.flow_rate = BytesPerSecond::infinity();
  const Placement placement{job.graph.device};
  return {std::move(schedule), platform, placement, RoutedSchedule::Routing::when_asked};
}

/// A device sends to the others at most what its channels can do.
RoutedSchedule route_messages(const NcclJob& job, const NcclModel& model, const NcclChoice& choice) {
  Schedule schedule = schedule_of(job, choice, 1);
  const Occupancy& known = job.platform.transport.occupancy;
  const Occupancy proxy = known.send + known.receive > Seconds(0) ? known : model.message_occupancy();
  const auto members = static_cast<std::size_t>(job.graph.ranks);
  if (members * members > many_messages) return route_many_messages(job, model, std::move(schedule), proxy);
  auto capacities = capacities_of(job.platform, payload_share(choice.protocol));
  const auto limits = static_cast<int>(capacities.size());
  capacities.resize(capacities.size() + members, model.bus_rate());
  Legs legs(schedule.phases.size());
  const Phase none{"", {}};
  const Phase& phase = schedule.phases.empty() ? none : schedule.phases.front();
  for_each_transfer(schedule, phase, 0, [&](const Transfer& sent, std::size_t) {
    const auto node = [&](int position) { return job.graph.node[static_cast<std::size_t>(position)]; };
    const bool is_inside = node(sent.from) == node(sent.to);
    const Seconds hop = model.message_hop(is_inside ? job.graph.inside : LinkClass::net);
    const ChannelWay way = way_between(job, sent.from, sent.to);
    legs[0].push_back(leg(limits + sent.from, way, hop, narrowest_of(way.links, way.parts, capacities), capacities));
    if (!is_inside) legs[0].back().occupancy = proxy;
  });
  return on_links_of(job.platform, {std::move(schedule), std::move(legs), std::move(capacities)});
}

}  // namespace

std::string schedule_name(const NcclJob& job, const NcclChoice& choice) {
  const bool has_own_schedule = !is_nvls(choice.algorithm) && choice.algorithm != NcclAlgorithm::pat;
  return has_own_schedule ? schedule_of(job, choice, 1).algorithm : name(choice.algorithm);
}

int nccl_segments(Bytes size) {
  return static_cast<int>(std::clamp(size.si() / 2, 1.0, 8.0));
}

RoutedSchedule route_as_nccl(const NcclJob& job, const NcclModel& model, const NcclChoice& choice, Bytes size) {
  if (job.operation == Operation::alltoall) return route_messages(job, model, choice);
  return route_algorithm(job, choice, nccl_segments(size));
}

}  // namespace farandole::inline simulate
