// What NCCL's trees between nodes, its rings and NVLink SHARP take, as chunks that are passed on.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "simulate/library/nccl_model.hpp"
#include "simulate/library_kit.hpp"
#include "simulate/releases_kit.hpp"

namespace farandole::nccl_chunks_test { namespace {

using test::dgx_a100;
using test::in_order;
using enum NcclAlgorithm;
using enum NcclProtocol;

struct Modelled {
  Modelled(const std::string& version, const Platform& platform, int ranks, int capability)
      : Modelled(version, platform, ranks, capability, Operation::allreduce) {}
  Modelled(const std::string& version, const Platform& platform, int ranks, int capability, Operation operation)
      : graph(survey_channels(platform, in_order(ranks), nvlink_rate(capability))),
        model(test::tuning(version), graph, operation, capability) {}
  [[nodiscard]] double microseconds(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
    return 1e6 * model.taken(model.choice_of(algorithm, protocol, size), size).time(size).si();
  }
  ChannelGraph graph;
  NcclModel model;
};

Platform h100(int nodes, BytesPerSecond nic) {
  return test::gpu_nodes({nodes, 8, 8, 450_GBps, nic});
}

/// 12 GB/s are Volta's, and 38.7 / 26.5 as many Hopper's; a latency of 28 us has a chunk of 256 KiB in it.
constexpr double copying = 12e3 * 38.7 / 26.5;  // bytes a microsecond
constexpr double latency = 28 - 262144 / 12e3;
constexpr double wire = 8 * 24e3 / 16;  // of each of 16 channels

TEST(NcclChunks, AChunkIsAsLateAsItsHopsTogether) {
  // 8 MiB over 16 channels are one chunk of 512 KiB each: 14 hops in nodes, 2 between them, copied and sent.
  const Modelled pair("2.21-tcpxo", h100(2, 25_GBps), 16, 90);
  const double chunk = 524288;
  EXPECT_NEAR(pair.microseconds(tree, simple, 8_MiB),
              8.4 + 16 * latency + 14 * chunk / copying + 2 * (chunk / copying + chunk / wire), 1e-6);
}

TEST(NcclChunks, TheOthersFollowAsTheSlowestOfItsHopsLetsThem) {
  // 256 MiB: 32 chunks a channel. A device passes all of the data up and down over 18 NVLinks of 20.6 GB/s,
  // of which a tree has .92: that is slower than the wire, and than 41.4 GB/s of bus for each of 8 channels.
  const Modelled pair("2.21-tcpxo", h100(2, 25_GBps), 16, 90);
  const double chunk = 524288;
  const double first = 14 * chunk / copying + 2 * (chunk / copying + chunk / wire);
  const double all = (268435456 - 16 * chunk) * 2 / (18 * 20.6e3 * .92);
  EXPECT_NEAR(pair.microseconds(tree, simple, 256_MiB), 8.4 + 16 * latency + first + all, 1e-6);
}

TEST(NcclChunks, ChunksAreHalvedWhereThereWouldBeFewButNotFrom228On) {
  // 1 MiB a channel and a depth of 8: 512 KiB is halved to 64 KiB, of which there are 16, until 2.21.
  const Modelled halving("2.21", h100(2, 25_GBps), 16, 90);
  const Modelled whole("2.28", h100(2, 25_GBps), 16, 90);
  const auto moving = [&](double chunk) {
    const double all = (1048576 - chunk) * 16 * 2 / (18 * 20.6e3 * .92);
    return 14 * chunk / copying + 2 * (chunk / copying + chunk / wire) + all;
  };
  EXPECT_NEAR(halving.microseconds(tree, simple, 16_MiB), 8.4 + 16 * latency + moving(65536), 1e-6);
  EXPECT_NEAR(whole.microseconds(tree, simple, 16_MiB), 8.4 + 14 * 4 + 2 * 14 + moving(524288), 1e-6);
}

TEST(NcclChunks, AreAtLeastEightTimesAsManyAsATreeIsDeep) {
  // Two nodes of 8 are 8 deep. 60 chunks of 512 KiB for each of 16 channels are fewer than 64, so they are halved; 64
  // are not. A larger chunk is as much later as its first hops take longer.
  const Modelled pair("2.21", h100(2, 25_GBps), 16, 90);
  const auto first = [&](double chunk) { return 14 * chunk / copying + 2 * (chunk / copying + chunk / wire); };
  const auto following = [](double chunk, double chunks) {
    return 16 * chunk * (chunks - 1) * 2 / (18 * 20.6e3 * .92);
  };
  EXPECT_NEAR(pair.microseconds(tree, simple, Bytes(16 * 60 * 524288.0)) -
                  pair.microseconds(tree, simple, Bytes(16 * 64 * 524288.0)),
              first(262144) + following(262144, 120) - first(524288) - following(524288, 64), 1e-3);
}

TEST(NcclChunks, OfLlTheProxyOfANicReadsAllLinesBeforeItSendsThem) {
  // Two NICs, four channels; 19 GB/s are of eight NICs. 16 KiB a channel, 6 hops between 8 nodes.
  const Modelled eight("2.18", test::gpu_nodes({8, 4, 2, 300_GBps, 25_GBps}), 32, 80);
  const double hops = 2 * (3 * .6 + 3 * 5.0);
  EXPECT_NEAR(eight.microseconds(tree, ll, 64_KiB), 6.8 + hops + 6 * 16384 / (19e3 / 8 * 2 / 4), 1e-6);
}

TEST(NcclChunks, ATunerDecidesInNcclsPlace) {
  const Modelled pair("2.21-tcpxo", h100(2, 25_GBps), 16, 90);
  for (const Bytes size : {8_B, 1_MiB, 8_GiB}) {
    EXPECT_EQ(pair.model.choose(size).algorithm, tree);
    EXPECT_EQ(pair.model.choose(size).protocol, simple);
  }
  const Modelled four("2.21-tcpxo", h100(4, 25_GBps), 32, 90);
  EXPECT_EQ(four.model.choose(1_MiB).algorithm, tree);
  EXPECT_EQ(four.model.choose(1_GiB).algorithm, ring);  // which it leaves to NCCL
  const Modelled one("2.21-tcpxo", h100(1, 25_GBps), 8, 90);
  EXPECT_EQ(one.model.choose(8_B).protocol, simple);
  EXPECT_EQ(one.model.choose(1_GiB).algorithm, ring);
}

TEST(NcclChunks, NothingIsFasterForMoreBytesOrSlowerForMoreBandwidth) {
  for (const std::string& row : test::nccl_versions()) {
    for (const int nodes : {2, 3, 16}) {
      const Modelled slow(row, h100(nodes, 25_GBps), 8 * nodes, 90);
      const Modelled fast(row, h100(nodes, 50_GBps), 8 * nodes, 90);
      for (const NcclProtocol protocol : {ll, simple}) {
        if (slow.model.cost(tree, protocol, 1_MiB).rate == BytesPerSecond(0)) continue;
        double before = 0;
        for (double size = 8; size < 1e10; size *= 1.37) {
          const double now = slow.microseconds(tree, protocol, Bytes(size));
          // Of LL, NCCL's factor by size is the slower one at places, and makes steps.
          EXPECT_GE(now, before * (protocol == simple ? 1 - 1e-12 : .8)) << row << ' ' << nodes << ' ' << size;
          EXPECT_LE(fast.microseconds(tree, protocol, Bytes(size)), now * (1 + 1e-12)) << row << ' ' << size;
          before = now;
        }
      }
    }
  }
}

TEST(NcclChunks, ARingOfLlHasAsManyChannelsAsItsBytesFill) {
  // A channel is full with 512 threads x 8 bytes x 16 ranks: 64 KiB, and does 87.7 / 24 GB/s. Before it is full, more
  // bytes take longer, then the next one begins and they do not; 14 of 15 steps of an allgather stay in nodes.
  const ChannelGraph graph = survey_channels(dgx_a100(2), in_order(16), nvlink_rate(80));
  const auto& row = test::tuning("2.22");
  const NcclModel model(row, graph, Operation::allgather, 80);
  const auto taken = [&](Bytes size) {
    return 1e6 * model.taken(model.choice_of(ring, ll, size), size).time(size).si();
  };
  const double waits = 6.6 + 14 * 2.0 + 2.7;
  EXPECT_NEAR(taken(32_KiB), waits + 32768 * 15 / 16.0 / (87.7e3 / 24), 1e-6);
  EXPECT_NEAR(taken(64_KiB), waits + 65536 * 15 / 16.0 / (87.7e3 / 24), 1e-6);
  EXPECT_NEAR(taken(256_KiB), taken(64_KiB), 1e-6);
  // All of them together are held to what NCCL reckons.
  EXPECT_NEAR(taken(64_MiB), waits + 67108864 * 15 / 16.0 / 22.5e3, 1e-6);
}

TEST(NcclChunks, InsideANodeLinesOfLlCostWhereTheyAreKeptAndPassedOn) {
  // 512 threads x 8 bytes x 8 ranks fill one of 32 channels; in 7 of 14 steps a line is kept and passed on, over a link
  // of 20.6 GB/s that is half payload. From half a channel to two on the kernel starts later.
  const Modelled one("2.21", h100(1, 50_GBps), 8, 90);
  const double waits = 4.5 + 14 * .8;  // Hopper's
  const double kept = 7 * 4096 / 10.3e3;
  EXPECT_NEAR(one.microseconds(ring, ll, 16_KiB), waits + kept / 2, 1e-6);
  EXPECT_NEAR(one.microseconds(ring, ll, 32_KiB), waits + kept + .85 / 3, 1e-6);
  EXPECT_NEAR(one.microseconds(ring, ll, 64_KiB), waits + kept + .85, 1e-6);
  EXPECT_NEAR(one.microseconds(ring, ll, 256_KiB), one.microseconds(ring, ll, 64_KiB), 1e-6);
  // What half of the channels do not hold goes at the device's rate, with a device's own part; nothing is faster than
  // its links for half payload.
  const Modelled gather("2.21", h100(1, 50_GBps), 8, 90, Operation::allgather);
  EXPECT_NEAR(gather.microseconds(ring, ll, 1_MiB), 4.5 + 7 * .8 + kept + .85 + 8 * 16 * 4096 / 195e3, 1e-6);
  EXPECT_NEAR(one.microseconds(ring, ll, 1_MiB), waits + 1048576 * 14 / 8.0 / (9 * 20.6e3), 1e-6);
  const Modelled scatter("2.21", h100(1, 50_GBps), 8, 90, Operation::reduce_scatter);
  EXPECT_NEAR(scatter.microseconds(ring, ll, 64_KiB), 4.5 + 7 * .8 + .85, 1e-6);
}

TEST(NcclChunks, TheLastOfALongMessageIsCopiedOutOfTheReceiversBuffer) {
  // Base, what a device copies of its own (.3), and a part of at least 64 KiB and at most 512 at 24 GB/s: of eight
  // devices a message has four of 32 channels, of two sixteen.
  const auto base = [](int ranks, Bytes size) {
    const Modelled node("2.27", dgx_a100(1), ranks, 80, Operation::alltoall);
    return 1e6 * node.model.message_choice(size).cost.base.si();
  };
  EXPECT_NEAR(base(8, 64_MiB), 10.3 + .3 * 8388608 / 240e3 + 524288 / 24e3, 1e-6);
  EXPECT_NEAR(base(8, 8_MiB), 10.3 + .3 * 1048576 / 240e3 + 262144 / 24e3, 1e-6);
  EXPECT_NEAR(base(2, 1_MiB), 10.3 + .3 * 524288 / 240e3 + 65536 / 24e3, 1e-6);
  EXPECT_NEAR(base(2, 64_KiB), 10.3 + .3 * 32768 / 240e3 + 32768 / 24e3, 1e-6);
  const Modelled pair("2.27", dgx_a100(1), 2, 80, Operation::alltoall);
  EXPECT_EQ(pair.model.message_choice(32_KiB).protocol, ll);
  EXPECT_EQ(pair.model.message_choice(64_KiB).protocol, simple);
}

/// us a byte, of NVLink SHARP's chunks: `rate` (bytes a us) is had where 128 of the longest follow one another, each
/// after `wait`.
double without_waits(double rate, double wait, double longest) {
  return 1 / rate - wait / (128 * longest);
}

TEST(NcclChunks, OfNvlinkSharpPassThreeStagesAndAreShortWhereThereAreFew) {
  // 16 channels x 8 devices have a chunk each at once; a hop over NVLink waits 3.4 us.
  const Modelled one("2.21", h100(1, 50_GBps), 8, 90);
  const double each = without_waits(8 * 40e3 * 5 / 6, 3.4, 131072);
  const auto expected = [&](double times, double chunk) {
    return 25 + (times - 1) * 3.4 + (times + 2) * 128 * chunk * each;
  };
  EXPECT_NEAR(one.microseconds(nvls, simple, 1_MiB), expected(1, 8192), 1e-6);
  EXPECT_NEAR(one.microseconds(nvls, simple, 4_MiB), expected(2, 16384), 1e-6);
  EXPECT_NEAR(one.microseconds(nvls, simple, 8_MiB), expected(2, 32768), 1e-6);
  EXPECT_NEAR(one.microseconds(nvls, simple, 64_MiB), expected(8, 65536), 1e-6);
  EXPECT_NEAR(one.microseconds(nvls, simple, 1_GiB), expected(64, 131072), 1e-6);
}

TEST(NcclChunks, OfNvlinkSharpBetweenNodesWaitUpAndDownAndGoNoFasterThan228Knows) {
  // Two nodes: at most 57.7 GB/s a channel of the search. From four on chunks are of 64 KiB at most, and a NIC's half
  // is less than 45.5.
  const Modelled two("2.26", h100(2, 50_GBps), 16, 90);
  const double of_two = without_waits(8 * 57.7e3 * 16 / 30, 6.8, 131072);
  EXPECT_NEAR(two.microseconds(nvls_tree, simple, 4_MiB), 25 + 28 + 3 * 128 * 32768 * of_two, 1e-6);
  EXPECT_NEAR(two.microseconds(nvls_tree, simple, 32_MiB), 25 + 28 + 3 * 6.8 + 6 * 128 * 65536 * of_two, 1e-6);
  EXPECT_NEAR(two.microseconds(nvls_tree, simple, 1_GiB), 25 + 28 + 63 * 6.8 + 66 * 128 * 131072 * of_two, 1e-6);
  const Modelled four("2.26", h100(4, 50_GBps), 32, 90);
  const double of_four = without_waits(8 * 24e3 * 5 / 6, 6.8, 65536);
  EXPECT_NEAR(four.microseconds(nvls_tree, simple, 1_GiB), 25 + 56 + 127 * 6.8 + 130 * 128 * 65536 * of_four, 1e-6);
}

TEST(NcclChunks, ARingOfLlTakesNoLessForMoreBytes) {
  for (const std::string& row : test::nccl_versions()) {
    for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::broadcast}) {
      const ChannelGraph graph = survey_channels(h100(4, 50_GBps), in_order(32), nvlink_rate(90));
      const NcclModel model(test::tuning(row), graph, operation, 90);
      if (model.cost(ring, ll, 1_KiB).rate == BytesPerSecond(0)) continue;
      double before = 0;
      for (double size = 8; size < 1e9; size *= 1.37) {
        const double now = model.taken(model.choice_of(ring, ll, Bytes(size)), Bytes(size)).time(Bytes(size)).si();
        EXPECT_GE(now, before * (1 - 1e-12)) << row << ' ' << size;
        before = now;
      }
    }
  }
}

