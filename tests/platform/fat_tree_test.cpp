#include <map>

#include <gmock/gmock.h>

#include "platform/bisection.hpp"
#include "platform/networks.hpp"

namespace farandole::fat_tree_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string leaf_spine(const std::string& nodes, const std::string& network) {
  return network_file("leaf_spine", nodes, 10,
                      R"({"nodes_per_leaf": 4, "link": )" + link_of_rate(20) + ", " + network + "}");
}

std::string message_for(const std::string& text) {
  return message_of([&] { built(text); });
}

/// Nodes with a device on each of two NICs.
Platform with_two_nics(const std::string& rails, int nodes) {
  const Topology topology = topology_of(leaf_spine("8", R"("spines": 2, "rails": ")" + rails + "\""));
  Platform platform;
  platform.nodes = nodes;
  platform.devices_per_node = platform.node.devices = 2;
  const BytesPerSecond rate = 10_GBps;
  for (const char* name : {"nic0/up", "nic0/down", "nic1/up", "nic1/down"}) {
    platform.node.links.push_back({name, rate, 1_us, rate});
  }
  platform.node.nics = {{0, 1}, {2, 3}};
  platform.node.nics_of_device = {{0}, {1}};
  platform.node.between.assign(4, {{}});
  platform.node.to_nic = {{{0}}, {{2}}, {{0}}, {{2}}};
  platform.node.from_nic = {{{1}}, {{1}}, {{3}}, {{3}}};
  for (int node = 0; node < nodes; ++node) {
    for (const Link& link : platform.node.links) platform.links.push_back(link);
  }
  topology.network(platform, anywhere());
  return platform;
}

TEST(LeafSpine, StaysUnderALeafWhereItCan) {
  const auto platform = built(leaf_spine("8", R"("spines": 2)"));
  EXPECT_THAT(names_of(platform, platform.route(0, 3)), ElementsAre("node0/nic0/up", "node3/nic0/down"));
  EXPECT_EQ(platform.network.switches.size(), 2U + 2);
  EXPECT_EQ(platform.network.cables.size(), 2U * 2);
}

TEST(LeafSpine, ByDestinationGoesOverTheSpineOfItsNumber) {
  const auto platform = built(leaf_spine("8", R"("spines": 2, "routing": "d_mod_k")"));
  EXPECT_THAT(names_of(platform, platform.route(0, 6)),
              ElementsAre("node0/nic0/up", "leaf0-spine0/up", "leaf1-spine0/down", "node6/nic0/down"));
  EXPECT_THAT(names_of(platform, platform.route(0, 7)),
              ElementsAre("node0/nic0/up", "leaf0-spine1/up", "leaf1-spine1/down", "node7/nic0/down"));
}

TEST(LeafSpine, SpreadTakesEverySpineAtOnce) {
  const auto platform = built(leaf_spine("8", R"("spines": 2, "cables_per_spine": 2, "routing": "spread")"));
  const auto route = platform.route(0, 6);
  EXPECT_EQ(route.paths, 2);
  EXPECT_EQ(route.links.size(), 8U);
  // Parallel cables are one link of so many times the rate.
  EXPECT_EQ(platform.links[static_cast<std::size_t>(route.links[1])].capacity, 40_GBps);
  // 1 us through the NICs, 1 us each to the spine and from it
  EXPECT_DOUBLE_EQ(route.latency.si(), 3e-6);
}

TEST(LeafSpine, OfSpreadWaysIsNeverFullWhereLeavesCarryWhatTheirNicsDo) {
  // 4 NICs of 10 GB/s under a leaf.
  const auto at_no_latency = [](const std::string& network) {
    Platform platform = built(leaf_spine("8", network));
    for (Link& link : platform.links) link.latency = 0_s;
    return platform;
  };
  const auto is_never_full = [](const Platform& platform) {
    std::vector<BytesPerSecond> capacities;
    for (const Link& link : platform.links) capacities.push_back(link.capacity);
    return platform.network.never_full(platform, capacities);
  };
  Platform enough = at_no_latency(R"("spines": 2, "routing": "spread")");
  EXPECT_TRUE(is_never_full(enough));
  EXPECT_FALSE(is_never_full(at_no_latency(R"("spines": 1, "routing": "spread")")));
  EXPECT_FALSE(is_never_full(built(leaf_spine("8", R"("spines": 2, "routing": "spread")"))));  // takes time
  EXPECT_FALSE(at_no_latency(R"("spines": 2, "routing": "d_mod_k")").network.never_full);
  const auto change = [&](std::size_t link, BytesPerSecond capacity) {
    Platform changed = enough;
    changed.links[link].capacity = capacity;
    return changed;
  };
  EXPECT_FALSE(is_never_full(change(enough.links.size() - 1, 19_GBps)));
  EXPECT_FALSE(is_never_full(change(0, 11_GBps)));
}

TEST(LeafSpine, HashesDependOnThePairAndTheSeedAlone) {
  const auto ways = [](int seed) {
    const auto platform = built(leaf_spine("64", R"("spines": 8, "seed": )" + std::to_string(seed)));
    std::map<int, int> flows;
    for (int from = 0; from < 32; ++from) {
      for (int to = 32; to < 64; ++to) ++flows[platform.route(from, to).links[1]];
    }
    return flows;
  };
  EXPECT_EQ(ways(1), ways(1));
  EXPECT_NE(ways(1), ways(2));
  // 1,024 flows over 8 leaves of 8 uplinks: 16 on each, and every uplink has some.
  EXPECT_EQ(ways(1).size(), 64U);
}

