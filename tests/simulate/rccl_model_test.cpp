// RCCL's cost model against what its sources say, worked out by hand.
#include "simulate/library/rccl_model.hpp"

#include <cmath>
#include <map>

#include <gmock/gmock.h>

#include "simulate/rccl_kit.hpp"

namespace farandole::rccl_model_test { namespace {

using test::expect_cost;
using test::mi250x_nodes;
using test::mi300x_nodes;
using test::RcclModelled;
using enum NcclAlgorithm;
using enum NcclProtocol;

RcclModelled frontier(int nodes, Operation operation = Operation::allreduce, const char* version = "2.20") {
  return {version, mi250x_nodes(nodes), 8 * nodes, operation, "gfx90a"};
}

RcclModelled mi300x(const char* version, int nodes, Operation operation = Operation::allreduce) {
  return {version, mi300x_nodes(nodes), 8 * nodes, operation, "gfx942"};
}

TEST(RcclModel, ANodeOfFrontierHasTheFirstTableAndSevenLinksOf36GigabytesASecond) {
  // 14 steps; a rank sends 14/8 of the data; 1 KiB is 16 units of 64 B, place 4 of the tree's factors; LL gets .04.
  const auto node = frontier(1);
  expect_cost(node.model.cost(ring, simple, 1_GiB), 17, 14 * 3.6, 252 * 8 / 14.0);
  expect_cost(node.model.cost(ring, ll, 1_KiB), 12, 14 * .8, 252 * .04 * 8 / 14);
  expect_cost(node.model.cost(tree, ll, 1_KiB), 12, 2 * 7 * .8, 252 * .04 / 2 * .9);
  expect_cost(node.model.cost(tree, simple, 1_MiB), 17, 2 * 7 * 2.5, 252 * .91 / 2 * 1.0);
  EXPECT_EQ(node.model.cost(ring, ll128, 1_MiB).rate, BytesPerSecond(0));
  EXPECT_EQ(node.model.channels(), 16);
}

/// Of messages of 4,098 bytes and more, flags included.
TEST(RcclModel, HandshakesAtNicsAddToEveryHopBetweenNodes) {
  Platform platform = mi250x_nodes(2);
  platform.transport.nic = {Bytes(4098), Seconds(5e-6)};
  const RcclModelled with("2.20", platform, 16, Operation::allgather, "gfx90a");
  const auto without = frontier(2, Operation::allgather);
  for (const Bytes size : {1_KiB, 64_MiB}) {
    const double more = (with.model.choose(size).cost.hops - without.model.choose(size).cost.hops).si();
    EXPECT_NEAR(more, size == 1_KiB ? 0 : 2 * 5e-6, 1e-12);  // 15 steps, two of which leave a node of eight
  }
}

TEST(RcclModel, TwoNodesOfFrontierHaveTheTableOfModulesWithANicEach) {
  // 30 steps, 4 of which cross until 2.24, and posting takes 2 us, three times that for Simple. 1 MiB is place 14.
  const auto pair = frontier(2);
  expect_cost(pair.model.cost(ring, simple, 1_MiB), 17, 26 * 6.0 + 4 * 19.8, 252 * 16 / 30.0 * .2);
  expect_cost(pair.model.cost(ring, ll, 1_KiB), 12, 26 * 2.0 + 4 * 9.5, 252 * .2 * 16 / 30 * .1);
  expect_cost(pair.model.cost(tree, simple, 1_MiB), 17, 2 * (7 * 2.5 + 22.4), 252 * 1.75 / 2);
  expect_cost(pair.model.cost(tree, ll, 1_MiB), 12, 2 * (7 * .8 + 12.5), 252 * .2 / 2 * .6);
  EXPECT_EQ(pair.model.channels(), 16);
  // On more nodes trees get .96. 4 nodes: 62 steps, 8 of which cross; 2.26 counts 6 of them.
  expect_cost(frontier(4).model.cost(tree, simple, 1_MiB), 17, 2 * (7 * 2.5 + 2 * 22.4), 252 * .96 / 2);
  expect_cost(frontier(4).model.cost(ring, simple, 1_GiB), 17, 54 * 6.0 + 8 * 19.8, 252 * 32 / 62.0);
  expect_cost(frontier(4, Operation::allreduce, "2.26").model.cost(ring, simple, 1_GiB), 17, 56 * 6.0 + 6 * 19.8,
              252 * 32 / 62.0);
}

TEST(RcclModel, EightMi300xHaveSevenLinksOf48AndNoTreesOfSimpleAmongThem) {
  const auto node = mi300x("2.26", 1);
  expect_cost(node.model.cost(ring, simple, 1_GiB), 17, 14 * 2.1, 336 * 8 / 14.0);
  expect_cost(node.model.cost(tree, ll, 4_KiB), 12, 2 * 7 * .9, 336 * .06 / 2 * 1.0);
  EXPECT_EQ(node.model.cost(tree, simple, 1_MiB).rate, BytesPerSecond(0));
  EXPECT_EQ(node.model.channels(), 56);
  // Broadcasts and reductions by LL get 1.65 times as much there; one step counts, whose rings are all alike.
  for (const Operation rooted : {Operation::broadcast, Operation::reduce}) {
    expect_cost(mi300x("2.26", 1, rooted).model.cost(ring, ll, 1_KiB), 12, .8, 336 * .08 * 1.65);
    expect_cost(mi300x("2.26", 2, rooted).model.cost(ring, ll, 1_KiB), 12, 9.5, 336 * .08 * .1);
  }
}

/// 15 hops over two nodes, one of which crosses; the others wait for a posting of 2 us.
TEST(RcclModel, AChainFromARootPassesEveryRankWhateverCountsForTheChoice) {
  for (const Operation rooted : {Operation::broadcast, Operation::reduce}) {
    const auto latency = [&](int nodes) {
      const NcclCost cost = frontier(nodes, rooted).model.choose(8_B).cost;
      return 1e6 * (cost.base + cost.hops).si();
    };
    EXPECT_NEAR(latency(1), 12 + 7 * .8, 1e-6);
    EXPECT_NEAR(latency(2), 12 + 14 * 2.0 + 9.5, 1e-6);
    EXPECT_NEAR(latency(128), 12 + 896 * 2.0 + 127 * 9.5, 1e-6);
  }
}

TEST(RcclModel, EightMi300xSumUpEverybodyWithEverybodyFrom1KibTo4Mib) {
  // Two hops; an eighth of the data twice over one of seven links of 48 GB/s, half of which is payload of LL.
  const auto node = mi300x("2.26", 1);
  const auto taken = [&](Bytes size) { return 1e6 * node.model.choose(size).cost.time(size).si(); };
  EXPECT_NEAR(taken(1_KiB), 12 + 2 * .8 + 2 * 128 / 24e3, 1e-6);
  EXPECT_NEAR(taken(512_KiB), 12 + 2 * .8 + 2 * 65536 / 24e3, 1e-6);
  EXPECT_NEAR(taken(1_MiB), 17 + 2 * 2.1 + 2 * 131072 / 48e3, 1e-6);
  EXPECT_NEAR(taken(4_MiB), 17 + 2 * 2.1 + 2 * 524288 / 48e3, 1e-6);
  EXPECT_GT(taken(512_B), 20);  // a ring's
  EXPECT_GT(taken(8_MiB), 80);
  for (const auto& other : {mi300x("2.26", 2), frontier(1), mi300x("2.26", 1, Operation::allgather)}) {
    EXPECT_GT(1e6 * other.model.choose(1_KiB).cost.time(1_KiB).si(), 16);
  }
}

TEST(RcclModel, TheFactorsOf226AreItsOwnForMi300x) {
  // 256 MiB is place 22: trees of Simple 1 and .7, rings .1 and 1.
  const double tree_rate = 336 * .11 / 2;
  const double ring_rate = 336 * 16 / 30.0;
  expect_cost(mi300x("2.20", 2).model.cost(tree, simple, 256_MiB), 17, 2 * (7 * 2.3 + 25), tree_rate);
  expect_cost(mi300x("2.26", 2).model.cost(tree, simple, 256_MiB), 17, 2 * (7 * 2.3 + 25), tree_rate * .7);
  expect_cost(mi300x("2.20", 2).model.cost(ring, simple, 256_MiB), 17, 26 * 6.0 + 4 * 320, ring_rate * .1);
  expect_cost(mi300x("2.26", 2).model.cost(ring, simple, 256_MiB), 17, 28 * 6.0 + 2 * 320, ring_rate);
  EXPECT_EQ(mi300x("2.20", 2).model.cost(ring, ll128, 256_MiB).rate, BytesPerSecond(0));
  expect_cost(mi300x("2.26", 2).model.cost(ring, ll128, 256_MiB), 12, 28 * 2.0 + 2 * 9.5, ring_rate * .08 * .1);
}

TEST(RcclModel, SizesDecideTheProtocolBetweenNodesOfMi300xFrom226On) {
  const auto protocol = [](int nodes, Operation operation, Bytes size) {
    return name(mi300x("2.26", nodes, operation).model.choose(size).protocol);
  };
  using enum Operation;
  EXPECT_EQ(protocol(2, allreduce, 1_MiB), "LL");
  EXPECT_EQ(protocol(2, allreduce, 1_MiB + 1_B), "LL128");
  EXPECT_EQ(protocol(2, allreduce, 9437184_B), "LL128");
  EXPECT_EQ(protocol(2, allreduce, 9437185_B), "Simple");
  EXPECT_EQ(protocol(4, allreduce, 9437184_B * 3.8), "LL128");  // "since Tree has special behavior at 2 nodes"
  EXPECT_EQ(protocol(4, allreduce, 9437184_B * 4), "Simple");
  // Of a rank's part; where both would do, LL128.
  EXPECT_EQ(protocol(2, allgather, 98304_B * 16), "LL");
  EXPECT_EQ(protocol(2, allgather, 98305_B * 16), "LL128");
  EXPECT_EQ(protocol(2, allgather, 5046273_B * 16), "Simple");
  EXPECT_EQ(protocol(2, reduce_scatter, 131072_B * 16), "LL");
  EXPECT_EQ(protocol(2, reduce_scatter, 131073_B * 16), "LL128");
  EXPECT_EQ(protocol(2, reduce_scatter, 3211265_B * 16), "Simple");
}

TEST(RcclModel, WhatAChoiceTakesHasNoFactorBySize) {
  // 64 KiB is place 10: the tree of Simple has 1, that of LL .9, and is less; .2 of the links' rate, halved.
  const auto pair = frontier(2);
  const NcclChoice chosen = pair.model.choose(64_KiB);
  EXPECT_EQ(chosen.algorithm, tree);
  EXPECT_EQ(chosen.protocol, ll);
  expect_cost(chosen.cost, 12, 2 * (7 * .8 + 12.5), 252 * .2 / 2);
  // LL128's row is LL's; it is taken to have Simple's rate but for 8 bytes of every 64.
  const NcclChoice gathered = mi300x("2.26", 2, Operation::allgather).model.choose(64_MiB);
  EXPECT_EQ(gathered.protocol, ll128);
  expect_cost(gathered.cost, 12, 14 * 2.0 + 9.5, 336 * 16 / 15.0 * 7 / 8);
}

/// Where factors by size make it pick a slow row of the tables (trees of 64 MiB on two nodes of MI300X at 18 GB/s,
/// where rings of 128 MiB have 85), what it picked takes what the fastest row does.
TEST(RcclModel, NothingIsFasterForMoreBytes) {
  for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::reduce_scatter}) {
    for (const int nodes : {1, 2, 4, 16}) {
      const auto machine = mi300x("2.26", nodes, operation);
      Seconds before{};
      const bool has_pairs = nodes == 1 && operation == Operation::allreduce;  // faster than the rings before them
      for (int power = has_pairs ? 10 : 0; power < 35; ++power) {
        const Bytes size(std::exp2(power));
        const Seconds now = machine.model.choose(size).cost.time(size);
        EXPECT_GE(now, before) << name(operation) << ' ' << nodes << ' ' << size.si();
        before = now;
      }
    }
  }
}

