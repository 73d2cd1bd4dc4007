// RCCL's cost model: what it thinks every algorithm and protocol would take, and so what it picks.
//
// Called by the RCCL planner, and by tests that hold it against the sources. As NCCL's (nccl_model.hpp): a collective
// of `bytes` takes base + hops + bytes / rate, and the least is picked; but rates are shares of what all links of a
// device have (RcclTable), with a factor by size for trees, and between nodes for rings. Of MI300X between nodes sizes
// decide the protocol from 2.26 on. Trees are for allreduce only, and Simple's not for MI300X on one node.
//
// What the choice takes has the model's latency, and its rate without the factors by size (README.md).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "simulate/library/nccl_model.hpp"
#include "simulate/library/nccl_tuning.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

// What RCCL's releases say about themselves: the tables of their cost model, and the machines that they know.
//
// Called by simulate/library/rccl_model.cpp. A release is a file of topologies/libraries/. RCCL (github.com/ROCm/rccl)
// is AMD's fork of NCCL. Its cost model is NCCL's, but that in place of limits per channel it has tables
// (src/graph/tuning.cc: tuningModel), and in place of a search rings that were laid by hand for machines which it tells
// by their links (src/graph/rome_models.cc), each of which names its table. Latencies are microseconds and rates GB/s
// there, and here too. Of the machines those of this repository's topologies are here; any other one is counted as
// RCCL's search would find it, by the first table, as there.

/// By size, from 64 B on, in powers of two; the last one beyond, too.
using PerSize = std::array<double, 27>;

/// The share of what travels that is payload: LL128's lines have 64 bytes here (src/include/device.h:
/// NCCL_LL128_LINESIZE), 56 of them data.
inline constexpr PerProtocol rccl_payload{.5, 56.0 / 64, 1.0};

struct RcclTable {
  std::array<PerAlgorithm, 3> hop;      // over Infinity Fabric, PCIe and the network
  std::array<PerAlgorithm, 2> share;    // of the channels' rate, on up to two nodes and on more
  std::array<PerSize, 3> tree_by_size;  // of that, per protocol: how near a way comes to the best one at that size
  std::array<PerSize, 3> ring_by_size;  // the same; between nodes only
};

/// A protocol's sizes, of one rank's part where ranks have parts: (above, until].
struct RcclRange {
  Bytes above;
  Bytes until;
  int per_thread = 0;  // and per rank: the bytes that a thread has to have (rcclUpdateThreadThreshold); 0: as usual
};
/// Decide between nodes in the model's place; what lies in neither is Simple's, what lies in both LL128's.
struct RcclRanges {
  RcclRange ll;
  RcclRange ll128;
};

/// One of the machines that RCCL knows, on one node or on several.
struct RcclMachine {
  std::string gfx;
  int devices;        // of a node, all of which take part
  int nics;           // of a node; 0: on a single node
  int fewest;         // Infinity Fabric links of the device that has least
  int most;           // and of the one that has most: RCCL counts on all of those
  std::size_t table;  // of the release's
  int channels;
  bool has_ll128 = false;
  std::vector<std::vector<int>> rings{};  // the orders of a node's devices; empty where they use all links alike
};

struct RcclTuning {
  std::string library;  // "rccl-2.20"
  PerAlgorithm base;
  std::vector<RcclTable> tables;  // the first one: of machines that are not known
  std::vector<RcclMachine> machines;
  std::map<std::string, double>
      counted;  // GB/s that one link of Infinity Fabric is counted on, by the beginning of gfx
  double counted_otherwise;
  NcclRingSteps ring_steps;
  /// Of MI300X between nodes, by operation. None: the model decides.
  std::map<Operation, RcclRanges> ranges{};

  [[nodiscard]] double link_counted(const std::string& gfx) const;
};

/// NCCL's survey, with the rings of the machine where RCCL knows it.
ChannelGraph survey_for_rccl(const RcclTuning& tuning, const Platform& platform, const Placement& placement,
                             const std::string& gfx, double scale = 1);

class RcclModel {
 public:
  /// `graph`: surveyed for RCCL on nodes with so many devices.
  RcclModel(const RcclTuning& tuning, const ChannelGraph& graph, int devices_per_node, Operation operation,
            const std::string& gfx);

  /// What RCCL reckons when it chooses; its rate is 0 where it is unavailable.
  [[nodiscard]] NcclCost cost(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const;
  /// What it picks, at what that takes.
  [[nodiscard]] NcclChoice choose(Bytes size) const;
  /// What messages cost that are not part of an algorithm: Simple's base, and hops as those of a tree, since the rings
  /// of MI300X have 320 us for one between nodes.
  [[nodiscard]] Seconds message_base() const;
  [[nodiscard]] NcclMessages messages() const;
  [[nodiscard]] int channels() const { return channels_; }

 private:
  [[nodiscard]] bool is_by_pairs(Bytes size) const;
  [[nodiscard]] NcclCost by_table(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] NcclCost taken(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] NcclCost taken_at(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const;
  [[nodiscard]] NcclProtocol by_range(NcclProtocol picked, Bytes size) const;
  [[nodiscard]] int channels_for(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const;
  [[nodiscard]] double hop(LinkClass over, NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] double hops(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] double ring_hops(NcclProtocol protocol) const;
  [[nodiscard]] double share(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] bool is_there(NcclAlgorithm algorithm, NcclProtocol protocol) const;
  [[nodiscard]] const RcclRanges* ranges() const;

  const RcclTuning& tuning_;
  const ChannelGraph& graph_;
  const RcclMachine* machine_;  // or nullptr
  const RcclTable& table_;
  Operation operation_;
  bool is_mi300_;
  int channels_ = 1;
  double bus_ = 0;  // GB/s of all channels
};

}}  // namespace farandole::simulate
