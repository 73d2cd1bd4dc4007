// What NCCL's trees between nodes take: chunks that are stored and passed on, hop by hop; rings of LL on the channels
// that are busy; rings whose steps wait for every slice; and messages, whose chunks a proxy posts (README.md).
#include <algorithm>
#include <array>
#include <cmath>

#include "collective/specification.hpp"
#include "simulate/library/nccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// src/graph/tuning.cc: "Tree/Simple is the latency a 256kB chunk, which is ~ base lat + 256k/12GB/s (+ 256k/12GB/s for
/// the network)": what a channel copies at, on Volta, in GB/s. Releases that have less than that for it (4 us instead
/// of 28) left the chunk out.
constexpr double volta_copies_at = 12;
double without_chunk(double latency) {
  return std::fmod(latency, (1 << 18) / volta_copies_at * 1e-3);
}

/// tuning.cc's limits of all channels are of machines with eight NICs (DGX-1, DGX A100, DGX H100).
constexpr double nics_of_limits = 8;

/// src/include/device.h: NCCL_LL_BUFF_SIZE over NCCL_STEPS, half of it flags.
constexpr double most_in_a_chunk_of_ll = 32768;

/// src/include/device.h, src/device/all_reduce.h and prims_simple.h: a step of a ring of Simple has a chunk of at most
/// 4 of the buffer's 8 steps, in two slices, none of which is shorter than a 32nd of the longest.
constexpr double chunks_of_a_buffer = 2;
constexpr double slices_of_a_chunk = 2;
constexpr double shortest_of_slices = 1 / 32.0;

/// What each slice of a ring waits, in us, over NVLink between nodes' NICs and over PCIe: hwLat of Simple, of all
/// releases from 2.7 on.
constexpr std::array<double, 2> wait_of_a_slice{3.4, 5.7};

/// src/enqueue.cc, src/init.cc: NCCL_P2P_LL_THRESHOLD, up to which a message goes by LL; NCCL_P2P_NVL_CHUNKSIZE.
constexpr double short_message = 16384;
constexpr double message_chunk_inside = 524288;
constexpr double message_channels = 32;

/// What LL128 takes a ring for every node that it leaves, of several devices, more than NCCL reckons with, us, less so
/// much of the time that the data moves for: fitted to thetagpu-16ranks-allgather from 256 KiB on; its allreduces and
/// gke-a4x-max-8ranks are predicted by it. Whatever moves the data faster is never slower.
/// Of Hopper, and of more than two nodes of Blackwell, nothing was measured that says so: there it never makes LL128
/// slower than LL, so that a faster NIC, with which NCCL picks LL128 for less data, is not slower for it.
constexpr double ll128_between_nodes = 15.5;
constexpr double ll128_hides = 1 / 6.0;

/// Each ring channel of LL128, GB/s, of {broadcast, reduce, allgather, reduce_scatter, allreduce}: v2.7.8-1's
/// ll128MaxBwPerCh, measured before there was Hopper. 2.10 and later reckon with 20 throughout.
constexpr std::array<double, 5> measured_channel_of_ll128{18.8, 12.0, 18.3, 15.2, 16.7};

}  // namespace

/// What a channel's block of threads copies at, GB/s: as many times more than Volta's as NCCL gives it on one node.
double NcclModel::copying() const {
  const double more = tuning_.tree_per_channel.at(generation_)[0] / tuning_.tree_per_channel[0][0];
  return volta_copies_at * (std::isfinite(more) ? more : 1);
}

/// Bytes (src/enqueue.cc; the depth is that of src/graph/connect.cc).
double NcclModel::tree_chunk(double share) const {
  double chunk = tuning_.tree_chunks.buffer / 8;
  const double depth = graph_.ranks_per_node() - 1 + std::floor(std::log2(graph_.nodes));
  constexpr std::array<std::array<double, 2>, 3> rules{{{8, 131072}, {4, 65536}, {1, 32768}}};
  for (const auto& [chunks, until] : rules) {
    const double least = std::max(until, tuning_.tree_chunks.least);
    while (chunk > least && share / chunk < depth * chunks) chunk /= 2;
  }
  return chunk;
}

/// Of a tree's chunks of Simple: inside a node they are copied, between nodes they go over the wire, too.
NcclModel::Passing NcclModel::passing_simple(double channels) const {
  const double copy = 1e-9 / copying();
  const double wire = 1e-9 * channels / (graph_.nics * nic_);
  // Of all channels, as nccl-tests' bus bandwidth.
  const double most =
      std::min(rings_ * tuning_.tree_per_channel.at(generation_).at(scale_), tuning_.tree_most.at(scale_));
  const double all = 1e-9 * channels * 2 * (graph_.ranks - 1) / graph_.ranks / most;
  // A device passes all of the data up and down, over its NVLinks.
  const double inside = graph_.nvlinks > 0 ? 1e-9 * channels * 2 / (inside_ * tuning_.tree_share) : 0;
  const Way way = way_through_tree();
  return {way.inside * copy + way.between * (copy + wire), std::max({copy, way.fan_in * wire, all, inside})};
}