TEST(RcclModel, ItPicksTheLeastOfWhatItReckons) {
  for (const auto& [nodes, size] : std::map<int, Bytes>{{1, 1_KiB}, {2, 1_MiB}, {4, 64_MiB}, {16, 1_GiB}}) {
    const auto run = frontier(nodes);
    const NcclChoice chosen = run.model.choose(size);
    const Seconds least = run.model.cost(chosen.algorithm, chosen.protocol, size).time(size);
    for (const NcclAlgorithm algorithm : {tree, ring}) {
      for (const NcclProtocol protocol : nccl_protocols()) {
        const NcclCost other = run.model.cost(algorithm, protocol, size);
        const bool refused = other.rate == BytesPerSecond(0);
        EXPECT_TRUE(refused || least <= other.time(size)) << nodes;
      }
    }
  }
}

TEST(RcclModel, ChannelsAreFilledBy256ThreadsEach) {
  // 64 bytes a thread of Simple, 8 of LL's tree; between nodes of MI300X 64 and a rank's worth of LL128's gathers.
  const auto node = frontier(1);
  EXPECT_EQ(node.model.choose(64_MiB).channels, 16);
  EXPECT_EQ(node.model.choose(1_KiB).channels, 1);
  const auto gather = mi300x("2.26", 2, Operation::allgather);
  EXPECT_EQ(gather.model.choose(10_MiB).channels, 40);  // 10 MiB / (256 * 64 * 16)
}