TEST(NcclChunks, StepsOfASimpleRingInsideANodeWaitForTwoSlicesAndGoAroundAgain) {
  // 24 channels x 8 ranks: 14 steps wait 4.1 us for a slice; from 32 KiB a channel and rank on a step has two, and what
  // does not fit into 2 MiB each needs another round. 12 NVLinks carry 20 GB/s each, whatever the release counts on,
  // and out of place each device copies its own part, half as long as a step.
  for (const char* version : {"2.10", "2.18", "2.28"}) {
    const Modelled node(version, dgx_a100(1), 8, 80);
    const auto expected = [](double size, int waits) {
      return 22.5 + 14 * waits * 4.1 + size / (12 * 20e3 * 8) * (14 + .5);
    };
    EXPECT_NEAR(node.microseconds(ring, simple, 6_MiB), expected(6291456, 1), 1e-6) << version;
    EXPECT_NEAR(node.microseconds(ring, simple, 64_MiB), expected(67108864, 2), 1e-6) << version;
    EXPECT_NEAR(node.microseconds(ring, simple, 384_MiB), expected(402653184, 2), 1e-6) << version;
    EXPECT_NEAR(node.microseconds(ring, simple, 1_GiB), expected(1073741824, 6), 1e-6) << version;
    const Modelled gathers(version, dgx_a100(1), 8, 80, Operation::allgather);
    EXPECT_NEAR(gathers.microseconds(ring, simple, 64_MiB), 22.5 + 7 * 2 * 4.1 + 67108864 / (12 * 20e3 * 8) * 7.5,
                1e-6);
  }
}

