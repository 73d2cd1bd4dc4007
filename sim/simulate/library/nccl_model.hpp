// NCCL's cost model: what it thinks every algorithm and protocol would take, and so what it picks.
//
// Called by the NCCL clock, and by tests that hold it against the sources. A collective of `bytes` takes
//
//   base + hops + bytes / rate
//
// with base + hops the latency and rate the algorithm's, both of src/graph/tuning.cc
// (simulate/library/nccl_tuning.hpp). It picks the least, trees before rings and LL before LL128 before Simple where
// two are equal, and then as few channels as give every thread enough to do (src/enqueue.cc: getAlgoInfo). A tuner
// plugin may decide in its place. README.md says what each way needs, and where what it then takes is not as reckoned.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "simulate/library/channel_graph.hpp"
#include "simulate/library/nccl_tuning.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

// What devices of a generation take of themselves, whichever release of NCCL runs on them.
//
// Called by NCCL's cost model for the time of what was chosen; choices are by a release's own constants (nccl_tuning).
// Latencies are microseconds, rates GB/s.

struct NcclGeneration {
  double nvlink;             // what one NVLink carries of a ring
  double ll_channel;         // what a channel of LL does
  double ll_base = 0;        // of a ring of LL inside a node, and
  double ll_hop = 0;         // of each of its steps
  double simple_base = 0;    // of a ring of Simple inside a node, and
  double slice_wait = 0;     // of each slice of its steps
  double message_base = 0;   // of long messages inside a node (ncclSend)
  double message_share = 1;  // of a ring's rate that they get
  double own_message = 0;    // of one, at a ring's rate: what a device sends to itself it copies, too
  double own_part = 0;       // of a step of a ring: out of place it copies its own part, too
  double nvls = 1;           // of the bus that NVLink SHARP gets
  double ll_wide = 0;        // of LL inside a node once two channels are busy, us,
  double ll_rate = 0;        // and what it moves
};

struct NcclCost {
  Seconds base;
  Seconds hops;
  BytesPerSecond rate;  // 0: unavailable
  [[nodiscard]] Seconds time(Bytes size) const { return base + hops + size / rate; }
};

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  int channels = 1;
  NcclCost cost;
};

std::string name(NcclAlgorithm algorithm);
/// Of that name; rings and Simple where there is none.
NcclAlgorithm nccl_algorithm(std::string_view name);
NcclProtocol nccl_protocol(std::string_view name);
/// All of them, in the order in which the first of equals is picked.
constexpr std::array<NcclAlgorithm, 7> nccl_algorithms() {
  using enum NcclAlgorithm;
  return {tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat};
}
constexpr std::array<NcclProtocol, 3> nccl_protocols() {
  return {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};
}
/// By NVLink SHARP, inside a node or between nodes.
constexpr bool is_nvls(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}
/// By switches between nodes that add up, all but NVLink SHARP on them.
constexpr bool is_collnet(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain;
}
/// Of the rates that NCCL's search tries for a channel, the highest first, the first that the link can do, or the last.
double tried_rate(std::span<const double> rates, double link);
/// Those that it tries for a channel inside a node of devices of that compute capability, by a release that knows such
/// up to `newest`.
std::span<const double> tried_inside(int capability, int newest);
/// And over NICs.
std::span<const double> tried_between(int capability, int newest);
std::string name(NcclProtocol protocol);
/// The share of what travels that is payload: 4 bytes of 8, 120 of 128, all.
inline constexpr PerProtocol nccl_payload{.5, 120.0 / 128, 1.0};

/// Where the operation stands in NCCL's tables; of an alltoall, which NCCL sends piece by piece, the last.
std::size_t place_of(Operation operation);

/// Where a device of that compute capability (80: 8.0) stands in tables of {Pascal, Volta, Ampere, Hopper, Blackwell}.
std::size_t family_of(int capability);

/// What a rank does in turn for so many members, itself among them, along a ring.
int ring_steps_of(Operation operation, int members);
/// What a byte passes in turn: of a broadcast or a reduce all but its own.
int ring_hops_of(Operation operation, int members);