TEST(RcclModel, MachinesThatItDoesNotKnowAreSearched) {
  // Four of eight MI300X have three links each to the others; the first table is theirs.
  const RcclModelled half("2.26", mi300x_nodes(1), 4, Operation::allreduce, "gfx942");
  expect_cost(half.model.cost(ring, simple, 1_GiB), 17, 6 * 3.6, 3 * 48 * 4 / 6.0);
  EXPECT_TRUE(half.graph.rings.empty());
  // NICs of 25 GB/s are counted on for 24.
  const RcclModelled alone("2.26", test::gpu_nodes({2, 1, 1, 1_GBps, 25_GBps}), 2, Operation::allreduce, "gfx90a");
  expect_cost(alone.model.cost(ring, simple, 1_GiB), 17, 2 * 20.8, 24);  // a tree's hop where every node has one rank
}

TEST(RcclModel, RingsPassEveryDeviceOnceOverLinksThatThereAre) {
  for (const int nodes : {1, 2}) {
    const Platform platform = mi250x_nodes(nodes);
    const auto run = frontier(nodes);
    ASSERT_EQ(run.graph.rings.size(), 4U);
    for (const auto& ring : run.graph.rings) {
      EXPECT_THAT(ring, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
      for (std::size_t i = 0; i + 1 < ring.size(); ++i) {
        const Route hop = platform.route(ring[i], ring[i + 1]);
        ASSERT_EQ(hop.links.size(), 1U);
        EXPECT_TRUE(is_nvlink(platform.links[static_cast<std::size_t>(hop.links.front())])) << ring[i] << ring[i + 1];
      }
    }
  }
}

}}  // namespace farandole::rccl_model_test
