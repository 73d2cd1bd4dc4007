// RCCL's cost model: what it thinks every algorithm and protocol would take, and so what it picks.
//
// Called by the RCCL planner, and by tests that hold it against the sources. As NCCL's (nccl_model.hpp): a collective
// of `bytes` takes base + hops + bytes / rate, and the least is picked; but rates are shares of what all links of a
// device have (RcclTable), with a factor by size for trees, and between nodes for rings. Of MI300X between nodes sizes
// decide the protocol from 2.26 on. Trees are for allreduce only, and Simple's not for MI300X on one node.
//
// What the choice takes has the model's latency, and its rate without the factors by size: these say how near a way
// comes to the best one of an allreduce at that size (one of the six has 1 at nearly every size), which is what a
// choice needs; so it takes no longer than any other way does without them. LL128 has Simple's rate but for its flags:
// its row is LL's, since sizes decide about it.
#pragma once

#include <string>

#include "simulate/library/nccl_model.hpp"
#include "simulate/library/rccl_tuning.hpp"

namespace farandole { inline namespace simulate {

/// NCCL's survey, with the rings of the machine where RCCL knows it.
ChannelGraph survey_for_rccl(const RcclTuning& tuning, const Platform& platform, const Placement& placement,
                             const std::string& gfx);

class RcclModel {
 public:
  /// `graph`: surveyed for RCCL on nodes with so many devices. `latency`: how many times those of the tables.
  RcclModel(const RcclTuning& tuning, const ChannelGraph& graph, int devices_per_node, Operation operation,
            const std::string& gfx, double latency = 1);

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
  double latency_;
  int channels_ = 1;
  double bus_ = 0;  // GB/s of all channels
};

}}  // namespace farandole::simulate