TEST(NcclChunks, InPlaceARingHasNothingOfItsOwnToCopy) {
  for (const auto& [capability, own] : {std::pair{70, 0.}, {80, .5}, {90, .45}, {100, .58}}) {
    const ChannelGraph graph = survey_channels(dgx_a100(1), in_order(8), nvlink_rate(80));
    const auto& row = test::tuning("2.27");
    const auto rate = [&](bool in_place) {
      const NcclModel model(row, graph, Operation::allgather, capability, {in_place, false});
      return model.taken(model.choice_of(ring, simple, 1_GiB), 1_GiB).rate;
    };
    EXPECT_NEAR(rate(true) / rate(false), (7 + own) / 7, 1e-9) << capability;
  }
}

TEST(NcclChunks, OneProcessForAllDevicesWaitsAsNcclReckons) {
  const ChannelGraph graph = survey_channels(dgx_a100(1), in_order(8), nvlink_rate(80));
  const auto& row = test::tuning("2.18");
  const NcclModel model(row, graph, Operation::allreduce, 80, {false, true});
  EXPECT_NEAR(model.taken(model.choice_of(ring, ll, 8_B), 8_B).time(8_B).si() * 1e6, 6.6 + 14 * .6, .01);
}

TEST(NcclChunks, BetweenNodesSlowerNicsMakeUpForTheSlicesWaits) {
  // Of 15 steps of an allgather over two nodes of eight the chunk that leaves first and last leaves twice. The NICs' 8
  // x 24 GB/s let a device wait while the links' 12 x 20 are done, for each of 16 parts: all of a second slice's 3.4
  // us.
  const Modelled pair("2.18", dgx_a100(2), 16, 80, Operation::allgather);
  EXPECT_NEAR(pair.microseconds(ring, simple, 64_MiB),
              8.4 + 13 * 3.4 + 2 * 14 + 67108864 * (15 / (192e3 * 16) + .5 / (240e3 * 16)), 1e-6);
  // Where they are as fast as the links inside (8 x 48 GB/s, 18 x 20.6), nothing does. From Hopper on, what NCCL counts
  // on has the rounds in it.
  const Modelled fast("2.21", h100(2, 50_GBps), 16, 90, Operation::allgather);
  EXPECT_NEAR(fast.microseconds(ring, simple, 4_GiB), 8.4 + 13 * 2 * 3.4 + 2 * 14 + 4294967296 / (370.8e3 * 16) * 15.45,
              1e-6);
}