/// Of LL, whose lines devices pass on one by one; the proxy at the NIC reads the flags of all before it sends them.
NcclModel::Passing NcclModel::passing_ll(double channels) const {
  const double proxy = 1e9 * ll_most() / nics_of_limits;
  const double wire = 1 / std::min(proxy, proxy * graph_.nics / channels);
  const Way way = way_through_tree();
  return {way.between * wire, way.fan_in * wire};
}

NcclModel::Way NcclModel::way_through_tree() const {
  // A node in the middle of a tree receives from two.
  return {2.0 * graph_.longest_chain(), 2 * std::floor(std::log2(graph_.nodes)), graph_.nodes > 2 ? 2.0 : 1.0};
}

NcclCost NcclModel::stored_and_passed_on(const NcclChoice& choice, Bytes size) const {
  const bool is_simple = choice.protocol == NcclProtocol::simple;
  const double fills = fills_a_channel(choice.algorithm, choice.protocol);
  const double share = std::max(size.si() / channels(), std::min(size.si(), fills));
  const double channels = size.si() / share;  // that are busy
  const Passing passing = is_simple ? passing_simple(channels) : passing_ll(channels);
  const double first = std::min(is_simple ? tree_chunk(share) : most_in_a_chunk_of_ll, share);
  const double moving = passing.first * first + passing.following * (share - first);
  double base = tuning_.base[0].at(static_cast<std::size_t>(choice.protocol));
  double hops = tree_hops(choice.protocol, graph_.longest_chain());
  if (is_simple) {
    base = std::max(base, tuning_.base[1].at(2));  // a kernel is launched, whatever it runs
    const Way way = way_through_tree();
    hops = way.inside * without_chunk(hop(graph_.inside, choice.algorithm, choice.protocol)) +
           way.between * without_chunk(hop(LinkClass::net, choice.algorithm, choice.protocol));
  }
  return {Seconds(1e-6 * base), Seconds(1e-6 * hops), BytesPerSecond(size.si() / moving)};
}

/// Of a ring of LL as many channels are busy as have something to do. Inside a node each has its links, for lines that
/// are half payload; between nodes a proxy reads them all. On devices that were measured the first lines only cost
/// where they are kept and passed on; a kernel of many blocks starts later; the rest goes at the device's rate
/// (README.md).
NcclCost NcclModel::ring_of_ll(Bytes size, NcclCost reckoned) const {
  const double fills = fills_a_channel(NcclAlgorithm::ring, NcclProtocol::ll);
  const double filled = size.si() / fills;
  if (is_measured() && !has_root(operation_) && filled > 0) {
    const double kept = operation_ == Operation::reduce_scatter ? 0 : graph_.ranks - 1;
    const double steps = ring_steps_of(operation_, graph_.ranks) + (in_place_ ? 0 : 1);
    const double moving = kept * std::min(filled, 1.0) / (nccl_payload[0] * bus_ / rings_) +
                          steps * std::max(filled - channels() / 2.0, 0.0) / devices_.ll_rate;
    const double started = devices_.ll_wide * std::clamp((filled - .5) / 1.5, 0.0, 1.0);
    const Seconds whole(1e-6 * started + 1e-9 * moving * fills / graph_.ranks);
    reckoned.rate = std::min(size / whole, of_ring(nccl_payload[0] * bus_));
    return with_own_hops(reckoned);
  }
  const double channel = graph_.nodes == 1 ? nccl_payload[0] * bus_ / rings_ : devices_.ll_channel;
  reckoned.rate = std::min(reckoned.rate, of_ring(channel * std::clamp(filled, 1.0, double(channels()))));
  return with_own_hops(reckoned);
}

/// Of LL inside a node; a tree there is a chain up and down, with as many hops as a ring.
NcclCost NcclModel::with_own_hops(NcclCost reckoned) const {
  if (!has_own_latencies() || reckoned.rate == BytesPerSecond(0)) return reckoned;
  reckoned.base = Seconds(1e-6 * devices_.ll_base);
  reckoned.hops = Seconds(1e-6 * devices_.ll_hop * ring_hops_of(operation_, graph_.ranks));
  return reckoned;
}

/// Out of place a device copies its own part besides, at what its links carry.
BytesPerSecond NcclModel::with_own_part(BytesPerSecond rate) const {
  if (in_place_ || graph_.nvlinks == 0 || devices_.own_part == 0) return rate;
  const BytesPerSecond copied(1e9 * graph_.ranks * graph_.nvlinks * devices_.nvlink / devices_.own_part);
  return 1 / (1 / rate + 1 / copied);
}

