// Libraries on nodes that do not all have as many ranks.
#include <gtest/gtest.h>

#include "simulate/library_kit.hpp"

namespace farandole::unlike_nodes_test { namespace {

using test::dgx_a100;
using test::library_clock;
using test::time;

/// So many ranks on the first devices of each of the nodes.
Placement spread(const std::vector<int>& ranks_of_nodes, int devices_per_node) {
  Placement placement;
  for (std::size_t node = 0; node < ranks_of_nodes.size(); ++node) {
    for (int device = 0; device < ranks_of_nodes[node]; ++device)
      placement.device_of_rank.push_back(static_cast<int>(node) * devices_per_node + device);
  }
  placement.nodes_used = static_cast<int>(ranks_of_nodes.size());
  return placement;
}

Seconds allreduce(const std::string& library, const std::vector<int>& ranks_of_nodes, Bytes size = 256_MiB) {
  const Platform platform = dgx_a100(static_cast<int>(ranks_of_nodes.size()));
  const Placement placement = spread(ranks_of_nodes, platform.devices_per_node);
  const auto clock = library_clock(library, Operation::allreduce, platform, placement);
  return time(*clock, size, static_cast<int>(placement.device_of_rank.size()));
}

/// NCCL lays as many channels as the node with least NICs has, each over one NIC of either node: between nodes as many
/// bytes as of n ranks on nodes that all have so few, 2 (n - 1) / n of the size, over as many NICs.
TEST(UnlikeNodes, TakeAsLongAsNodesThatAreAllAsSmallAsTheSmallest) {
  const auto sent = [](double ranks) { return 2 * (ranks - 1) / ranks; };
  for (const std::string library : {"nccl-2.3", "nccl-2.18", "nccl-2.21"}) {
    const Seconds alike = allreduce(library, {6, 6, 6});
    EXPECT_NEAR(allreduce(library, {7, 6, 6}) / alike, sent(19) / sent(18), 0.02) << library;
    EXPECT_NEAR(allreduce(library, {6, 7, 6}) / alike, sent(19) / sent(18), 0.02) << library;
  }
}

/// A tree is a chain inside each node, and the longest is waited for: 2 ((most - 1) inside + log2(nodes) between),
/// though NCCL reckons with ranks / nodes when it chooses.
TEST(UnlikeNodes, OfATreeTheFullestNodesChainIsWaitedFor) {
  for (const std::string library : {"nccl-2.7", "nccl-2.18", "nccl-2.21"}) {
    const auto small = [&](const std::vector<int>& nodes) { return allreduce(library, nodes, 8_B) / 1_us; };
    EXPECT_NEAR(small({8, 1}), small({8, 8}), 0.01) << library;
    EXPECT_NEAR(small({8, 8, 1}), small({8, 8, 8}), 0.01) << library;
    EXPECT_LT(small({4, 4}), small({8, 1})) << library;
  }
}

}}  // namespace farandole::unlike_nodes_test