/// The chunk that leaves nodes most often, of n nodes of m: in 2 (n m - 1) steps of an allreduce at the first and at
/// every m-th after it.
TEST(NcclChunks, StepsBetweenNodesAreThoseOfTheChunkThatLeavesMostOften) {
  for (const int nodes : {2, 3, 8}) {
    const Modelled cluster("2.18", dgx_a100(nodes), 8 * nodes, 80);
    const int steps = 2 * (8 * nodes - 1);
    const int leaving = (steps + 7) / 8;
    const double rate = 192e3 * 8 * nodes / steps;
    EXPECT_NEAR(cluster.microseconds(ring, simple, 64_KiB),
                8.4 + (steps - leaving) * 3.4 + leaving * 14 + 65536 * (1 / rate + .5 / (240e3 * 8 * nodes)), 1e-6);
  }
}

/// Whatever NCCL counts: one hop for all where its channels are the same, on one node or with one NIC.
TEST(NcclChunks, AChainFromARootPassesEveryRankAsAStepOfARingDoes) {
  const Modelled node("2.18", dgx_a100(1), 8, 80, Operation::broadcast);
  EXPECT_NEAR(node.microseconds(ring, simple, 64_MiB), 22.5 + 7 * 4.1 + 67108864 / 240e3, 1e-6);
  EXPECT_NEAR(node.microseconds(ring, ll, 8_B), 8.0 + 7 * 1.0, 1e-3);
  for (const int nodes : {2, 16, 128}) {
    for (const int nics : {1, 8}) {
      const auto waits = [&](Operation operation) {
        const Modelled cluster("2.18", test::gpu_nodes({nodes, 8, nics, 300_GBps, 25_GBps}), 8 * nodes, 80, operation);
        const NcclCost cost = cluster.model.taken(cluster.model.choice_of(ring, ll, 8_B), 8_B);
        return (cost.base + cost.hops).si();
      };
      for (const Operation rooted : {Operation::broadcast, Operation::reduce})
        EXPECT_DOUBLE_EQ(waits(rooted), waits(Operation::allgather)) << nodes << ' ' << nics;
    }
  }
}

