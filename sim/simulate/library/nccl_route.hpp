// The schedule of what NCCL chose, mapped to the links its channels use.
//
// Called by the planners of NCCL and of RCCL, its fork. All channels travel as one: a ring in NCCL's order of ranks, or
// its trees, whose every hop is spread over the links that the channels use between those two places
// (channel_graph.hpp). On a network with nothing else to do that can carry it, the schedule takes what the cost model
// says, to rounding:
//
//   - every message waits hops / rounds, so that the longest way through the schedule waits `hops` in all;
//   - every hop has a limit of its own at which its bytes take size / rate in all;
//   - other links carry the protocol's flags beside the payload: they offer payload only its share of their capacity.
//     A pipeline of few segments stands for one of many, so the rounds that fill it are not counted against the links.
//
// What the network cannot carry, it slows down. An alltoall is no algorithm of the model: every pair's message waits
// the latency of its way and takes what the links give it, a device at most what its channels can do. Between nodes a
// device's messages pass its one proxy thread (src/proxy.cc: ncclProxyProgress), which each of them keeps for a while.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "collective/algorithms.hpp"
#include "simulate/library/nccl_model.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

/// What a choice is laid on, whatever it costs; by algorithm, protocol and segments.
struct NcclLayout;
using NcclLayouts = std::map<std::tuple<NcclAlgorithm, NcclProtocol, int>, std::shared_ptr<const NcclLayout>>;

struct NcclJob {
  const Platform& platform;
  const ChannelGraph& graph;
  BytesPerSecond nvlink;  // of one
  Operation operation;
  NcclMessages messages;                // of an alltoall
  int root = 0;                         // of operations that have one, as a position in the graph's order
  PerProtocol payload = nccl_payload;   // of what travels
  std::shared_ptr<NcclLayouts> laid{};  // of this job so far; null: none is kept
};

/// "ring", "node_tree", "chain" or "direct": the schedule's name.
std::string schedule_name(const NcclJob& job, const NcclChoice& choice);

/// Around a ring, or along a chain from or to the root; an alltoall goes from rank to rank.
Schedule schedule_of_rings(Operation operation, const Shape& shape);

/// On the links of a platform, which lose to flows that converge whoever sends.
RoutedSchedule on_links_of(const Platform& platform, RoutedSchedule routed);

/// Ranks are positions of the graph's order. `size` gives the number of segments of pipelines.
RoutedSchedule route_as_nccl(const NcclJob& job, const NcclChoice& choice, Bytes size);

/// Sizes for which route_as_nccl gives the same, but for the choice's cost, have the same number.
int nccl_segments(Bytes size);

}}  // namespace farandole::simulate
