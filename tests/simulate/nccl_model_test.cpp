// NCCL's cost model against what its sources say, worked out by hand.
#include "simulate/library/nccl_model.hpp"

#include <gmock/gmock.h>

#include "simulate/nccl_kit.hpp"

namespace farandole::nccl_model_test { namespace {

using test::dgx_a100;
using test::expect_cost;
using test::Modelled;
using enum NcclAlgorithm;
using enum NcclProtocol;

TEST(NcclModel, ARingOnOneNodeCountsEveryStepOverNvlink) {
  // 14 steps; 12 links of 22 GB/s are held to 235; a rank sends 14/8 of the data; LL128 at most 20 a channel.
  const Modelled a100("2.10", dgx_a100(1), 8, Operation::allreduce, 80);
  expect_cost(a100.model.cost(ring, simple, 1_GiB), 8.4, 14 * 3.4, 235 * 8 / 14.0);
  expect_cost(a100.model.cost(ring, ll, 1_KiB), 3.6, 14 * .47, 235 / 4.0 * 8 / 14);
  expect_cost(a100.model.cost(ring, ll128, 1_MiB), 10, 14 * 1.9, 235 * .92 * 8 / 14);
}

TEST(NcclModel, ATreeOnOneNodeIsAChainUpAndDownCorrectedBySize) {
  // 1 KiB is 16 units of 64 B, place 4 of the table: .9 of LL's rate; .92 of 235, over 3.8, over 2.
  const Modelled a100("2.10", dgx_a100(1), 8, Operation::allreduce, 80);
  expect_cost(a100.model.cost(tree, ll, 1_KiB), 4.4, 2 * 7 * .52, 235 * .92 / 3.8 / 2 * .9);
  // 1 MiB is place 14; Simple has no base of its own.
  expect_cost(a100.model.cost(tree, simple, 1_MiB), 0, 2 * 7 * 28, 235 * .92 / 2 * .5);
}

TEST(NcclModel, StepsBetweenNodesAreCountedApartAndLargeRingsWaitOnAPlateau) {
  // Two nodes: 30 steps, 2 of them over the network; 8 NICs of 200 Gbit/s are counted on for 24 GB/s each.
  const Modelled pair("2.10", dgx_a100(2), 16, Operation::allreduce, 80);
  expect_cost(pair.model.cost(ring, simple, 1_KiB), 8.4, 28 * 3.4 + 2 * 9.6, 192 * 16 / 30.0);
  expect_cost(pair.model.cost(ring, simple, 64_KiB), 8.4 * 1.9, (28 * 3.4 + 2 * 9.6) * 1.9, 192 * 16 / 30.0);
  expect_cost(pair.model.cost(ring, ll, 1_KiB), 3.6, 28 * .47 * 1.8 + 2 * 2.7, 22.5 * 16 / 30);
}

TEST(NcclModel, Nccl25KnowsOneLatencyAndNoLl128OnAmpere) {
  const Modelled pair("2.5", dgx_a100(2), 16, Operation::allreduce, 80);
  expect_cost(pair.model.cost(ring, simple, 1_GiB), 8.4, 30 * 6.6, 192 * 16 / 30.0);
  EXPECT_EQ(pair.model.cost(ring, ll128, 1_GiB).rate, BytesPerSecond(0));
  expect_cost(pair.model.cost(tree, simple, 1_GiB), 0, 2 * (7 * 28 + 50), 35);
}

TEST(NcclModel, Nccl218CountsPostingASendInEveryStep) {
  // Posting takes 2 us with AMD's processors, three times that for Simple; 4 of 30 steps cross the network.
  const Modelled pair("2.18", dgx_a100(2), 16, Operation::allreduce, 80);
  expect_cost(pair.model.cost(ring, ll, 1_KiB), 6.6, 26 * 2.0 + 4 * 2.7, 22.5 * 16 / 30);
  expect_cost(pair.model.cost(ring, simple, 1_KiB), 8.4, 26 * 6.0 + 4 * 14.0, 192 * 16 / 30.0);
  expect_cost(pair.model.cost(ring, simple, 1_MiB), 8.4 * 1.4, (26 * 6.0 + 4 * 14.0) * 1.4, 192 * 16 / 30.0);
}

/// 18 links of 25 GB/s, 8 NICs of 50 GB/s.
Platform dgx_h100(int nodes) {
  return test::gpu_nodes({nodes, 8, 8, 450_GBps, 50_GBps});
}

TEST(NcclModel, Nccl221GivesRingsLlHalfOfTheRateAndHopperItsOwnLimits) {
  // 18 links of 20.6 GB/s; LL at most 141 on one node of Hopper.
  const Modelled h100("2.21", dgx_h100(1), 8, Operation::allreduce, 90);
  expect_cost(h100.model.cost(ring, simple, 1_GiB), 8.4, 14 * 3.4, 370.8 * 8 / 14);
  expect_cost(h100.model.cost(ring, ll, 1_KiB), 6.6, 14 * .6, 141 * 8 / 14.0);
  expect_cost(h100.model.cost(ring, ll128, 1_MiB), 14, 14 * 1.9, 370.8 * .92 * 8 / 14);
}

TEST(NcclModel, NvlinkSharpHasAChannelForEveryDevice) {
  // 8 channels of 40 GB/s, as NCCL 2.19.4 reports of H100 (github.com/NVIDIA/nccl/issues/1197), and 5/6 of them; NVIDIA
  // measured a bus bandwidth of 480 GB/s (issue 1455), which is 274 GB/s of data.
  const Modelled h100("2.21", dgx_h100(1), 8, Operation::allreduce, 90);
  expect_cost(h100.model.cost(nvls, simple, 1_GiB), 0, 25, 8 * 40 * 5 / 6.0);
  EXPECT_EQ(h100.model.choose(1_GiB).algorithm, nvls);
  EXPECT_EQ(h100.model.choose(1_GiB).channels, 16);
  EXPECT_NE(h100.model.choose(1_KiB).algorithm, nvls);
  // 4 of its devices: at most 60 a channel.
  const Modelled half("2.21", dgx_h100(1), 4, Operation::allreduce, 90);
  expect_cost(half.model.cost(nvls, simple, 1_GiB), 0, 25, 4 * 60 * 5 / 6.0);
}

TEST(NcclModel, Nccl228CountsTheBusThatNvlinkSharpReaches) {
  // .85 of 40 GB/s a channel, there and back, for the 7 of 8 parts that a device sends: a bus of 476 GB/s (480
  // measured, issue 1455). Between two nodes at most 57.7 a channel, between more 45.5 and what a NIC has for it.
  const Modelled one("2.28", dgx_h100(1), 8, Operation::allreduce, 90);
  expect_cost(one.model.cost(nvls, simple, 1_GiB), 0, 25, 8 * 40 * .85 * 2 * 7 / 8.0 * 8 / 14.0);
  EXPECT_EQ(one.model.choose(4_GiB).algorithm, nvls);
  const Modelled two("2.28", dgx_h100(2), 16, Operation::allreduce, 90);
  expect_cost(two.model.cost(nvls_tree, simple, 1_GiB), 0, 25 + 2 * 14, 8 * 57.7 * 16 / 30);
  const Modelled four("2.28", dgx_h100(4), 32, Operation::allreduce, 90);
  expect_cost(four.model.cost(nvls_tree, simple, 1_GiB), 0, 25 + 4 * 14, 8 * 45.5 * 32 / 62);
}

TEST(NcclModel, Nccl228KnowsTheBaseOfTreesAndExposesNetworksOfOneDeviceANode) {
  const Modelled pair("2.28", dgx_h100(2), 16, Operation::allreduce, 90);
  expect_cost(pair.model.cost(tree, simple, 256_MiB), 8.4, 2 * (7 * 4 + 14), 8 * 41.4 / 2 * .9);
  expect_cost(pair.model.cost(ring, ll, 1_KiB), 6.6, 28 * 1.0 + 2 * 2.7, 39 * 16 / 30.0);
  const Modelled alone("2.28", test::gpu_nodes({2, 1, 1, 450_GBps, 50_GBps}), 2, Operation::allreduce, 90);
  expect_cost(alone.model.cost(ring, ll, 1_KiB), 6.6, 2 * 5.0, 24);
}

TEST(NcclModel, ReleasesBetweenDifferAsTheirSourcesDo) {
  // 2.19 and 2.20: 23 us for NVLS, and a quarter of the rate for rings' LL; 2.22 has 2.21's constants; 2.23 and 2.24
  // 2.28's but for NVLS.
  const auto modelled = [](const char* version, int nodes) {
    return Modelled(version, dgx_h100(nodes), 8 * nodes, Operation::allreduce, 90);
  };
  expect_cost(modelled("2.20", 1).model.cost(nvls, simple, 1_GiB), 0, 23, 8 * 40 * 5 / 6.0);
  expect_cost(modelled("2.20", 1).model.cost(ring, ll, 1_KiB), 6.6, 14 * .6, 87.7 * 8 / 14);
  expect_cost(modelled("2.20", 2).model.cost(tree, simple, 256_MiB), 0, 2 * (7 * 28 + 28), 8 * 41.4 / 2 * .9);
  for (const auto& [one, other] : {std::pair{"2.19", "2.20"},
                                   {"2.21", "2.22"},
                                   {"2.23", "2.24"},
                                   {"2.24", "2.25"},
                                   {"2.24", "2.26"},
                                   {"2.24", "2.27"}}) {
    for (const int nodes : {1, 2, 4}) {
      for (const NcclAlgorithm algorithm : nccl_algorithms()) {
        for (const NcclProtocol protocol : nccl_protocols()) {
          const NcclCost a = modelled(one, nodes).model.cost(algorithm, protocol, 1_MiB);
          const NcclCost b = modelled(other, nodes).model.cost(algorithm, protocol, 1_MiB);
          EXPECT_EQ(a.rate, b.rate) << one << other << name(algorithm);
          EXPECT_EQ(a.base + a.hops, b.base + b.hops) << one << other << name(algorithm);
        }
      }
    }
  }
  expect_cost(modelled("2.24", 1).model.cost(nvls, simple, 1_GiB), 0, 25, 8 * 40 * 5 / 6.0);
  expect_cost(modelled("2.24", 2).model.cost(tree, simple, 256_MiB), 8.4, 2 * (7 * 4 + 14), 8 * 41.4 / 2 * .9);
}

TEST(NcclModel, BlackwellHasRowsOfItsOwnFrom225On) {
  // 18 NVLinks of 50 GB/s, counted on with 40.1. LL128 was not enabled before.
  const Platform b200 = test::gpu_nodes({1, 8, 8, 900_GBps, 50_GBps});
  const auto of = [&](const char* version) { return Modelled(version, b200, 8, Operation::allreduce, 100); };
  EXPECT_EQ(of("2.24").model.cost(ring, ll128, 1_MiB).rate, BytesPerSecond(0));
  expect_cost(of("2.24").model.cost(ring, simple, 1_GiB), 8.4, 14 * 3.4, 18 * 20.6 * 8 / 14);
  for (const char* version : {"2.25", "2.28"}) {
    expect_cost(of(version).model.cost(ring, simple, 1_GiB), 8.4, 14 * 3.4, 18 * 40.1 * 8 / 14);
    expect_cost(of(version).model.cost(ring, ll128, 1_MiB), 14, 14 * 1.9, 18 * 40.1 * .92 * 8 / 14);
    expect_cost(of(version).model.cost(ring, ll, 1_KiB), 6.6, 14 * .6, 282 * 8 / 14.0);
  }
  // NVLink SHARP: 8 channels of 90 GB/s, 24 blocks; 2.28 knows 74 % of the bus, and no release goes faster.
  expect_cost(of("2.26").model.cost(nvls, simple, 1_GiB), 0, 25, 8 * 90 * 5 / 6.0);
  expect_cost(of("2.28").model.cost(nvls, simple, 1_GiB), 0, 25, 8 * 90 * .74);
  EXPECT_EQ(of("2.26").model.choose(4_GiB).channels, 24);
  EXPECT_EQ(of("2.26").model.choose(4_GiB).cost.rate, of("2.28").model.choose(4_GiB).cost.rate);
  const Modelled pair("2.28", test::gpu_nodes({2, 8, 8, 900_GBps, 50_GBps}), 16, Operation::allreduce, 100);
  expect_cost(pair.model.cost(tree, simple, 256_MiB), 8.4, 2 * (7 * 4 + 14), 8 * 42.8 / 2 * .9);
}

TEST(NcclModel, NvlinkSharpHas32HeadsAtMost) {
  const Modelled rack("2.26", test::gpu_nodes({1, 72, 1, 900_GBps, 50_GBps}), 72, Operation::allreduce, 100);
  expect_cost(rack.model.cost(nvls, simple, 1_GiB), 0, 25, 32 * 20 * 5 / 6.0);
}

TEST(NcclModel, PatIsForGathersOfNodesWithOneDeviceEachFrom223On) {
  // 16 nodes: 8 us, four times 14 / 3.5 us, 2.8 us a rank; three quarters of the NIC's 24 GB/s, of 2.23 .85 of them.
  const Platform hosts = test::gpu_nodes({16, 1, 1, 450_GBps, 25_GBps});
  const auto of = [&](const char* version, Operation operation) { return Modelled(version, hosts, 16, operation, 90); };
  for (const Operation operation : {Operation::allgather, Operation::reduce_scatter}) {
    const Modelled known = of("2.24", operation);
    expect_cost(known.model.cost(pat, simple, 1_MiB), 8, 4 * 4 + 16 * 2.8, 18);
    expect_cost(of("2.23", operation).model.cost(pat, simple, 1_MiB), 8, 4 * 4 + 16 * 2.8, 24 * .85);
    EXPECT_EQ(known.model.cost(pat, ll, 1_MiB).rate, BytesPerSecond(0));
    EXPECT_EQ(of("2.22", operation).model.cost(pat, simple, 1_MiB).rate, BytesPerSecond(0));
  }
  EXPECT_EQ(of("2.24", Operation::allreduce).model.cost(pat, simple, 1_MiB).rate, BytesPerSecond(0));
  const Modelled pairs("2.24", dgx_h100(2), 16, Operation::allgather, 90);
  EXPECT_EQ(pairs.model.cost(pat, simple, 1_MiB).rate, BytesPerSecond(0));
  // A ring of 15 steps waits 15 x 5 us with LL: PAT is picked where LL's bytes take long and a ring's waits are longer.
  EXPECT_EQ(of("2.24", Operation::allgather).model.choose(1_MiB).algorithm, pat);
  EXPECT_EQ(of("2.24", Operation::allgather).model.choose(1_GiB).algorithm, ring);
}

TEST(NcclModel, NvlinkSharpIsATreeBetweenNodesAndHalfAsFastFromThreeOn) {
  const Modelled two("2.21", dgx_h100(2), 16, Operation::allreduce, 90);
  expect_cost(two.model.cost(nvls_tree, simple, 1_GiB), 0, 25 + 2 * 14, 8 * 40 * 5 / 6.0);
  EXPECT_EQ(two.model.cost(nvls, simple, 1_GiB).rate, BytesPerSecond(0));
  const Modelled four("2.21", dgx_h100(4), 32, Operation::allreduce, 90);
  expect_cost(four.model.cost(nvls_tree, simple, 1_GiB), 0, 25 + 4 * 14, 8 * 24 * 5 / 6.0);
}

TEST(NcclModel, NvlinkSharpNeedsHopperSwitchesAReleaseThatKnowsItAndASum) {
  const auto rate = [](const std::string& version, const Platform& platform, Operation operation, int capability) {
    return Modelled(version, platform, 4, operation, capability).model.cost(nvls, simple, 1_GiB).rate;
  };
  EXPECT_GT(rate("2.21", dgx_h100(1), Operation::allreduce, 90), BytesPerSecond(0));
  EXPECT_EQ(rate("2.18", dgx_h100(1), Operation::allreduce, 90), BytesPerSecond(0));
  EXPECT_EQ(rate("2.21", dgx_a100(1), Operation::allreduce, 80), BytesPerSecond(0));
  EXPECT_EQ(rate("2.21", test::wired_quad(2), Operation::allreduce, 90), BytesPerSecond(0));
  EXPECT_EQ(rate("2.21", dgx_h100(1), Operation::allgather, 90), BytesPerSecond(0));
}

TEST(NcclModel, DirectlyWiredDevicesUseAllTheirLinks) {
  // Three pairs of 2 links each: 6 channels of 21 GB/s on Volta.
  const Modelled quad("2.7", test::wired_quad(2), 4, Operation::allreduce, 70);
  EXPECT_FALSE(quad.graph.is_switched);
  EXPECT_EQ(quad.graph.nvlinks, 6);
  expect_cost(quad.model.cost(ring, simple, 1_GiB), 8.4, 6 * 3.4, 126 * 4 / 6.0);
}

TEST(NcclModel, WithoutNvlinkThereIsOneChannelOverPcie) {
  const Modelled pci("2.7", test::two_level(1, 4, 12_GBps, 3_GBps), 4, Operation::allreduce, 60);
  EXPECT_EQ(pci.graph.inside, LinkClass::pci);
  expect_cost(pci.model.cost(ring, simple, 1_GiB), 8.4, 6 * 5.7, 12 * 4 / 6.0);
  EXPECT_EQ(pci.model.choose(1_GiB).channels, 2);
}

TEST(NcclModel, ANicIsCountedOnAtTheNextRateThatTheSearchTries) {
  // 25 Gbit/s is 3.125 GB/s: 3.
  const Modelled star("2.7", test::star(4, 25_Gbps, 2_us), 4, Operation::allgather, 60);
  expect_cost(star.model.cost(ring, simple, 1_GiB), 8.4, 3 * 9.6, 3 * 4 / 3.0);
}

TEST(NcclModel, ForANicOfBlackwellsUpTo96GbpsAreTried) {
  // Eight NICs of 800 Gbit/s: 8 x 96 GB/s, and 18 x 40.1 inside; releases that do not know Blackwell try 48.
  const auto rate = [](const char* version, BytesPerSecond nic) {
    const Platform platform = test::gpu_nodes({4, 8, 8, 900_GBps, nic});
    const Modelled b300(version, platform, 32, Operation::allgather, 100);
    return b300.model.cost(ring, simple, 1_GiB).rate.si() / 1e9 * 31 / 32;
  };
  EXPECT_NEAR(rate("2.28", 100_GBps), 18 * 40.1, 1e-6);
  EXPECT_NEAR(rate("2.24", 100_GBps), std::min(8 * 48.0, 18 * 20.6), 1e-6);
  EXPECT_NEAR(rate("2.28", 50_GBps), 8 * 48, 1e-6);
}

/// tuning.cc: nNodes <= 2 ? bwIntra : bwInter.
TEST(NcclModel, TreesOverTwoNodesAreReckonedAtTheRateInside) {
  // Four NICs of 25 GB/s: 4 channels of 24 GB/s, and of 60 inside, .92 of which a tree gets, and half of it the data;
  // but at most 41.4 a channel.
  const auto rate = [](int nodes) {
    const Platform platform = test::gpu_nodes({nodes, 4, 4, 450_GBps, 25_GBps});
    return Modelled("2.22", platform, 4 * nodes, Operation::allreduce, 90).model.cost(tree, simple, 1_GiB).rate.si();
  };
  EXPECT_NEAR(rate(2) / 1e9, 4 * 41.4 / 2, 1e-6);
  EXPECT_NEAR(rate(4) / 1e9, 4 * 24 * .92 / 2, 1e-6);
}

TEST(NcclModel, OfOneDeviceANodeLl128NeedsNoNvlinks) {
  const auto rate = [](int devices) {
    const Platform platform = test::gpu_nodes({2, devices, devices, 300_GBps, 25_GBps});
    Modelled pair("2.22", platform, 2 * devices, Operation::allgather, 80);
    return pair.model.cost(ring, ll128, 1_MiB).rate;
  };
  EXPECT_GT(rate(1), 0_GBps);
  EXPECT_GT(rate(8), 0_GBps);
}

TEST(NcclModel, ProtocolsSwitchFromLlToLl128ToSimpleAsSizesGrow) {
  const Modelled a100("2.10", dgx_a100(1), 8, Operation::allreduce, 80);
  EXPECT_EQ(a100.model.choose(8_B).protocol, ll);
  EXPECT_EQ(a100.model.choose(4_MiB).protocol, ll128);
  EXPECT_EQ(a100.model.choose(256_MiB).protocol, simple);
  // LL128 and Simple cost the same where 36.6 + s / 123.54 = 56 + s / 134.29 (us, and s in kB): at 29.9 MB.
  EXPECT_EQ(a100.model.choose(Bytes(29e6)).protocol, ll128);
  EXPECT_EQ(a100.model.choose(Bytes(31e6)).protocol, simple);
}

TEST(NcclModel, TreesWinOnManyNodesUntilRingsCatchUp) {
  const Modelled many("2.7", dgx_a100(24), 192, Operation::allreduce, 80);
  EXPECT_EQ(many.model.choose(1_KiB).algorithm, tree);
  EXPECT_EQ(many.model.choose(1_GiB).algorithm, ring);
}

TEST(NcclModel, ItPicksTheLeastOfAllItCosts) {
  for (const std::string& row : test::nccl_versions()) {
    if (!test::tuning(row).tuner.empty()) continue;  // which picks in its place
    const Modelled pair(row, dgx_a100(2), 16, Operation::allreduce, 80);
    for (double size = 8; size < 1e10; size *= 2) {
      const NcclChoice choice = pair.model.choose(Bytes(size));
      const NcclCost picked = pair.model.cost(choice.algorithm, choice.protocol, Bytes(size));
      for (const NcclAlgorithm algorithm : nccl_algorithms()) {
        for (const NcclProtocol protocol : nccl_protocols()) {
          const NcclCost other = pair.model.cost(algorithm, protocol, Bytes(size));
          if (other.rate == BytesPerSecond(0)) continue;
          EXPECT_LE(picked.time(Bytes(size)), other.time(Bytes(size)));
        }
      }
    }
  }
}

TEST(NcclModel, ChannelsGrowWithTheSizeUntilAllAreUsed) {
  // A thread of LL's ring has 8 bytes a rank: 512 * 8 * 8 bytes fill a channel.
  const Modelled a100("2.10", dgx_a100(1), 8, Operation::allreduce, 80);
  EXPECT_EQ(a100.model.choose(8_B).channels, 1);
  EXPECT_EQ(a100.model.choose(64_KiB).channels, 2);
  EXPECT_EQ(a100.model.choose(1_GiB).channels, 24);
}

}}  // namespace farandole::nccl_model_test
