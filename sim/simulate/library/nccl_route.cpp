#include "simulate/library/nccl_route.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/rings.hpp"
#include "collective/algorithms/trees.hpp"
#include "simulate/link_loads.hpp"

namespace farandole { inline namespace simulate {

Schedule schedule_of_rings(Operation operation, const Shape& shape) {
  switch (operation) {
    case Operation::allreduce:
      return ring_allreduce(shape);
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

RoutedSchedule on_links_of(const Platform& platform, RoutedSchedule routed) {
  std::vector<Congestion> congestion;
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    for (const RoutedSchedule::Leg& leg : routed.legs(phase)) {
      for (const int link : leg.links) {
        if (as_index(link) >= platform.links.size() || platform.links[as_index(link)].congestion == nullptr) continue;
        congestion.resize(routed.capacities().size());
        congestion[as_index(link)].curve = platform.links[as_index(link)].congestion;
      }
    }
  }
  if (!congestion.empty()) routed.congest(std::move(congestion));
  return routed;
}

namespace {

bool is_tree(const NcclChoice& choice) {
  return choice.algorithm == NcclAlgorithm::tree || choice.algorithm == NcclAlgorithm::nvls_tree;
}

/// NVLink SHARP is laid as a ring inside a node, and as trees between nodes; CollNet as a ring. PAT, in which every
/// rank sends to those at 1, 2, 4, ..., is laid as a ring, too: it sends as many bytes from and to every NIC.
Schedule schedule_of_shape(Operation operation, const NcclChoice& choice, const Shape& shape) {
  const bool is_by_trees = is_tree(choice) && operation == Operation::allreduce;
  return is_by_trees ? node_tree_allreduce(shape) : schedule_of_rings(operation, shape);
}

Schedule schedule_of_choice(const NcclJob& job, const NcclChoice& choice, int segments) {
  Shape shape(job.graph.ranks, job.root);
  shape.segments = segments;
  shape.ranks_per_node = (job.graph.ranks + job.graph.nodes - 1) / job.graph.nodes;
  return schedule_of_shape(job.operation, choice, shape);
}

/// What a hop carries in a round it takes part in, as a share of the size.
double share_per_round(const Schedule& schedule) {
  return 1.0 / static_cast<double>(schedule.chunks);
}

using Legs = std::vector<std::vector<RoutedSchedule::Leg>>;

/// Messages of an alltoall go from device to device; all else is spread over the channels.
ChannelWay way_between(const NcclJob& job, int from, int to) {
  if (job.operation != Operation::alltoall) return channel_way(job.platform, job.graph, job.nvlink, from, to);
  const Route route = job.platform.route(job.graph.device[as_index(from)], job.graph.device[as_index(to)]);
  return {route.links, route.paths};
}

double payload_of(const NcclJob& job, const NcclChoice& choice) {
  return job.payload.at(index_of(choice.protocol));
}

/// The share of the data that each hop of a ring carries.
double carried_by_ring(const NcclJob& job) {
  const double ranks = job.graph.ranks;
  return (job.operation == Operation::allreduce ? 2 : 1) * (ranks - 1) / ranks;
}

/// With switches that add and multiply a device sends its data once, for them to be added up, and its part of the sum;
/// and receives as much. By CollNet's chain it passes on all, and passes the sum back; by direct it sends every head
/// its part, and a head its sum to all.
double carried_inside(const NcclJob& job, const NcclChoice& choice) {
  const double members = job.graph.ranks_per_node();
  if (is_nvls(choice.algorithm)) return 1 + 1 / members;
  if (choice.algorithm == NcclAlgorithm::collnet_chain) return 2;
  const double heads = std::min<double>(job.graph.nics, members);
  const double there_and_back = std::max(heads + members - 2, 1.0) / heads;
  return job.operation == Operation::allreduce ? there_and_back : there_and_back / 2;
}

/// A link that a node's devices reach each other by.
bool is_inside(const NcclJob& job, std::size_t link) {
  const Platform& platform = job.platform;
  if (job.graph.inside == LinkClass::nvlink) return is_nvlink(platform.links[link]);
  if (link >= as_index(platform.first_network_link())) return false;
  const int offset = static_cast<int>(link % platform.node.links.size());
  return std::ranges::none_of(platform.node.nics,
                              [&](const auto& nic) { return nic.up == offset || nic.down == offset; });
}

/// What its schedule says more than switches leave to be sent is on no wire. Between nodes a ring crosses each cable of
/// a tree of switches once each way, and so do the sums of CollNet, of which a node sends and takes all there is.
double added_in_switches(const NcclJob& job, const NcclChoice& choice, std::size_t link) {
  if (!is_nvls(choice.algorithm) && !is_collnet(choice.algorithm)) return 1;
  const double scheduled = is_tree(choice) ? 2 : carried_by_ring(job);
  if (is_inside(job, link)) return scheduled / carried_inside(job, choice);
  const double nodes = job.graph.nodes;
  const bool adds_up = !is_tree(choice) && nodes > 1;
  const double taken = job.operation == Operation::allreduce ? 1 : (nodes - 1) / nodes;
  return adds_up ? scheduled / taken : 1;
}

/// All parts of the way cross the limit first. `narrowest`: of the way.
RoutedSchedule::Leg limited_leg(int limit, const ChannelWay& way, Seconds latency, BytesPerSecond narrowest,
                                const std::vector<BytesPerSecond>& capacities) {
  RoutedSchedule::Leg result{{}, latency, std::min(narrowest, capacities[as_index(limit)]), way.parts};
  const auto parts = as_index(way.parts);
  result.links.reserve(parts + way.links.size());
  result.links.assign(parts, limit);
  result.links.insert(result.links.end(), way.links.begin(), way.links.end());
  return result;
}

/// A hop's way, and the least of its links' capacities.
using Hops = std::map<std::pair<int, int>, std::pair<ChannelWay, BytesPerSecond>>;

/// A ring goes the same way twice, and over a wide fat tree a way has thousands of links.
Hops ways_of(const NcclJob& job, const Schedule& schedule) {
  Hops hops;
  for (const Phase& phase : schedule.phases) {
    for (const Transfer& transfer : phase.transfers) {
      const auto [known, is_new] = hops.try_emplace({transfer.from, transfer.to});
      if (is_new) known->second.first = way_between(job, transfer.from, transfer.to);
    }
  }
  return hops;
}

/// Of links that are crossed, which of a large machine are few; of the others nobody asks, and they have 0 of `added`.
std::vector<BytesPerSecond> capacities_of(const NcclJob& job, const NcclChoice& choice, const Hops& hops,
                                          double filling, std::vector<double>& added) {
  std::vector<BytesPerSecond> capacities(job.platform.links.size(), 1_GBps);
  for (const auto& [ends, hop] : hops) {
    for (const int link : hop.first.links) {
      double& times = added[as_index(link)];
      if (times > 0) continue;
      times = added_in_switches(job, choice, as_index(link));
      capacities[as_index(link)] =
          job.platform.links[as_index(link)].capacity * (payload_of(job, choice) * filling) * times;
    }
  }
  return capacities;
}

/// The rate at which the link with most to carry has carried its part of all the data.
BytesPerSecond rate_of_links(const Schedule& schedule, const Hops& hops,
                             const std::vector<BytesPerSecond>& capacities) {
  std::vector<double> carried(capacities.size());  // as a share of the size
  for (const Phase& phase : schedule.phases) {
    for (const Transfer& transfer : phase.transfers) {
      const ChannelWay& way = hops.at({transfer.from, transfer.to}).first;
      const double share = share_per_round(schedule) * active_repeats(phase) / way.parts;
      for (const int link : way.links) carried[as_index(link)] += share;
    }
  }
  auto rate = BytesPerSecond::infinity();
  for (std::size_t link = 0; link < carried.size(); ++link) {
    if (carried[link] > 0) rate = std::min(rate, capacities[link] / carried[link]);
  }
  return rate;
}

}  // namespace

struct NcclLayout {
  Schedule schedule;
  std::vector<BytesPerSecond> capacities;
  Hops hops;
  BytesPerSecond of_links;
  std::shared_ptr<const std::vector<double>> added;  // in switches, by link
};

namespace {

/// While a pipeline fills, links wait. The model's rate knows nothing of that: so every hop is as much faster, and none
/// is faster than the links allow when all of them are busy.
NcclLayout layout_of(const NcclJob& job, const NcclChoice& choice, int segments) {
  Schedule schedule = schedule_of_choice(job, choice, segments);
  int active = 0;
  for (const Phase& phase : schedule.phases) active += active_repeats(phase);
  const double filling = static_cast<double>(rounds(schedule)) / active;
  Hops hops = ways_of(job, schedule);
  std::vector<double> added(job.platform.links.size());
  auto capacities = capacities_of(job, choice, hops, filling, added);
  for (auto& [ends, hop] : hops) hop.second = narrowest_of(hop.first.links, hop.first.parts, capacities);
  const BytesPerSecond of_links = rate_of_links(schedule, hops, capacities) / filling;
  return {std::move(schedule), std::move(capacities), std::move(hops), of_links,
          std::make_shared<const std::vector<double>>(std::move(added))};
}

std::shared_ptr<const NcclLayout> known_layout(const NcclJob& job, const NcclChoice& choice, int segments) {
  const auto fresh = [&] { return std::make_shared<const NcclLayout>(layout_of(job, choice, segments)); };
  if (job.laid == nullptr) return fresh();
  auto& known = (*job.laid)[{choice.algorithm, choice.protocol, segments}];
  if (known == nullptr) known = fresh();
  return known;
}

RoutedSchedule route_algorithm(const NcclJob& job, const NcclChoice& choice, int segments) {
  const auto layout = known_layout(job, choice, segments);
  const int all_rounds = rounds(layout->schedule);
  const double share = share_per_round(layout->schedule) * all_rounds;
  const BytesPerSecond limit = std::min(choice.cost.rate, layout->of_links) * share;
  std::vector<BytesPerSecond> capacities = layout->capacities;
  Legs legs;
  for (const Phase& phase : layout->schedule.phases) {
    auto& own = legs.emplace_back();
    own.reserve(phase.transfers.size());
    for (const Transfer& transfer : phase.transfers) {
      const auto& [way, narrowest] = layout->hops.at({transfer.from, transfer.to});
      capacities.push_back(limit);
      own.push_back(limited_leg(static_cast<int>(capacities.size()) - 1, way, choice.cost.hops / all_rounds, narrowest,
                                capacities));
    }
  }
  RoutedSchedule routed = on_links_of(job.platform, {layout->schedule, std::move(legs), std::move(capacities)});
  routed.add_in_switches(layout->added);
  return routed;
}

/// From so many messages on their ways are worked out when they are asked for, which ranks that are alike spare.
constexpr std::size_t many_messages = std::size_t{1} << 17;

/// At which a proxy posts what its device sends and receives of long messages, in chunks: each way as much, and no more
/// than the network was measured to carry.
BytesPerSecond posted(const NcclMessages& messages, const Occupancy& proxy) {
  return std::min(messages.chunk / (proxy.send + proxy.receive), messages.wire);
}

/// The same on the machine's own links and transport. Two things are not told apart there: messages inside a node keep
/// the proxy busy, too (7 of 511, of 512 ranks in nodes of eight), and a device may send to its node and to the others
/// at once, which together can only be more than its channels do where there are few others.
RoutedSchedule route_many_messages(const NcclJob& job, Schedule schedule, const Occupancy& proxy) {
  Platform platform = job.platform;
  for (Link& link : platform.links) link.latency = Seconds(0);
  Transport& transport = platform.transport;
  transport.intra_node_latency = job.messages.inside;
  transport.inter_node_latency = job.messages.between;
  transport.occupancy = proxy;
  transport.message = {};
  transport.eager_sends = false;
  transport.send_window = transport.burst = Bytes(0);
  transport.handshakes.reset();
  platform.flow_rate = BytesPerSecond::infinity();
  const double sharing = static_cast<double>(job.graph.fewest_per_node) / job.graph.nics;
  for (int node = 0; node < platform.nodes; ++node) {
    for (const auto& nic : platform.node.nics) {
      for (const int offset : {nic.up, nic.down}) {
        if (offset < 0) continue;
        Link& link = platform.links[as_index(platform.link_of(node, offset))];
        link.capacity = std::min(link.capacity, posted(job.messages, proxy) * sharing);
      }
    }
  }
  const Placement placement{job.graph.device};
  return {std::move(schedule), platform, placement, RoutedSchedule::Routing::when_asked};
}

/// What leaves the node goes through the device's proxy.
void post(RoutedSchedule::Leg& leg, int through, const Occupancy& proxy,
          const std::vector<BytesPerSecond>& capacities) {
  leg.occupancy = proxy;
  leg.links.insert(leg.links.end(), as_index(leg.paths), through);
  leg.narrowest = std::min(leg.narrowest, capacities[as_index(through)]);
}

/// A device sends to the others at most what its channels can do, and to other nodes what its proxy posts.
RoutedSchedule route_messages(const NcclJob& job, const NcclChoice& choice) {
  Schedule schedule = schedule_of_choice(job, choice, 1);
  const Occupancy& known = job.platform.transport.occupancy;
  const Occupancy proxy = known.send + known.receive > Seconds(0) ? known : job.messages.proxy;
  const auto members = as_index(job.graph.ranks);
  if (members * members > many_messages) return route_many_messages(job, std::move(schedule), proxy);
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : job.platform.links) capacities.push_back(link.capacity * payload_of(job, choice));
  const auto limits = static_cast<int>(capacities.size());
  capacities.resize(capacities.size() + members, job.messages.most);
  const auto proxies = static_cast<int>(capacities.size());
  capacities.resize(capacities.size() + members, posted(job.messages, proxy));
  Legs legs(schedule.phases.size());
  const Phase none{"", {}};
  const Phase& phase = schedule.phases.empty() ? none : schedule.phases.front();
  for_each_transfer(schedule, phase, 0, [&](const Transfer& sent, std::size_t) {
    const auto node = [&](int position) { return job.graph.node[as_index(position)]; };
    const bool is_inside = node(sent.from) == node(sent.to);
    const Seconds hop = is_inside ? job.messages.inside : job.messages.between;
    const ChannelWay way = way_between(job, sent.from, sent.to);
    legs[0].push_back(
        limited_leg(limits + sent.from, way, hop, narrowest_of(way.links, way.parts, capacities), capacities));
    if (!is_inside) post(legs[0].back(), proxies + sent.from, proxy, capacities);
  });
  return on_links_of(job.platform, {std::move(schedule), std::move(legs), std::move(capacities)});
}

}  // namespace

/// As of two ranks: it is asked for before every collective.
std::string schedule_name(const NcclJob& job, const NcclChoice& choice) {
  const bool has_own_schedule =
      !is_nvls(choice.algorithm) && !is_collnet(choice.algorithm) && choice.algorithm != NcclAlgorithm::pat;
  return has_own_schedule ? schedule_of_shape(job.operation, choice, Shape(2)).algorithm : name(choice.algorithm);
}

int nccl_segments(Bytes size) {
  return static_cast<int>(std::clamp(size.si() / 2, 1.0, 8.0));
}

RoutedSchedule route_as_nccl(const NcclJob& job, const NcclChoice& choice, Bytes size) {
  if (job.operation == Operation::alltoall) return route_messages(job, choice);
  return route_algorithm(job, choice, nccl_segments(size));
}

}}  // namespace farandole::simulate