TEST(NcclChunks, BeforeHopperLl128GoesNoFasterThanItWasMeasuredFor27) {
  // 12 ring channels of 16.7 GB/s for allreduces, 18.3 for allgathers; later releases count on 20 for all.
  const Modelled sums("2.18", dgx_a100(1), 8, 80);
  EXPECT_NEAR(sums.microseconds(ring, ll128, 8_MiB), 14 + 14 * 1.9 + 8388608 / (12 * 16.7e3 * 8 / 14), 1e-6);
  const Modelled gathers("2.18", dgx_a100(1), 8, 80, Operation::allgather);
  EXPECT_NEAR(gathers.microseconds(ring, ll128, 8_MiB), 14 + 7 * 1.9 + 8388608 / (12 * 18.3e3 * 8 / 7), 1e-6);
  const Modelled hopper("2.18", h100(1, 50_GBps), 8, 90);
  const NcclChoice choice = hopper.model.choice_of(ring, ll128, 8_MiB);
  EXPECT_EQ(hopper.model.taken(choice, 8_MiB).rate, choice.cost.rate);
}

/// 15.5 us for every node, but for a sixth of the time that 8 channels of 20 GB/s move s / (n m) bytes a step for.
TEST(NcclChunks, BetweenNodesLl128WaitsMoreAtEveryHopThanNcclReckonsUnlessMuchMoves) {
  const auto more = [](const Modelled& on, Bytes size) {
    return on.microseconds(ring, ll128, size) - 1e6 * on.model.choice_of(ring, ll128, size).cost.time(size).si();
  };
  for (const int nodes : {2, 3, 8}) {
    const Modelled cluster("2.22", dgx_a100(nodes), 8 * nodes, 80, Operation::allgather);
    const int steps = 8 * nodes - 1;
    const double passes = steps * 1048576 / (8.0 * nodes) / 160e3 / 6;
    EXPECT_NEAR(more(cluster, 1_MiB), nodes * 15.5 - passes, 1e-6) << nodes;
    EXPECT_NEAR(more(cluster, 1_GiB), 0, 1e-6) << nodes;
  }
  // Of nodes of one device nothing was measured.
  const Modelled alone("2.22", test::gpu_nodes({4, 1, 1, 450_GBps, 50_GBps}), 4, 90, Operation::allgather);
  EXPECT_NEAR(more(alone, 1_MiB), 0, 1e-6);
}

