// What switches that add up leave to a machine's links: CollNet timed on its schedule.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "simulate/library/planners.hpp"
#include "simulate/nccl_kit.hpp"

namespace farandole::nccl_collnet_time_test { namespace {

using test::all_fidelities;
using test::dgx_a100;
using test::in_order;
using test::library_clock;
using test::Modelled;
using test::nccl_operations;
using test::time;
using enum NcclAlgorithm;
using testing::AllOf;
using testing::DoubleNear;
using testing::Each;
using testing::Ge;
using testing::Le;

/// The same with switches that add up.
Platform sharp(Platform platform) {
  platform.transport.sharp = true;
  return platform;
}

Platform dgx_h100(int nodes) {
  return test::gpu_nodes({nodes, 8, 8, 450_GBps, 50_GBps});
}

/// Over the model's, of every operation, fidelity and size.
std::vector<double> over_the_models_time(const Platform& platform, int ranks, int capability,
                                         const std::vector<std::string>& releases) {
  std::vector<double> ratios;
  const Placement placement = in_order(ranks);
  for (const std::string& release : test::nccl_versions()) {
    if (std::ranges::find(releases, release) == releases.end()) continue;
    for (const Operation operation : nccl_operations) {
      const Modelled of(release, platform, ranks, operation, capability);
      for (const Fidelity fidelity : all_fidelities) {
        auto clock = library_clock("nccl-" + release, operation, platform, placement, fidelity, capability);
        const NcclChoices choices = without_cliffs([&](Bytes size) { return of.model.choose(size); }, false);
        for (const Bytes size : {1_KiB, 256_KiB, 64_MiB})
          ratios.push_back(time(*clock, size, ranks) / choices(size).cost.time(size));
      }
    }
  }
  return ratios;
}

TEST(NcclCollNetTime, OnTwoQuietNodesIsWhatTheModelSaysAtEveryFidelity) {
  const std::vector<std::string> releases{"2.7", "2.10", "2.18", "2.19", "2.20", "2.21"};
  EXPECT_THAT(over_the_models_time(sharp(dgx_a100(2)), 16, 80, releases), Each(DoubleNear(1, 1e-9)));
  EXPECT_THAT(over_the_models_time(sharp(dgx_h100(2)), 16, 90, releases), Each(DoubleNear(1, 1e-9)));
}

/// From 2.22 on NCCL counts on 8 x 48 GB/s, half of it of data, for direct on eight A100, whose NVLinks carry 14/8 of
/// it at 300 GB/s each: 171.
TEST(NcclCollNetTime, IsMoreWhereLinksCarryLessThanNcclCountsOn) {
  const Platform platform = sharp(dgx_a100(2));
  const std::vector<std::string> releases{"2.22", "2.23", "2.24", "2.25", "2.26", "2.27", "2.28"};
  EXPECT_THAT(over_the_models_time(platform, 16, 80, releases), Each(AllOf(Ge(1 - 1e-9), Le(192 / 171.4))));
}

TEST(NcclCollNetTime, ANodeGivesItsDataOnceAndTakesTheSumOnce) {
  // NICs whose hosts move 5 GB/s: all of the data at 8 * 5, where a ring's are 30/16 of it. Of a gather, half.
  for (const auto& [operation, version, share] : {std::tuple{Operation::allreduce, "2.20", 1.0},
                                                  {Operation::allreduce, "2.7", 1.0},
                                                  {Operation::allgather, "2.20", .5},
                                                  {Operation::reduce_scatter, "2.20", .5}}) {
    Platform platform = sharp(dgx_a100(2));
    for (Link& link : platform.links) {
      if (link.name.starts_with("nic")) link.capacity = 5_GBps;
    }
    const Placement placement = in_order(16);
    const Modelled model(version, platform, 16, operation, 80);
    const NcclChoice choice = model.model.choose(1_GiB);
    ASSERT_TRUE(is_collnet(choice.algorithm)) << version;
    for (const Fidelity fidelity : all_fidelities) {
      auto clock = library_clock("nccl-" + std::string(version), operation, platform, placement, fidelity);
      EXPECT_EQ(clock->choice(1_GiB).algorithm, name(choice.algorithm));
      const Seconds expected = choice.cost.hops + 1_GiB * share / 40_GBps;
      EXPECT_NEAR(time(*clock, 1_GiB, 16) / expected, 1, 1e-9) << version << name(operation) << name(fidelity);
    }
  }
}

TEST(NcclCollNetTime, InsideTheNodeADeviceSendsAllHeadsTheirPartsOrAllAlongTheChainTwice) {
  // Ports of 20 GB/s: direct 7/8 of the data there and 7/8 back, a chain all of it there and back.
  for (const auto& [version, share] : {std::pair{"2.20", 2 * 7 / 8.0}, {"2.7", 2.0}}) {
    Platform platform = sharp(dgx_a100(4));
    for (Link& link : platform.links) {
      if (link.name.starts_with("nvlink")) link.capacity = 20_GBps;
    }
    const Placement placement = in_order(32);
    const NcclChoice choice = Modelled(version, platform, 32, Operation::allreduce, 80).model.choose(1_GiB);
    for (const Fidelity fidelity : all_fidelities) {
      auto clock = library_clock("nccl-" + std::string(version), Operation::allreduce, platform, placement, fidelity);
      const Seconds expected = choice.cost.hops + 1_GiB * share / 20_GBps;
      EXPECT_NEAR(time(*clock, 1_GiB, 32) / expected, 1, 1e-9) << version << name(fidelity);
    }
  }
}

TEST(NcclCollNetTime, FoldedTakesAsLongAsRankByRank) {
  for (const char* version : {"2.7", "2.10", "2.21", "2.28"}) {
    for (const Operation operation : {Operation::allreduce, Operation::allgather}) {
      for (const Fidelity fidelity : {Fidelity::flow, Fidelity::message}) {
        const Platform platform = sharp(dgx_h100(4));
        const Placement placement = in_order(32);
        const LibraryJob job{platform, placement, operation, 0, {90}};
        const Library& library = *find_library("nccl-" + std::string(version));
        const auto times_of = [&](FoldingPolicy policy) {  // of a clock at a time: a process holds one network
          const auto clock = make_library_clock(library, job, fidelity, policy);
          const std::pair times(time(*clock, 1_MiB, 32), time(*clock, 64_MiB, 32));
          EXPECT_EQ(clock->answer(64_MiB, all_at(32, 0_s)).provenance.folded, policy == FoldingPolicy::where_exact)
              << version << name(operation);
          return times;
        };
        const auto folded = times_of(FoldingPolicy::where_exact);
        const auto whole = times_of(FoldingPolicy::never);
        EXPECT_NEAR(folded.first / whole.first, 1, 1e-9) << version << name(operation);
        EXPECT_NEAR(folded.second / whole.second, 1, 1e-9) << version << name(operation);
      }
    }
  }
}

TEST(NcclCollNetTime, WhereItWasNotMeasuredItTakesAsManyTimesLongerAsWhatWas) {
  // Rings of Simple that took three times what the model says of what it picks without, at the same ranks.
  Platform platform = dgx_a100(2);
  const Modelled without("2.20", platform, 16, Operation::allreduce, 80);
  const NcclChoice ring_there = without.model.choose(1_GiB);
  ASSERT_EQ(ring_there.algorithm, ring);
  LibraryTimes times;
  times.library = "nccl-2.20";
  times.operation = Operation::allreduce;
  times.ranks = 16;
  times.nodes = 2;
  const NcclCost& cost = ring_there.cost;
  times.pieces = {{0_B, "ring", "Simple", 3 * (cost.base + cost.hops), cost.rate / 3}};
  platform.transport.library_times = {times};
  const Placement placement = in_order(16);
  EXPECT_NEAR(time(*library_clock("nccl-2.20", Operation::allreduce, platform, placement), 1_GiB, 16) / 1_s,
              3 * cost.time(1_GiB) / 1_s, 1e-9);
  const Platform with = sharp(platform);
  const Modelled model("2.20", sharp(dgx_a100(2)), 16, Operation::allreduce, 80);
  auto clock = library_clock("nccl-2.20", Operation::allreduce, with, placement);
  EXPECT_EQ(clock->choice(1_GiB).algorithm, "collnet_direct");
  EXPECT_NEAR(time(*clock, 1_GiB, 16) / (3 * model.model.choose(1_GiB).cost.time(1_GiB)), 1, 1e-9);
  // What was measured by CollNet is taken where it was.
  platform.transport.library_times[0].pieces = {{0_B, "collnet_direct", "Simple", 90_us, 100_GBps}};
  const Platform again = sharp(platform);
  EXPECT_NEAR(time(*library_clock("nccl-2.20", Operation::allreduce, again, placement), 1_GiB, 16).si(),
              (90_us + 1_GiB / 100_GBps).si(), 1e-9);
}

}}  // namespace farandole::nccl_collnet_time_test