/// What a step takes, us.
using NcclHop = std::function<double(LinkClass over, NcclAlgorithm algorithm, NcclProtocol protocol)>;
/// All that a ring waits, us, as a release counts its steps; those in a node take no less than `posting` one.
double ring_waits(Operation operation, const ChannelGraph& graph, NcclRingSteps counted, NcclProtocol protocol,
                  const NcclHop& hop, double posting);
/// Steps that leave a node, of so many of a ring, on the way of the chunk that leaves one most often: of every
/// ranks_per_node in turn one does. NCCL counts the least often, and takes the others for no faster than a posting.
int steps_between_nodes(const ChannelGraph& graph, int steps);
/// What a release counts of a broadcast or a reduce when it chooses: one step where all channels are the same.
double rooted_waits(const ChannelGraph& graph, bool has_same_channels, NcclProtocol protocol, const NcclHop& hop);

/// What goes that way waits for handshakes at NICs, hop by hop between nodes.
Seconds waits_at_nics(const ChannelGraph& graph, Operation operation, const NcclChoice& choice, Bytes size);

/// Of messages that are not part of an algorithm (ncclSend and ncclRecv).
struct NcclMessages {
  BytesPerSecond most;  // of one device's, all channels together
  Seconds inside;       // what each waits within a node
  Seconds between;      // and between nodes
  Occupancy proxy;      // what one between nodes keeps a device's proxy thread with at either end,
  Bytes chunk;          // and of a long one each so long part
  BytesPerSecond wire = BytesPerSecond::infinity();  // of one device's to other nodes, all together
};

/// The rate of one NVLink of devices of that compute capability (80: 8.0), by NVIDIA's datasheets.
BytesPerSecond nvlink_rate(int capability);

/// How a run uses it.
struct NcclUse {
  bool in_place = false;        // the result lies where the data did
  bool by_one_process = false;  // which drives all devices, and launches for one after the other
  bool switches_add = true;     // numbers of that type
};

class NcclModel {
 public:
  NcclModel(const NcclTuning& tuning, const ChannelGraph& graph, Operation operation, int capability,
            const NcclUse& use = {});