/// Nothing says that it waits so on Hopper, or over more than two nodes of Blackwell; 31 us, where two of those were
/// measured.
TEST(NcclChunks, OnHopperLl128BetweenNodesIsNeverSlowerThanLlForItsWaits) {
  for (const auto& [capability, least] : {std::pair{90, 0.0}, {100, 31.0}}) {
    for (const int nodes : {2, 4, 17}) {
      const Modelled cluster("2.26", h100(nodes, 50_GBps), 8 * nodes, capability, Operation::allgather);
      for (const Bytes size : {256_KiB, 1_MiB, 4_MiB, 16_MiB}) {
        const double reckoned = 1e6 * cluster.model.choice_of(ring, ll128, size).cost.time(size).si();
        EXPECT_LE(cluster.microseconds(ring, ll128, size),
                  std::max(cluster.microseconds(ring, ll, size), reckoned + least) * (1 + 1e-12))
            << capability << ' ' << nodes << ' ' << size.si();
      }
    }
  }
  // So whichever is picked, a faster NIC is not slower for it.
  for (const int nodes : {2, 4, 17}) {
    for (const Bytes size : {256_KiB, 512_KiB, 1_MiB, 2_MiB, 4_MiB, 8_MiB}) {
      double last = std::numeric_limits<double>::infinity();
      for (const double gigabits : {50, 100, 200, 300, 400, 800}) {
        const Modelled cluster("2.21", h100(nodes, BytesPerSecond(gigabits / 8 * 1e9)), 8 * nodes, 90,
                               Operation::allgather);
        const double now = 1e6 * cluster.model.taken(cluster.model.choose(size), size).time(size).si();
        EXPECT_LE(now, last * 1.02) << nodes << " nodes, " << size.si() << " B at " << gigabits << " Gbit/s";
        last = now;
      }
    }
  }
}

