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

Seconds allreduce(const std::string& library, const std::vector<int>& ranks_of_nodes) {
  const Platform platform = dgx_a100(static_cast<int>(ranks_of_nodes.size()));
  const Placement placement = spread(ranks_of_nodes, platform.devices_per_node);
  const auto clock = library_clock(library, Operation::allreduce, platform, placement);
  return time(*clock, 256_MiB, static_cast<int>(placement.device_of_rank.size()));
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

}}  // namespace farandole::unlike_nodes_test