  /// What NCCL reckons when it chooses.
  [[nodiscard]] NcclCost cost(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const;
  /// What it picks, at what that takes.
  [[nodiscard]] NcclChoice choose(Bytes size) const;
  /// What the choice takes: as reckoned, but of trees between nodes, whose chunks are stored and passed on, of LL's
  /// rings, whose channels are not all busy, of rings inside a node, whose steps wait for every slice, and of NVLink
  /// SHARP, whose chunks are short where there are few.
  [[nodiscard]] NcclCost taken(const NcclChoice& choice, Bytes size) const;
  /// This choice and no other, as NCCL reckons it; its rate is 0 where it is unavailable.
  [[nodiscard]] NcclChoice choice_of(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
    return {algorithm, protocol, channels_for(algorithm, protocol, size), cost(algorithm, protocol, size)};
  }
  /// How messages go that are not part of an algorithm (ncclSend and ncclRecv): by Simple, short ones inside a node by
  /// LL.
  [[nodiscard]] NcclChoice message_choice(Bytes size) const;
  /// `share`: of what it counts on, what the network was measured to carry.
  [[nodiscard]] NcclMessages messages(NcclProtocol protocol, double share = 1) const;
  /// Every channel that the search finds is laid twice (src/graph/connect.cc: ncclTopoPostset), 32 at most.
  [[nodiscard]] int channels() const { return std::min(2 * rings_, 32); }

 private:
  /// Hops up and down a tree, and how many a device receives from.
  struct Way {
    double inside;
    double between;
    double fan_in;
  };
  /// What a chunk's hops take together, and what lets the next one follow, in s per byte.
  struct Passing {
    double first;
    double following;
  };
  [[nodiscard]] Way way_through_tree() const;
  [[nodiscard]] Passing passing_simple(double channels) const;
  [[nodiscard]] Passing passing_ll(double channels) const;
  [[nodiscard]] NcclCost nvls_cost(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] double nvls_rate(NcclAlgorithm algorithm, NcclNvlsRate counted) const;  // of the data, GB/s
  [[nodiscard]] int nvls_heads() const;  // devices of a node that add up a part
  [[nodiscard]] bool adds_up_between() const;
  [[nodiscard]] const NcclCollNetWay* collnet_way(NcclAlgorithm algorithm) const;  // null: it cannot go it
  [[nodiscard]] NcclCost collnet_cost(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] double collnet_rate(NcclAlgorithm algorithm) const;     // of the data, GB/s
  [[nodiscard]] double collnet_gathers(double channel) const;           // likewise
  [[nodiscard]] double collnet_channel(NcclAlgorithm algorithm) const;  // GB/s inside a node
  [[nodiscard]] int collnet_channels(NcclAlgorithm algorithm, Bytes size) const;
  [[nodiscard]] int nvls_channels() const;
  [[nodiscard]] NcclCost chunk_by_chunk(const NcclChoice& choice, Bytes size, NcclCost reckoned) const;
  [[nodiscard]] NcclCost pat_cost(NcclProtocol protocol) const;
  [[nodiscard]] NcclChoice pick(Bytes size) const;
  [[nodiscard]] NcclCost stored_and_passed_on(const NcclChoice& choice, Bytes size) const;
  [[nodiscard]] double tree_chunk(double share) const;
  [[nodiscard]] double fills_a_channel(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] double copying() const;
  [[nodiscard]] double waits_of_a_step(Bytes size) const;
  [[nodiscard]] NcclCost taken_when_eager(const NcclChoice& choice, Bytes size) const;
  [[nodiscard]] NcclCost slice_by_slice(NcclProtocol protocol, Bytes size, NcclCost reckoned) const;
  [[nodiscard]] BytesPerSecond of_ring(double bus) const;                                  // of the data
  [[nodiscard]] bool is_alone() const { return graph_.nodes == 1 && graph_.nvlinks > 0; }  // one node, over NVLinks
  /// What was measured of a generation counts.
  [[nodiscard]] bool is_measured() const { return is_alone() && capability_ >= 80; }
  /// Also its latencies, of a process for each device.
  [[nodiscard]] bool has_own_latencies() const { return is_measured() && !by_one_process_; }
  [[nodiscard]] BytesPerSecond with_own_part(BytesPerSecond rate) const;
  [[nodiscard]] NcclCost ring_of_ll(Bytes size, NcclCost reckoned) const;
  [[nodiscard]] double last_part(double message) const;
  [[nodiscard]] NcclCost with_own_hops(NcclCost reckoned) const;
  [[nodiscard]] NcclCost down_the_chain(NcclProtocol protocol, NcclCost reckoned) const;
  [[nodiscard]] double tree_bus() const;
  [[nodiscard]] double tree_rate(NcclProtocol protocol) const;
  [[nodiscard]] double ring_rate(NcclProtocol protocol) const;
  [[nodiscard]] double tree_hops(NcclProtocol protocol, int chain) const;
  [[nodiscard]] double ring_hops(NcclProtocol protocol) const;
  [[nodiscard]] double rooted_hops(NcclProtocol protocol) const;
  [[nodiscard]] double ll_most() const;
  [[nodiscard]] double posting(NcclProtocol protocol) const;
  [[nodiscard]] bool is_newer() const { return generation_ >= 2; }  // than Ampere; newer() in PerNewer
  [[nodiscard]] std::size_t newer() const { return generation_ - 2; }
  [[nodiscard]] bool is_allowed(NcclProtocol protocol) const;
  [[nodiscard]] double plateau(NcclProtocol protocol, Bytes size) const;
  [[nodiscard]] double correction(NcclProtocol protocol, Bytes size) const;
  [[nodiscard]] double hop(LinkClass over, NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] int channels_for(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const;

  const NcclTuning& tuning_;
  const ChannelGraph& graph_;
  Operation operation_;
  int capability_;
  bool in_place_;
  bool by_one_process_;
  bool switches_add_;
  const NcclGeneration& devices_;
  std::size_t scale_;       // in PerScale
  std::size_t generation_;  // in PerGeneration
  int rings_ = 1;           // distinct channels that the search finds
  double inside_ = 0;       // GB/s of a device's links in its node, and
  double bus_ = 0;          // of what rings cross
  double nic_ = 0;          // GB/s that a NIC is counted on for
};

}}  // namespace farandole::simulate
