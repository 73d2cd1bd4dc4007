// What NCCL's search of a machine comes to: how many channels it can lay through the devices of a run, and how fast.
//
// Called by what decides as NCCL and RCCL do and by what times it. Everything is read off the platform's routes: inside
// a node a way over links called nvlink, from one device to the next or through a switch, or else over PCIe; between
// nodes over the NICs that its devices use. Ranks are taken node by node, in order of their devices, as NCCL lays its
// rings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "platform/placement.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace simulate {

enum class LinkClass : std::uint8_t { nvlink, pci, net };

struct ChannelGraph {
  int ranks = 1;
  int nodes = 1;  // with a rank
  int fewest_per_node = 1;
  int fullest = 1;  // node: its ranks, at least
  LinkClass inside = LinkClass::pci;
  int nvlinks = 0;          // of the device that has least, to others of the run; 0 without
  bool is_switched = true;  // NVLinks, where there are any, go to a switch, not from device to device
  BytesPerSecond pci;       // narrowest way from a device to the next one of its node, without NVLink
  int nics = 0;             // of the node that has least; 0 on a single node
  bool is_beside = true;    // every NIC that is used shares a PCIe switch with a device of the run (NCCL's PATH_PXB)
  BytesPerSecond nic;       // the slowest one's wire
  bool sharp = false;       // switches between nodes add up
  MessageCost posted;       // what messages of their size wait at a NIC besides
  std::vector<int> order;   // ranks as the rings pass them
  std::vector<int> device;  // in that order
  std::vector<int> node;    // in that order, numbered from 0 as they come
  /// Where channels are known one by one: the orders in which they pass the devices of a node, by their numbers within
  /// it. Empty: what a device sends to the next one is spread over all its NVLinks.
  std::vector<std::vector<int>> rings;

  [[nodiscard]] int ranks_per_node() const { return ranks / nodes; }
  [[nodiscard]] int most_per_node() const { return (ranks + nodes - 1) / nodes; }             // of nodes that are alike
  [[nodiscard]] int longest_chain() const { return std::max(fullest, most_per_node()) - 1; }  // of a tree, in a node
};

/// Builders of platforms call those links so.
bool is_nvlink(const Link& link);

/// `nvlink`: the rate of one NVLink of these devices, by their datasheet. `scale`: how many times as fast as the
/// machine that is surveyed the platform's links are.
ChannelGraph survey_channels(const Platform& platform, const Placement& placement, BytesPerSecond nvlink,
                             double scale = 1);

/// The links that carry what a position of the order sends to another one, all channels together; `parts` equal shares,
/// a link once for every share it carries.
struct ChannelWay {
  std::vector<int> links;
  int parts = 1;
};
ChannelWay channel_way(const Platform& platform, const ChannelGraph& graph, BytesPerSecond nvlink, int from, int to);

}}  // namespace farandole::simulate