/// How often each step of a ring of Simple waits for its neighbour: for each slice, as the threads that copy one are
/// those that wait for the next. What does not fit into a chunk goes around again.
double NcclModel::waits_of_a_step(Bytes size) const {
  const double share = size.si() / (channels() * graph_.ranks);
  const double chunk = tuning_.tree_chunks.buffer / chunks_of_a_buffer;
  const double rounds = is_newer() ? 1 : std::max(std::ceil(share / chunk), 1.0);
  const double shortest = chunk / slices_of_a_chunk * shortest_of_slices;
  return rounds * std::clamp(std::ceil(share / shortest), 1.0, slices_of_a_chunk);
}

int steps_between_nodes(const ChannelGraph& graph, int steps) {
  return graph.nodes > 1 ? (steps - 1) / graph.ranks_per_node() + 1 : 0;
}

/// Of a tree, a chain and an alltoall each message has a channel's share of all that there is to pass on at once.
Seconds waits_at_nics(const ChannelGraph& graph, Operation operation, const NcclChoice& choice, Bytes size) {
  const bool is_tree = choice.algorithm == NcclAlgorithm::tree;
  const bool is_sent = operation == Operation::alltoall;
  const double parts = (is_tree || has_root(operation) ? 1 : graph.ranks) * (is_sent ? 1 : choice.channels);
  double hops = steps_between_nodes(graph, ring_steps_of(operation, graph.ranks));
  if (is_tree || choice.algorithm == NcclAlgorithm::pat) hops = (is_tree ? 2 : 1) * std::floor(std::log2(graph.nodes));
  if (has_root(operation)) hops = graph.nodes - 1;
  if (is_sent) hops = std::min(graph.nodes - 1, 1);
  return hops * graph.posted.of(size / (parts * nccl_payload.at(index_of(choice.protocol))));
}

NcclCost NcclModel::slice_by_slice(NcclProtocol protocol, Bytes size, NcclCost reckoned) const {
  const int steps = ring_steps_of(operation_, graph_.ranks);
  const int crossing = steps_between_nodes(graph_, steps);
  const double step = size.si() / graph_.ranks * 1e-3;  // us times GB/s
  if (protocol == NcclProtocol::ll128) {
    const double proxies = graph_.nodes > 1 && graph_.ranks > graph_.nodes ? graph_.nodes * ll128_between_nodes : 0;
    const double hidden = steps * step / ring_rate(protocol) * ll128_hides;
    double more = std::max(proxies - hidden, 0.0);
    if (is_newer()) {
      const NcclCost by_ll = ring_of_ll(size, cost(NcclAlgorithm::ring, NcclProtocol::ll, size));
      const double until_ll = 1e6 * (by_ll.time(size) - reckoned.time(size)).si();
      const double known = newer() == 0 ? 0 : 2 * ll128_between_nodes;
      more = std::min(more, std::max(until_ll, known));
    }
    reckoned.hops += Seconds(1e-6 * more);
    if (is_newer() || graph_.nodes > 1) return reckoned;
    const double measured = rings_ * measured_channel_of_ll128.at(place_of(operation_));
    reckoned.rate = std::min(reckoned.rate, of_ring(measured));
    return reckoned;
  }
  // Where NICs are slower than the links inside, a device waits for theirs, and other waits pass meanwhile.
  const double slack = graph_.nodes > 1 ? step * (1 / bus_ - 1 / std::max(bus_, inside_)) : 0;
  const double wait =
      has_own_latencies() ? devices_.slice_wait : wait_of_a_slice.at(graph_.inside == LinkClass::nvlink ? 0 : 1);
  const double waits = std::max(waits_of_a_step(size) * wait - slack, wait);
  const double net = crossing * hop(LinkClass::net, NcclAlgorithm::ring, protocol);
  // In place of NCCL's "plateau", which makes base and hops of large rings count more (plateau()).
  const double base = tuning_.base.at(1).at(static_cast<std::size_t>(protocol));
  reckoned.base = Seconds(1e-6 * (has_own_latencies() ? devices_.simple_base : base));
  reckoned.hops = Seconds(1e-6 * ((steps - crossing) * waits + net));
  if (is_alone()) reckoned.rate = of_ring(graph_.nvlinks * devices_.nvlink);
  reckoned.rate = with_own_part(reckoned.rate);
  return reckoned;
}

/// Of a broadcast or a reduce the first slice passes from rank to rank, as a step of a ring does, and the rest follows.
NcclCost NcclModel::down_the_chain(NcclProtocol protocol, NcclCost reckoned) const {
  reckoned.hops = Seconds(1e-6 * ring_hops(protocol));
  if (!has_own_latencies() || protocol != NcclProtocol::simple) return reckoned;
  reckoned.base = Seconds(1e-6 * devices_.simple_base);
  reckoned.hops = Seconds(1e-6 * devices_.slice_wait * ring_hops_of(operation_, graph_.ranks));
  return reckoned;
}

