// What NCCL's releases say about themselves: the constants of their own cost models, as published in their sources.
//
// Called by simulate/library/nccl_model.cpp alone. Each is a release's src/graph/tuning.cc (and topo.h, for the rates
// it counts on per link) of github.com/NVIDIA/nccl at a tag, in a file of topologies/libraries/ that names it.
// Latencies are microseconds and rates GB/s there, and here too: these are their tables, read beside their source.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "simulate/library/decision_rules.hpp"

namespace farandole { inline namespace simulate {

enum class NcclAlgorithm : std::uint8_t { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
/// In this order.
inline constexpr std::array nccl_algorithm_names{"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                                 "nvls_tree", "pat"};
inline constexpr std::array nccl_protocol_names{"LL", "LL128", "Simple"};

/// Of {LL, LL128, Simple}.
using PerProtocol = std::array<double, 3>;
/// Of {tree, ring}.
using PerAlgorithm = std::array<PerProtocol, 2>;
/// Of {one node, two nodes, more}.
using PerScale = std::array<double, 3>;
/// Of {Pascal and Volta, Ampere, Hopper, Blackwell}. Releases take a newer generation than they know for the last one.
using PerGeneration = std::array<PerScale, 4>;
/// Of {Hopper, Blackwell}.
template <class T>
using PerNewer = std::array<T, 2>;

/// The index of each in these.
constexpr std::size_t index_of(NcclProtocol protocol) {
  return static_cast<std::size_t>(protocol);
}
constexpr std::size_t index_of(NcclAlgorithm algorithm) {
  return static_cast<std::size_t>(algorithm);
}

/// GB/s, where a release has none.
inline constexpr double no_rate_limit = std::numeric_limits<double>::infinity();

/// How the steps of a ring that cross the network are counted and what the others cost then.
enum class NcclRingSteps : std::uint8_t {
  all_alike,        // every step as slow as the slowest kind
  net_apart,        // 2 (nodes - 1) of an allreduce's steps cross it; LL within nodes takes 1.8 times as long
  net_and_posting,  // 2 nodes of them cross it; the others cannot be faster than posting a send
  net_as_trees  // 2 (nodes - 1) of them cross it, and wait as a tree's where every node has one rank; posting counts
};

/// From which size the ring's "plateau" makes Simple's latency count more.
enum class NcclPlateau : std::uint8_t { none, by_size, by_size_per_channel };

/// How NVLink SHARP's rate is counted.
enum class NcclNvlsRate : std::uint8_t {
  data,  // 5/6 of the channels' rate are that of the data
  bus    // a generation's share is half of the bus bandwidth, and a device's own part never passes the switch
};

/// NVLink SHARP: switches add and multiply. Simple only; `tree` between nodes.
struct NcclNvls {
  double inside;  // latency of the switch's part, and
  double net;     // of each hop between nodes
  NcclNvlsRate counted = NcclNvlsRate::data;
};

/// A tree's chunks of Simple. A step has an eighth of the buffer (src/include/device.h: NCCL_STEPS), and so has a
/// chunk, but that it is halved, not below `least`, where there would be few of them (src/enqueue.cc).
struct NcclTreeChunks {
  double buffer;  // bytes
  double least;
};

/// Parallel aggregated trees: allgather and reduce-scatter of nodes with one device each; Simple only.
struct NcclPat {
  double base;      // latency, and
  double per_rank;  // of each rank, and
  double net;       // of the network as many times more as there are doublings of nodes: of a tree's latency
  double share;     // of the channels' rate that it gets
};

/// What a release counts for allgathers and reduce-scatters by CollNet.
enum class NcclCollNetGathers : std::uint8_t {
  none,     // it has none
  blended,  // .95 of the rate inside of one device a node, .85 of eight, and in between
  nearest   // the rate inside, or nine tenths of the NIC's
};

/// How a node's devices hand their data to those that have a NIC (the heads), and take the sum back from them.
struct NcclCollNetWay {
  PerProtocol base{};                   // latency, and
  std::array<PerProtocol, 2> inside{};  // of each hop over NVLink and PCIe, and
  PerProtocol net{};                    // of the network, once, and
  double peer = 0;                      // of each other device of the node, twice
  PerProtocol share{0, 0, 1};           // of the channels' rate; 0: not used
};

/// CollNet: switches between nodes add up (SHARP), so that a node gives its data once and takes the sum once.
struct NcclCollNet {
  std::optional<NcclCollNetWay> direct{};  // all of a node's devices with every head at once
  std::optional<NcclCollNetWay> chain{};   // one after the other
  int fewest_nodes;                        // NCCL_COLLNET_NODE_THRESHOLD
  int most_by_chain;                       // devices a node; at most 8 by direct
  bool direct_needs_switch;                // inside the node
  bool direct_counts_nics;                 // less where there are fewer of them than devices
  double direct_on_newer;                  // of the rate, from Hopper on
  bool direct_has_search;                  // of its own, with hops as direct has them; else the chain's
  bool exposes_net;                        // of one device a node, whose latency is a tree's
  NcclCollNetGathers gathers = NcclCollNetGathers::none;
  double nvls_net = 0;          // latency of NVLink SHARP whose sums CollNet adds up; 0: the release has none
  std::vector<double> tried{};  // rates of a channel, GB/s, before Hopper
};

struct NcclTuning {
  std::string library;  // "nccl-2.7"
  PerAlgorithm base;
  std::array<PerAlgorithm, 3> hop;  // over NVLink, PCIe and the network
  std::array<double, 5> nvlink;     // what one NVLink of Pascal, Volta, Ampere, Hopper and Blackwell is counted on
  double most_on_ampere;            // of all channels together
  double tree_share;                // of the channels' rate that a tree gets
  PerProtocol tree_share_inside;    // of that, per protocol, on one node
  PerProtocol tree_share_between;   // and on several
  PerGeneration tree_per_channel;   // at most, each channel
  PerScale tree_most;               // at most, all channels
  PerScale tree_most_ll128_ampere;
  double ring_ll_share;  // of the channels' rate
  double ring_ll128_share;
  double ring_ll128_share_alone;                 // with less than two ranks a node
  std::array<double, 5> ring_ll128_per_channel;  // broadcast, reduce, allgather, reduce_scatter, allreduce; at most
  PerNewer<double> ring_ll128_newer;             // on Hopper and Blackwell, of all five
  std::array<double, 5> ring_ll128_most;         // all channels
  double tree_ll128_of_ring;                     // at most, of what the ring's LL128 gets per channel
  PerNewer<PerScale> tree_ll128_newer;           // on Hopper and Blackwell, each channel at most
  bool ll_third;          // LL gets a third, not a quarter, of one node's rate where nothing is summed twice
  PerGeneration ll_most;  // all channels: by generation on one node, by {Intel, AMD, AMD} processor on several
  NcclRingSteps ring_steps;
  NcclPlateau plateau;
  std::array<std::array<double, 23>, 3> tree_correction;  // by size, from 64 B on, in powers of two
  double message_chunk;                                   // bytes, what ncclSend posts at a time
  std::optional<NcclNvls> nvls{};                         // none: not known here
  std::optional<NcclPat> pat{};                           // none: the release has none
  std::optional<NcclCollNet> collnet{};                   // likewise
  NcclTreeChunks tree_chunks;
  DecisionRules tuner{};  // of a plugin that decides in the release's place, where one fits
  bool simple_alone;      // NCCL_PROTO=Simple
  int newest;             // compute capability, times ten, of the last generation that it has LL128 for
};

/// What `section` has of it.
NcclTuning read_nccl_tuning(Section& section, const std::string& library);

}}  // namespace farandole::simulate