TEST(NcclChunks, FasterNicsNeverMakeAWaySlower) {
  for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::reduce_scatter}) {
    for (const auto& [algorithm, protocol] : {std::pair{ring, ll}, {ring, ll128}, {ring, simple}}) {
      for (const Bytes size : {64_KiB, 1_MiB, 16_MiB, 64_MiB, 1_GiB}) {
        double last = std::numeric_limits<double>::infinity();
        for (const double gigabits : {50, 100, 200, 250, 300, 400, 800}) {
          const Modelled cluster("2.22", h100(8, BytesPerSecond(gigabits / 8 * 1e9)), 64, 90, operation);
          const double now = cluster.microseconds(algorithm, protocol, size);
          EXPECT_LE(now, last * (1 + 1e-12)) << name(protocol) << ' ' << size.si() << " B at " << gigabits << " Gbit/s";
          last = now;
        }
      }
    }
  }
}

/// With a handshake of h us from 4,098 bytes on the wire, of which LL's flags are half.
struct WithHandshakes {
  static constexpr double h = 7.4;
  WithHandshakes(int nodes, Operation operation)
      : without("2.18", dgx_a100(nodes), 8 * nodes, 80, operation),
        with("2.18", posting(dgx_a100(nodes)), 8 * nodes, 80, operation) {}
  static Platform posting(Platform platform) {
    platform.transport.nic = {Bytes(4098), Seconds(h * 1e-6)};
    return platform;
  }
  /// In handshakes.
  [[nodiscard]] double more(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
    return (with.microseconds(algorithm, protocol, size) - without.microseconds(algorithm, protocol, size)) / h;
  }
  Modelled without;
  Modelled with;
};

TEST(NcclChunks, WhatANicIsNotEagerForWaitsForAHandshakeAtEveryHopBetweenNodes) {
  for (const int nodes : {2, 3, 8}) {
    const WithHandshakes sums(nodes, Operation::allreduce);
    const double depth = nodes == 2 ? 1 : nodes == 3 ? 1 : 3;
    EXPECT_NEAR(sums.more(tree, ll, 2_KiB), 0, 1e-9) << nodes;  // one channel, 4,096 B with flags
    EXPECT_NEAR(sums.more(tree, ll, 4_KiB), 2 * depth, 1e-9) << nodes;
    EXPECT_NEAR(sums.more(tree, simple, 64_MiB), 2 * depth, 1e-9) << nodes;
    EXPECT_NEAR(sums.more(ring, simple, 64_MiB), 2 * nodes, 1e-9) << nodes;  // 2 (8 n - 1) steps, every 8th of them
    EXPECT_NEAR(sums.more(ring, ll, Bytes(8 * nodes * 2048)), 0, 1e-9) << nodes;
    EXPECT_NEAR(sums.more(ring, ll, Bytes(8 * nodes * 4096)), 2 * nodes, 1e-9) << nodes;
    const WithHandshakes gathers(nodes, Operation::allgather);
    EXPECT_NEAR(gathers.more(ring, simple, 64_MiB), nodes, 1e-9) << nodes;
    const WithHandshakes roots(nodes, Operation::broadcast);
    EXPECT_NEAR(roots.more(ring, simple, 64_MiB), nodes - 1, 1e-9) << nodes;
  }
  const WithHandshakes inside(1, Operation::allreduce);
  EXPECT_NEAR(inside.more(ring, simple, 64_MiB), 0, 1e-9);
  const WithHandshakes sent(2, Operation::alltoall);
  const auto base = [&](Bytes size) { return sent.with.model.message_choice(size).cost.base; };
  EXPECT_NEAR((base(Bytes(16 * 4098)) - base(Bytes(16 * 4097))).si(), 7.4e-6, 1e-12);
}

TEST(NcclChunks, ALargeTreeTakesItsBytesAtTheRateOfItsSlowestHop) {
  // 2.28, two nodes of 8 A100: 8 channels of 23.6 GB/s of the bus.
  const Modelled pair("2.28", dgx_a100(2), 16, 80);
  const double closed_form = 1099511627776 * 30 / 16 / (8 * 23.6e3);
  EXPECT_NEAR(pair.microseconds(tree, simple, Bytes(1099511627776)) / closed_form, 1, 1e-3);
}

}}  // namespace farandole::nccl_chunks_test