NcclCost NcclModel::taken(const NcclChoice& choice, Bytes size) const {
  NcclCost known = taken_when_eager(choice, size);
  known.hops += waits_at_nics(graph_, operation_, choice, size);
  return known;
}

NcclCost NcclModel::taken_when_eager(const NcclChoice& choice, Bytes size) const {
  NcclCost reckoned = cost(choice.algorithm, choice.protocol, size);
  const bool is_ring = choice.algorithm == NcclAlgorithm::ring && reckoned.rate > BytesPerSecond(0);
  if (is_ring && has_root(operation_)) reckoned = down_the_chain(choice.protocol, reckoned);
  if (is_ring && choice.protocol == NcclProtocol::ll) return ring_of_ll(size, reckoned);
  if (is_ring && !has_root(operation_)) return slice_by_slice(choice.protocol, size, reckoned);
  if (is_nvls(choice.algorithm) && size > Bytes(0)) return chunk_by_chunk(choice, size, reckoned);
  const bool is_tree = choice.algorithm == NcclAlgorithm::tree && reckoned.rate > BytesPerSecond(0);
  if (is_tree) reckoned.hops = Seconds(1e-6 * tree_hops(choice.protocol, graph_.longest_chain()));
  const bool passes_on = is_tree && graph_.nodes > 1 && size > Bytes(0) && choice.protocol != NcclProtocol::ll128;
  if (!passes_on) return choice.protocol == NcclProtocol::ll ? with_own_hops(reckoned) : reckoned;
  NcclCost passed = stored_and_passed_on(choice, size);
  // What NCCL's factor knows of LL besides, such as lines that few threads pass on, it knows of fast proxies.
  if (choice.protocol == NcclProtocol::ll) passed.rate = std::min(passed.rate, reckoned.rate);
  return passed;
}

/// What of a message lies in the receiver's buffer when the last of it has come: it is copied out then.
double NcclModel::last_part(double message) const {
  const double most = std::exp2(std::floor(std::log2(std::max(message_channels / graph_.ranks, 1.0))));
  return std::min(message / std::min(most, std::ceil(8 * message / message_chunk_inside)), message_chunk_inside);
}

/// What a device sends to itself it copies.
NcclChoice NcclModel::message_choice(Bytes size) const {
  NcclChoice choice{NcclAlgorithm::ring, NcclProtocol::simple, channels(), {}};
  double base = tuning_.base.at(1).at(index_of(NcclProtocol::simple));
  if (is_measured()) {
    const double message = size.si() / graph_.ranks;
    if (message <= short_message) choice.protocol = NcclProtocol::ll;
    const double short_base = devices_.ll_base + devices_.ll_hop * std::log2(graph_.ranks);
    const double copied = 1e-3 * last_part(message) / tuning_.tree_per_channel.at(generation_)[0];
    base = choice.protocol == NcclProtocol::ll ? short_base : devices_.message_base + copied;
    base += 1e-3 * message * devices_.own_message / (graph_.nvlinks * devices_.nvlink);
  }
  choice.cost.base = Seconds(1e-6 * base) + waits_at_nics(graph_, operation_, choice, size);
  return choice;
}

NcclMessages NcclModel::messages(NcclProtocol protocol, double share) const {
  const auto waiting = [&](LinkClass over) {
    return Seconds(1e-6 * hop(over, NcclAlgorithm::ring, NcclProtocol::simple));
  };
  const Seconds half(1e-6 * posting(NcclProtocol::simple) / 2);
  NcclMessages messages{BytesPerSecond(1e9 * bus_),
                        waiting(graph_.inside),
                        waiting(LinkClass::net),
                        {half, half},
                        Bytes(tuning_.message_chunk)};
  if (is_measured()) {
    const bool is_short = protocol == NcclProtocol::ll;
    const double carried = graph_.nvlinks * devices_.nvlink * devices_.message_share;
    const double most = is_short ? std::min(carried, devices_.ll_channel * (graph_.ranks - 1)) : carried;
    messages.most = BytesPerSecond(1e9 * most);
    if (is_short) messages.inside = Seconds(1e-6 * devices_.ll_hop);
  }
  const double counted = graph_.nics * nic_ / graph_.fewest_per_node;
  if (is_newer() && graph_.nodes > 1) {  // eight B300 have all 96 GB/s of a NIC: posting chunk by chunk limits nothing
    messages.chunk = Bytes::infinity();
    messages.wire = BytesPerSecond(1e9 * counted);
  }
  if (share < 1) messages.wire = BytesPerSecond(1e9 * share * counted);
  return messages;
}

}}  // namespace farandole::simulate