TEST(LeafSpine, HasAsManyLeavesAsItsNodesNeed) {
  EXPECT_EQ(built(leaf_spine("9", R"("spines": 2)")).network.switches.size(), 3U + 2);
}

TEST(LeafSpine, TakesTheSpinesFromTheOversubscription) {
  // 4 nodes of 10 GB/s on 20 GB/s uplinks: 1:1 is 2 spines, 2:1 is 1.
  EXPECT_EQ(built(leaf_spine("8", R"("oversubscription": 1)")).network.cables.size(), 4U);
  EXPECT_EQ(built(leaf_spine("8", R"("oversubscription": 2)")).network.cables.size(), 2U);
  EXPECT_THAT(
      message_for(leaf_spine("8", R"("oversubscription": 3)")),
      HasSubstr("/network/oversubscription: expected an oversubscription that a whole number of spines gives, 1 "
                "cables to each, got 3, for which a leaf has 0.6667 uplinks"));
  EXPECT_THAT(message_for(leaf_spine("8", R"("oversubscription": 1, "spines": 2)")),
              HasSubstr("expected either \"spines\" or \"oversubscription\", got both"));
}

TEST(LeafSpine, HalvesItsBisectionWithTwiceTheOversubscription) {
  // 16 nodes of 10 GB/s, 4 leaves: half of them send 80 GB/s; two leaves send 2 x 40 GB/s upwards at 1:1.
  EXPECT_EQ(bisection(built(leaf_spine("16", R"("oversubscription": 1)"))).value(), 80_GBps);
  EXPECT_EQ(bisection(built(leaf_spine("16", R"("oversubscription": 2)"))).value(), 40_GBps);
}

TEST(LeafSpine, RefusesMoreCablesThanASwitchHasPorts) {
  EXPECT_EQ(message_for(leaf_spine("8", R"("spines": 2, "leaf_ports": 6, "spine_ports": 2)")), "(no error)");
  EXPECT_THAT(message_for(leaf_spine("8", R"("spines": 2, "leaf_ports": 5)")),
              HasSubstr("expected at most the 5 cables that leaf0 has ports for, got 8 nodes, which put 6 into it"));
  EXPECT_THAT(message_for(leaf_spine("9", R"("spines": 2, "spine_ports": 2)")), HasSubstr("spine0"));
}

TEST(LeafSpine, OnRailsApartHasANetworkForEveryNic) {
  const auto platform = with_two_nics("apart", 8);
  EXPECT_EQ(platform.network.switches.size(), 2U * (2 + 2));
  EXPECT_TRUE(platform.network.rails_apart);
  EXPECT_EQ(platform.network.switches[0].name, "rail0/leaf0");
  // Device 1 of node 0 to device 0 of node 4: along rail 1 all the way.
  const auto names = names_of(platform, platform.route(1, 8));
  EXPECT_THAT(names[1], testing::StartsWith("rail1/leaf0-rail1/spine"));
  EXPECT_EQ(bisection(platform).value(), enumerated_bisection(platform));
}

TEST(LeafSpine, OnRailsJoinedHasALeafForEveryRailOfAPod) {
  const auto platform = with_two_nics("joined", 8);
  // 2 pods of 4 nodes x 2 rails, one set of spines.
  EXPECT_EQ(platform.network.switches.size(), 4U + 2);
  EXPECT_EQ(platform.route(0, 2).links.size(), 2U);  // the same rail of one pod
  EXPECT_EQ(platform.route(0, 3).links.size(), 4U);  // another rail: over a spine
  EXPECT_EQ(bisection(platform).value(), enumerated_bisection(platform));
}

TEST(FatTree, OfThreeLevelsClimbsAsHighAsItMust) {
  const auto platform = built(network_file("fat_tree", "8", 1,
                                           R"({"levels": [{"down": 2}, {"down": 2, "parents": 2, "link": )" +
                                               link_of_rate(1) + R"(}, {"name": "top", "parents": 2, "link": )" +
                                               link_of_rate(1) + R"(}], "routing": "d_mod_k"})"));
  // 4 leaves, 2 pods of 2 spines, 4 at the top: every level carries what the nodes send.
  EXPECT_EQ(platform.network.switches.size(), 4U + 4 + 4);
  EXPECT_EQ(platform.route(0, 1).links.size(), 2U);
  EXPECT_EQ(platform.route(0, 2).links.size(), 4U);
  EXPECT_EQ(platform.route(0, 7).links.size(), 6U);
  EXPECT_EQ(bisection(platform).value(), 4_GBps);
}

TEST(FatTree, ByDestinationASwapOfHalvesSharesNoLink) {
  // Zahavi: D-Mod-K routes every shift permutation of a full tree without contention.
  const auto platform = built(network_file("fat_tree", "64", 1,
                                           R"({"levels": [{"down": 4}, {"down": 4, "parents": 4, "link": )" +
                                               link_of_rate(1) + R"(}, {"down": 4, "parents": 4, "link": )" +
                                               link_of_rate(1) + R"(}], "routing": "d_mod_k"})"));
  for (int shift = 1; shift < 64; ++shift) {
    std::map<int, int> flows;
    for (int node = 0; node < 64; ++node) {
      for (const int link : platform.route(node, (node + shift) % 64).links) EXPECT_EQ(++flows[link], 1);
    }
  }
}

TEST(FatTree, RefusesMoreNodesThanItHasRoomFor) {
  EXPECT_THAT(message_for(network_file("fat_tree", "9", 1,
                                       R"({"levels": [{"down": 4}, {"down": 2, "link": )" + link_of_rate(1) + "}]}")),
              HasSubstr("expected at most the 8 nodes that the tree has room for, got 9 nodes"));
}

}}  // namespace farandole::fat_tree_test
