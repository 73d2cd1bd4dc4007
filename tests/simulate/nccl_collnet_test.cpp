// CollNet against what NCCL's sources say, worked out by hand.
#include <algorithm>

#include <gmock/gmock.h>

#include "simulate/nccl_kit.hpp"

namespace farandole::nccl_collnet_test { namespace {

using test::dgx_a100;
using test::expect_cost;
using test::gpu_nodes;
using test::Modelled;
using test::nccl_operations;
using enum NcclAlgorithm;
using enum NcclProtocol;

/// The same with switches that add up.
Platform sharp(Platform platform) {
  platform.transport.sharp = true;
  return platform;
}

Platform dgx_h100(int nodes) {
  return gpu_nodes({nodes, 8, 8, 450_GBps, 50_GBps});
}

bool is_off(const NcclCost& cost) {
  return cost.rate == BytesPerSecond(0);
}

TEST(NcclCollNet, Of27IsAChainToTheNetworkAndBack) {
  // 14 hops in the node (LL's 1.8 times as long) and one through the network; 8 channels of 24 GB/s, in the node of 30,
  // which 12 links of 21 carry 7 times but not 48; held to 235; .9 of it, of LL a sixth, and half of that is data.
  const Modelled pair("2.7", sharp(dgx_a100(2)), 16, Operation::allreduce, 80);
  expect_cost(pair.model.cost(collnet_chain, simple, 1_GiB), 0, 14 * 4 + 10.7, 235 * .9 / 2);
  expect_cost(pair.model.cost(collnet_chain, ll, 1_KiB), 4.4, 14 * .5 * 1.8 + 5, 235 * .9 / 6 / 2);
  EXPECT_TRUE(is_off(pair.model.cost(collnet_chain, ll128, 1_MiB)));
  EXPECT_TRUE(is_off(pair.model.cost(collnet_direct, simple, 1_MiB)));
}

TEST(NcclCollNet, Of210IsDirectAndWaitsForEveryDeviceOfTheNode) {
  // One hop there and back, half a microsecond for each of 7 others twice, and the network.
  const Modelled pair("2.10", sharp(dgx_a100(2)), 16, Operation::allreduce, 80);
  expect_cost(pair.model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (8 + 7 * .5) + 10.7, 235 / 2.0);
  EXPECT_TRUE(is_off(pair.model.cost(collnet_direct, ll, 1_KiB)));
  EXPECT_TRUE(is_off(pair.model.cost(collnet_chain, simple, 1_GiB)));
  // The network counts once, however many nodes there are.
  const Modelled many("2.10", sharp(dgx_a100(64)), 512, Operation::allreduce, 80);
  expect_cost(many.model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (8 + 7 * .5) + 10.7, 235 / 2.0);
}

TEST(NcclCollNet, LaterReleasesDifferAsTheirSourcesDo) {
  const auto a100 = [](const char* version) {
    return Modelled(version, sharp(dgx_a100(2)), 16, Operation::allreduce, 80);
  };
  expect_cost(a100("2.18").model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (8 + 7 * .5) + 10.7, 8 * 30 / 2.0);
  expect_cost(a100("2.18").model.cost(collnet_chain, simple, 1_GiB), 0, 14 * 4.75 + 14, 8 * 30 / 2.0);
  for (const char* version : {"2.19", "2.20", "2.21"}) {
    expect_cost(a100(version).model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (3.7 + 7 * .4) + 31, 8 * 30 / 2.0);
    expect_cost(a100(version).model.cost(collnet_chain, simple, 1_GiB), 0, 14 * 2.8 + 30, 8 * 30 / 2.0);
  }
  // From 2.22 on direct is searched as it is: a device sends a channel's data as its head, and a seventh of 7 others'.
  // So two of 48 GB/s, twice the NIC's 24, fit into 12 links of 20.
  for (const char* version : {"2.22", "2.23", "2.24", "2.25", "2.26", "2.27", "2.28"}) {
    expect_cost(a100(version).model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (3.7 + 7 * .4) + 31, 8 * 48 / 2.0);
    expect_cost(a100(version).model.cost(collnet_chain, simple, 1_GiB), 0, 14 * 2.8 + 30, 8 * 30 / 2.0);
  }
}

TEST(NcclCollNet, OnHopperDirectGetsLessAndNvlinkSharpGoesThroughTheNetworkOnce) {
  // 48 GB/s a channel, the most that is tried; 85 % of it for direct. NVLink SHARP: 8 channels of 40, 18 us more than
  // on one node, and, as 2.28 counts the bus, no more than the NICs' 48.
  for (const int nodes : {2, 4, 64}) {
    const Modelled h100("2.21", sharp(dgx_h100(nodes)), 8 * nodes, Operation::allreduce, 90);
    expect_cost(h100.model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (3.7 + 7 * .4) + 31, 8 * 48 * .85 / 2);
    expect_cost(h100.model.cost(collnet_chain, simple, 1_GiB), 0, 14 * 2.8 + 30, 8 * 48 / 2);
    expect_cost(h100.model.cost(nvls, simple, 1_GiB), 0, 25 + 18, 8 * 40 * 5 / 6.0);
  }
  const Modelled later("2.28", sharp(dgx_h100(2)), 16, Operation::allreduce, 90);
  expect_cost(later.model.cost(nvls, simple, 1_GiB), 0, 25 + 18, 8 * 48 * 16 / 30.0);
  const Modelled before("2.18", sharp(dgx_h100(2)), 16, Operation::allreduce, 90);
  EXPECT_TRUE(is_off(before.model.cost(nvls, simple, 1_GiB)));
}

TEST(NcclCollNet, NvlinkSharpHasShortChunksWhereItIsSlow) {
  // 4 NICs of 100 Gbit/s: 12 GB/s for each of 4 heads, below 150: chunks of 32 KiB, 16 x 4 of them at once. Every one
  // but the first waits up and down, of three stages.
  const Modelled slow("2.21", sharp(gpu_nodes({2, 8, 4, 450_GBps, 12.5_GBps})), 16, Operation::allreduce, 90);
  const NcclChoice choice = slow.model.choice_of(nvls, simple, 1_GiB);
  const double rate = 4 * 12 * 5 / 6.0;
  expect_cost(choice.cost, 0, 25 + 18, rate);
  const double most = std::min(rate, 4 * 12 * 16 / 30.0) * 1e3;  // bytes a us
  const double at_once = 16 * 4 * 32768;
  const double times = 1073741824 / at_once;
  const double moving = (times - 1) * 6.8 + (times + 2) * at_once * (1 / most - 6.8 / at_once);
  EXPECT_NEAR(slow.model.taken(choice, 1_GiB).time(1_GiB).si(), (43 + moving) * 1e-6, 1e-9);
}

TEST(NcclCollNet, FewerNicsThanDevicesCostDirectHalfOfWhatIsMissing) {
  // 4 NICs: no device ends a chain alone, so 4 channels of 48 fit into 240 GB/s; two devices a NIC count as one and a
  // half.
  const Modelled half("2.20", sharp(gpu_nodes({2, 8, 4, 300_GBps, 25_GBps})), 16, Operation::allreduce, 80);
  expect_cost(half.model.cost(collnet_direct, simple, 1_GiB), 0, 2 * (3.7 + 7 * .4) + 31, 4 * 48 / 1.5 / 2);
  expect_cost(half.model.cost(collnet_chain, simple, 1_GiB), 0, 14 * 2.8 + 30, 4 * 48 / 2);
}

TEST(NcclCollNet, GathersGoDirectFrom220OnWhereEveryDeviceHasANic) {
  for (const Operation operation : {Operation::allgather, Operation::reduce_scatter}) {
    const auto of = [&](const char* version, const Platform& platform) {
      return Modelled(version, sharp(platform), 16, operation, 80);
    };
    const double hops = 2 * (3.7 + 7 * .4) + 31;
    expect_cost(of("2.20", dgx_a100(2)).model.cost(collnet_direct, simple, 1_GiB), 0, hops, 8 * 30 * .85);
    expect_cost(of("2.26", dgx_a100(2)).model.cost(collnet_direct, simple, 1_GiB), 0, hops, 8 * 48 * .85);
    expect_cost(of("2.27", dgx_a100(2)).model.cost(collnet_direct, simple, 1_GiB), 0, hops, 8 * 24 * .9);
    // Three devices a node: two of seven steps from .95 to .85.
    const Platform three = gpu_nodes({2, 3, 3, 300_GBps, 25_GBps});
    expect_cost(Modelled("2.21", sharp(three), 6, operation, 80).model.cost(collnet_direct, simple, 1_GiB), 0,
                2 * (3.7 + 2 * .4) + 31, 3 * 48 * (2 * .85 + 5 * .95) / 7);
    EXPECT_TRUE(is_off(of("2.19", dgx_a100(2)).model.cost(collnet_direct, simple, 1_GiB)));
    const Platform half = gpu_nodes({2, 8, 4, 300_GBps, 25_GBps});
    EXPECT_TRUE(is_off(of("2.20", half).model.cost(collnet_direct, simple, 1_GiB)));
    EXPECT_TRUE(is_off(of("2.20", dgx_a100(2)).model.cost(collnet_chain, simple, 1_GiB)));
  }
  for (const Operation operation : {Operation::broadcast, Operation::reduce}) {
    const Modelled rooted("2.28", sharp(dgx_a100(2)), 16, operation, 80);
    EXPECT_TRUE(is_off(rooted.model.cost(collnet_direct, simple, 1_GiB)));
    EXPECT_TRUE(is_off(rooted.model.cost(collnet_chain, simple, 1_GiB)));
  }
}

TEST(NcclCollNet, OneDeviceANodeHasItsNicsRateAndFrom223OnATreesLatency) {
  // Nothing is in its way up to twice the NIC's 24 GB/s: 24 of data. Direct is for NVSwitches.
  const Platform hosts = sharp(gpu_nodes({16, 1, 1, 300_GBps, 25_GBps}));
  for (const auto& [version, net] : {std::pair{"2.21", 30.}, {"2.23", 14.}}) {
    const Modelled alone(version, hosts, 16, Operation::allreduce, 80);
    expect_cost(alone.model.cost(collnet_chain, simple, 1_GiB), 0, net, 24);
    EXPECT_TRUE(is_off(alone.model.cost(collnet_direct, simple, 1_GiB)));
  }
}

TEST(NcclCollNet, HoldsEightDevicesANodeUntilTheChainIsFreed) {
  const Platform sixteen = sharp(gpu_nodes({2, 16, 8, 300_GBps, 25_GBps}));
  for (const auto& [version, frees] : {std::pair{"2.7", true}, {"2.10", false}, {"2.22", false}, {"2.26", true}}) {
    const Modelled pair(version, sixteen, 32, Operation::allreduce, 80);
    EXPECT_TRUE(is_off(pair.model.cost(collnet_direct, simple, 1_GiB))) << version;
    EXPECT_EQ(is_off(pair.model.cost(collnet_chain, simple, 1_GiB)), !frees) << version;
  }
}

TEST(NcclCollNet, DirectIsForNvswitchesFrom218On) {
  Platform wired = gpu_nodes({2, 2, 2, 50_GBps, 12.5_GBps});
  for (const int from : {0, 1}) {
    const int own = static_cast<int>(wired.node.links.size()) - 4 + 2 * from;
    wired.node.between[static_cast<std::size_t>(3 * from == 0 ? 1 : 2)] = {{own}};
  }
  const auto direct = [&](const char* version) {
    return Modelled(version, sharp(wired), 4, Operation::allreduce, 70).model.cost(collnet_direct, simple, 1_GiB);
  };
  EXPECT_FALSE(is_off(direct("2.10")));
  EXPECT_TRUE(is_off(direct("2.18")));
}

TEST(NcclCollNet, IsThereOnlyBetweenNodesWhoseSwitchesAddUp) {
  for (const std::string& release : test::nccl_versions()) {
    for (const Operation operation : nccl_operations) {
      for (const int nodes : {1, 2, 4}) {
        const Platform platform = dgx_h100(nodes);
        const Modelled without(release, platform, 8 * nodes, operation, 90);
        const Modelled with(release, sharp(platform), 8 * nodes, operation, 90);
        for (const NcclAlgorithm algorithm : nccl_algorithms()) {
          const bool adds_up = is_collnet(algorithm) || (algorithm == nvls && nodes > 1);
          for (const NcclProtocol protocol : nccl_protocols()) {
            const NcclCost off = without.model.cost(algorithm, protocol, 1_MiB);
            const NcclCost on = with.model.cost(algorithm, protocol, 1_MiB);
            EXPECT_TRUE(!adds_up || is_off(off)) << release << name(algorithm);
            if (adds_up && nodes > 1) continue;
            EXPECT_EQ(off.rate, on.rate) << release << name(algorithm);
            EXPECT_EQ(off.hops, on.hops) << release << name(algorithm);
          }
        }
      }
    }
  }
}

/// What NCCL reckons of what it picks.
Seconds reckoned(const Modelled& of, Bytes size) {
  const NcclChoice choice = of.model.choose(size);
  return of.model.cost(choice.algorithm, choice.protocol, size).time(size);
}

TEST(NcclCollNet, IsPickedWhereItIsReckonedToTakeLessAndNothingElseChanges) {
  int picked = 0;
  for (const std::string& release : test::nccl_versions()) {
    if (!test::tuning(release).tuner.empty()) continue;  // which does not reckon
    for (const Operation operation : nccl_operations) {
      for (const int nodes : {2, 16}) {
        const Modelled without(release, dgx_a100(nodes), 8 * nodes, operation, 80);
        const Modelled with(release, sharp(dgx_a100(nodes)), 8 * nodes, operation, 80);
        for (const Bytes size : {1_KiB, 64_KiB, 1_MiB, 16_MiB, 1_GiB}) {
          const NcclChoice choice = with.model.choose(size);
          const bool is_new = is_collnet(choice.algorithm);
          const Seconds before = reckoned(without, size);
          EXPECT_TRUE(is_new ? reckoned(with, size) < before : reckoned(with, size) == before) << size.si();
          EXPECT_TRUE(is_new || choice.cost.time(size) == without.model.choose(size).cost.time(size)) << size.si();
          picked += is_new ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(picked, 20);
}

TEST(NcclCollNet, BandwidthGrowsWithTheSize) {
  for (const char* version : {"2.7", "2.10", "2.18", "2.21", "2.28"}) {
    const Modelled pair(version, sharp(dgx_h100(2)), 16, Operation::allreduce, 90);
    for (const NcclAlgorithm algorithm : {collnet_direct, collnet_chain, nvls}) {
      const NcclChoice choice = pair.model.choice_of(algorithm, simple, 1_MiB);
      if (is_off(choice.cost)) continue;
      BytesPerSecond last(0);
      for (Bytes size = 64_KiB; size <= 4_GiB; size = size * 2.0) {
        const BytesPerSecond rate = size / pair.model.taken(choice, size).time(size);
        EXPECT_GE(rate, last) << version << name(algorithm) << size.si();
        last = rate;
      }
    }
  }
}

TEST(NcclCollNet, ChannelsGrowWithTheSizeAsTheirThreadsHaveSomethingToDo) {
  // Direct asks 640 * 512 B of a channel for each of 8 heads, half of that from 12 channels down, and so on.
  const Modelled pair("2.20", sharp(dgx_a100(2)), 16, Operation::allreduce, 80);
  const auto channels = [&](NcclAlgorithm algorithm, Bytes size) {
    return pair.model.choice_of(algorithm, simple, size).channels;
  };
  const double direct = 640.0 * 512 * 8;
  EXPECT_EQ(channels(collnet_direct, Bytes(16 * direct)), 16);
  EXPECT_EQ(channels(collnet_direct, Bytes(15 * direct)), 15);
  EXPECT_EQ(channels(collnet_direct, Bytes(10 * direct / 2)), 10);
  EXPECT_EQ(channels(collnet_direct, 1_KiB), 1);
  EXPECT_EQ(channels(collnet_chain, Bytes(5 * 640.0 * 512)), 5);
}

}}  // namespace farandole::nccl_collnet_test
