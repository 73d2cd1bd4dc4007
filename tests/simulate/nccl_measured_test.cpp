// What was measured of a library: at its own ranks, at others, between two of them, and of other operations.
#include "simulate/library/nccl_measured.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "simulate/library_kit.hpp"
#include "simulate/releases_kit.hpp"

namespace farandole::nccl_measured_test { namespace {

const std::string library = "nccl-2.10";

/// An allreduce by rings that takes `microseconds` more than its bytes do at 100 GB/s.
LibraryTimes measured(int ranks, double microseconds, Operation operation = Operation::allreduce) {
  LibraryTimes times;
  times.library = library;
  times.operation = operation;
  times.ranks = ranks;
  times.nodes = ranks / 8;
  times.pieces = {{0_B, "ring", "Simple", Seconds(1e-6 * microseconds), 100_GBps}};
  return times;
}

Seconds time_of(Platform platform, std::vector<LibraryTimes> times, int ranks, Bytes size,
                Operation operation = Operation::allreduce, const std::string& by = library) {
  platform.transport.library_times = std::move(times);
  const Placement placement = test::in_order(ranks);
  LibraryJob job{platform, placement, operation};
  job.device.compute_capability = 80;
  const auto clock = make_library_clock(*find_library(by), job, Fidelity::flow);
  return latest(clock->completion_times(size, all_at(ranks, Seconds(0))));
}

double longer(std::vector<LibraryTimes> times, int ranks, Bytes size, Operation operation = Operation::allreduce) {
  const Platform machine = test::dgx_a100(ranks / 8);
  return time_of(machine, std::move(times), ranks, size, operation) / time_of(machine, {}, ranks, size, operation);
}

TEST(NcclMeasured, TimesAreTakenAtTheRanksTheyWereMeasuredAt) {
  for (const Bytes size : {1_KiB, 1_MiB, 1_GiB}) {
    EXPECT_NEAR(time_of(test::dgx_a100(2), {measured(16, 300)}, 16, size).si(), 300e-6 + size.si() / 100e9, 1e-9);
  }
}

TEST(NcclMeasured, OtherRanksTakeAsManyTimesLongerThanTheModelSays) {
  for (const Bytes size : {1_KiB, 1_MiB, 256_MiB}) {
    const double there = longer({measured(16, 300)}, 16, size);
    EXPECT_NEAR(longer({measured(16, 300)}, 32, size), there, 1e-6 * there);
    EXPECT_NEAR(longer({measured(16, 300)}, 128, size), there, 1e-6 * there);
  }
}

TEST(NcclMeasured, BetweenTwoScalesTheyAreInterpolatedLogToLog) {
  // 32 ranks are half-way between 16 and 64.
  const LibraryTimes few = measured(16, 300);
  const LibraryTimes many = measured(64, 2000);
  const double both = longer({few, many}, 32, 1_MiB);
  EXPECT_NEAR(both, std::sqrt(longer({few}, 32, 1_MiB) * longer({many}, 32, 1_MiB)), 1e-6 * both);
  EXPECT_EQ(longer({few, many}, 16, 1_MiB), longer({few}, 16, 1_MiB));
  EXPECT_EQ(longer({few, many}, 128, 1_MiB), longer({many}, 128, 1_MiB));
}

TEST(NcclMeasured, MoreThanSixteenTimesTheRanksSayNothingOfAFew) {
  EXPECT_GT(longer({measured(256, 9000)}, 16, 1_KiB), 1);
  EXPECT_EQ(longer({measured(512, 9000)}, 16, 1_KiB), 1);
  EXPECT_GT(longer({measured(16, 300)}, 512, 1_KiB), 1);
}

/// The change made by hand is the change: of the links that were measured, times follow the model; more is never
/// slower.
TEST(NcclMeasured, LinksThatWereChangedSinceCount) {
  LibraryTimes times = measured(16, 300);
  times.links = MeasuredLinks{12, {}, 8, 25_GBps};
  const auto with_nics = [&](BytesPerSecond nic, int ranks, const std::vector<LibraryTimes>& known) {
    return time_of(test::gpu_nodes({ranks / 8, 8, 8, 300_GBps, nic}), known, ranks, 1_GiB);
  };
  const auto slower = [&](BytesPerSecond nic, int ranks, const std::vector<LibraryTimes>& known) {
    return with_nics(nic, ranks, known) / with_nics(2 * nic, ranks, known);
  };
  for (const BytesPerSecond nic : {12.5_GBps, 25_GBps}) {
    EXPECT_GT(slower(nic, 16, {times}), 1.1) << nic.si();
    const double by_model = slower(nic, 32, {});
    EXPECT_GT(by_model, 1.1) << nic.si();
    EXPECT_NEAR(slower(nic, 32, {times}), by_model, 1e-6 * by_model) << nic.si();
  }
  // Without them, they are taken to be those of the run.
  times.links.reset();
  EXPECT_NEAR(slower(25_GBps, 16, {times}), 1, 0.01);
}

TEST(NcclMeasured, AnotherReleasesTimesCountAsManyTimesLongerUnlessThereAreItsOwn) {
  LibraryTimes other = measured(16, 300);
  other.library = "nccl-2.18";
  const Platform machine = test::dgx_a100(2);
  const ChannelGraph graph = survey_channels(machine, test::in_order(16), nvlink_rate(80));
  const auto of = [&](const char* version) {
    const NcclTuning& row = test::tuning(version);
    return NcclModel(row, graph, Operation::allreduce, 80).choose(1_MiB).cost.time(1_MiB);
  };
  const double expected = (300e-6 + (1_MiB).si() / 100e9) * (of("2.10") / of("2.18"));
  EXPECT_NEAR(time_of(machine, {other}, 16, 1_MiB).si(), expected, 1e-6 * expected);
  EXPECT_EQ(time_of(machine, {other, measured(16, 70)}, 16, 1_MiB), time_of(machine, {measured(16, 70)}, 16, 1_MiB));
  other.library = "openmpi-4";
  EXPECT_EQ(longer({other}, 16, 1_MiB), 1);
}

/// 16 ranks: rings of Simple above 64 MiB, an allreduce's and an allgather's.
TEST(NcclMeasured, OperationsThatWereNotMeasuredFollowAllreducesThatWentTheSameWay) {
  const double there = longer({measured(16, 300)}, 16, 256_MiB);
  EXPECT_GT(there, 1.01);
  for (const Operation operation : {Operation::allgather, Operation::reduce_scatter}) {
    EXPECT_NEAR(longer({measured(16, 300)}, 16, 256_MiB, operation), there, 1e-6 * there);
    // What was measured of the operation itself comes first.
    EXPECT_NEAR(time_of(test::dgx_a100(2), {measured(16, 300), measured(16, 70, operation)}, 16, 1_MiB, operation).si(),
                70e-6 + (1_MiB).si() / 100e9, 1e-9);
    // Small ones are sent by LL, of which nothing was measured.
    EXPECT_EQ(longer({measured(16, 300)}, 16, 1_KiB, operation), 1);
  }
  // Messages alone know nothing of hops, but of what rings carry: 100 GB/s of 8 x 24 x 16/30, of NICs of 25.
  EXPECT_NEAR(longer({measured(16, 300)}, 16, 256_MiB, Operation::alltoall), 25 / (24 * 100 / 102.4), 1e-3);
  // And allreduces follow the others.
  const double gathered = longer({measured(16, 300, Operation::allgather)}, 16, 256_MiB, Operation::allgather);
  EXPECT_NE(gathered, 1);
  EXPECT_GT(longer({measured(16, 3000, Operation::allgather)}, 16, 256_MiB), 1.01);
  EXPECT_EQ(longer({measured(16, 3000, Operation::alltoall)}, 16, 256_MiB), 1);
}

/// A spike of one way at one scale is not carried to a scale that goes another way at that size; what was measured of
/// that way is, from where it was measured.
TEST(NcclMeasured, OtherRanksFollowWhatWentTheSameWay) {
  LibraryTimes times = measured(16, 300);
  times.pieces = {{0_B, "tree", "LL", 30_us, 10_GBps},
                  {64_KiB, "ring", "LL", 900_us, 10_GBps},
                  {256_KiB, "ring", "Simple", 40_us, 100_GBps}};
  const Platform machine = test::dgx_a100(32);
  const ChannelGraph far = survey_channels(machine, test::in_order(256), nvlink_rate(80));
  ChannelGraph near = far;
  near.ranks = 16;
  near.nodes = 2;
  const auto& row = test::tuning("2.10");
  const NcclModel there(row, near, Operation::allreduce, 80);
  const NcclChoice choice = NcclModel(row, far, Operation::allreduce, 80).choose(128_KiB);
  ASSERT_EQ(name(choice.algorithm) + name(choice.protocol), "treeLL");
  const NcclCost known = there.taken(there.choice_of(choice.algorithm, choice.protocol, 128_KiB), 64_KiB);
  const double expected = (30e-6 + 65536 / 10e9) / known.time(64_KiB).si();
  EXPECT_NEAR(longer({times}, 256, 128_KiB), expected, 1e-6 * expected);
}

/// Rings of Simple were measured below 128 MiB alone, ten times too slow. A run by such a ring believes that up to 512
/// MiB, less the larger it is, and from 8 GiB on not at all: then as what was measured at its size, whichever way that
/// went.
TEST(NcclMeasured, WhatDelayedAWayCountsLessTheFurtherASizeIsFromThoseThatWentIt) {
  const Platform machine = test::dgx_a100(4);
  const ChannelGraph graph = survey_channels(test::dgx_a100(2), test::in_order(16), nvlink_rate(80));
  const auto& row = test::tuning("2.10");
  const NcclModel there(row, graph, Operation::allreduce, 80);
  const auto model = [&](Bytes size) { return there.choose(size).cost.time(size).si(); };
  const NcclCost ring = there.taken(there.choice_of(NcclAlgorithm::ring, NcclProtocol::simple, 128_MiB), 128_MiB);
  LibraryTimes times = measured(16, 0);
  times.pieces = {{0_B, "ring", "Simple", 10 * ring.time(128_MiB), BytesPerSecond(1e18)},
                  {128_MiB, "tree", "LL128", 0_us, 50_GBps}};
  int looked_at = 0;
  for (const Bytes size : {256_MiB, 1_GiB, 2_GiB, 8_GiB, 16_GiB}) {
    const NcclChoice choice =
        NcclModel(row, survey_channels(machine, test::in_order(32), nvlink_rate(80)), Operation::allreduce, 80)
            .choose(size);
    if (name(choice.algorithm) + name(choice.protocol) != "ringSimple") continue;
    ++looked_at;
    const double near = std::clamp(1 - std::log(size / 512_MiB) / std::log(16), 0.0, 1.0);
    const double expected = std::pow(10, near) * std::pow(size.si() / 50e9 / model(size), 1 - near);
    EXPECT_NEAR(longer({times}, 32, size), expected, 1e-5 * expected) << size.si();
  }
  EXPECT_GE(looked_at, 3);
}

/// Of a long message a proxy posts 128 kB at a time from 2.18 on, sent and received in 6 us (AMD's processors): 21.8
/// GB/s each way, less than a NIC's 25. Before, four times as much at a time.
TEST(NcclMessages, LongOnesAreNoFasterThanTheirChunksArePosted) {
  const auto rate = [](int nodes, const std::string& by) {
    const int ranks = 8 * nodes;
    const Seconds time = time_of(test::dgx_a100(nodes), {}, ranks, 1_GiB, Operation::alltoall, by);
    return (1_GiB).si() * (ranks - 8) / ranks / time.si() / 1e9;
  };
  constexpr double posted = 131072 / 6e-6 / 1e9;
  EXPECT_NEAR(rate(2, "nccl-2.18"), posted, 0.02 * posted);
  EXPECT_NEAR(rate(44, "nccl-2.18"), posted, 0.08 * posted);  // each message's 6 us besides
  EXPECT_NEAR(rate(46, "nccl-2.18"), rate(44, "nccl-2.18"), 0.02 * posted);
  EXPECT_GT(rate(2, "nccl-2.10"), 1.1 * posted);
}

/// From 2^17 messages on they are routed when they are asked for. A device posts one in 6 us: those that leave its
/// node, and of many the others, too, which are 7 of 367.
TEST(NcclMessages, OfManyRanksAreTimedAsThoseOfFew) {
  const auto microseconds = [](int nodes) {
    return 1e6 * time_of(test::dgx_a100(nodes), {}, 8 * nodes, 1_MiB, Operation::alltoall).si();
  };
  EXPECT_NEAR(microseconds(44), 8.4 + (352 - 8) * 6, 1);
  EXPECT_NEAR(microseconds(46), 8.4 + (368 - 1) * 6, 1);
}

/// A process that drives several devices launches and copies otherwise than one for each of them.
TEST(NcclMeasured, OfProcessesThatDriveSeveralDevicesSaysNothingOfThoseWithOneEach) {
  LibraryTimes driven = measured(16, 900);
  driven.devices_per_process = 8;
  EXPECT_EQ(longer({driven}, 16, 1_MiB), 1);
  EXPECT_EQ(longer({driven, measured(16, 300)}, 16, 1_MiB), longer({measured(16, 300)}, 16, 1_MiB));
  EXPECT_TRUE(times_for({driven}, {library, Operation::allreduce, 16, 2}).empty());
  const std::vector<LibraryTimes> both{measured(16, 300), driven};
  EXPECT_EQ(times_for(both, {library, Operation::allreduce, 16, 2, 4}), std::vector<const LibraryTimes*>{&both[1]});
}

/// A what-if joins the devices of nine nodes: what the eight of one take says nothing of them.
TEST(NcclMeasured, OfANodeCountsForAsManyOfItsDevicesAtMost) {
  LibraryTimes node = measured(8, 300);
  node.nodes = 1;
  EXPECT_EQ(times_for({node}, {library, Operation::allreduce, 8, 1}).size(), 1U);
  EXPECT_EQ(times_for({node}, {library, Operation::allreduce, 4, 1}).size(), 1U);
  EXPECT_TRUE(times_for({node}, {library, Operation::allreduce, 16, 1}).empty());
}

TEST(NcclMeasured, OfOtherReleasesTheNearestCounts) {
  std::vector<LibraryTimes> both{measured(16, 300), measured(16, 70)};
  both[0].library = "nccl-2.10";
  both[1].library = "nccl-2.22";
  EXPECT_EQ(times_for(both, {"nccl-2.18", Operation::allreduce, 16, 2}), std::vector<const LibraryTimes*>{&both[1]});
  EXPECT_EQ(times_for(both, {"nccl-2.7", Operation::allreduce, 16, 2}), std::vector<const LibraryTimes*>{&both[0]});
  both[1].ranks = 32;  // but nearer ranks come first
  EXPECT_EQ(times_for(both, {"nccl-2.18", Operation::allreduce, 16, 2}), std::vector<const LibraryTimes*>{&both[0]});
}

TEST(NcclMeasured, AllgathersAndReduceScattersFollowOneAnotherBeforeAllreduces) {
  using enum Operation;
  const std::vector<LibraryTimes> both{measured(16, 300, allreduce), measured(16, 70, allgather)};
  EXPECT_EQ(times_for(both, {library, reduce_scatter, 16, 2}), std::vector<const LibraryTimes*>{&both[1]});
  EXPECT_EQ(times_for(both, {library, broadcast, 16, 2}), std::vector<const LibraryTimes*>{&both[0]});
}

/// NICs of 25 GB/s are counted on for 24, and carried `rate` of a ring's 8 x 24 x 16/30 GB/s: so does what each of two
/// nodes' devices sends to the other's eight, half of what it sends, where that is less than its proxy posts.
TEST(NcclMeasured, MessagesGetWhatTheNetworkWasMeasuredToCarryOfRings) {
  const auto slow = [](BytesPerSecond rate) {
    LibraryTimes times = measured(16, 300);
    times.pieces.front().rate = rate;
    return times;
  };
  const double counted_on = 8 * 24e9 * 16 / 30;
  const auto seconds = [&](const std::vector<LibraryTimes>& times) {
    return time_of(test::dgx_a100(2), times, 16, 4_GiB, Operation::alltoall).si();
  };
  const double half = seconds({slow(BytesPerSecond(counted_on / 2))});
  EXPECT_NEAR(half, (2_GiB).si() / 12e9, 0.002 * half);
  EXPECT_NEAR(seconds({slow(BytesPerSecond(counted_on / 4))}), 2 * half, 0.002 * half);
  EXPECT_EQ(seconds({slow(BytesPerSecond(counted_on * 2))}), seconds({}));
}

}}  // namespace farandole::nccl_measured_test
