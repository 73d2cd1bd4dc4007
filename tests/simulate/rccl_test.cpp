// What is timed when a collective names RCCL.
#include <gmock/gmock.h>

#include "simulate/rccl_kit.hpp"

namespace farandole::rccl_test { namespace {

using test::all_fidelities;
using test::in_order;
using test::mi250x_nodes;
using test::mi300x_nodes;
using test::nccl_operations;
using test::rccl_clock;
using test::time;

/// Links and NICs a thousand times as fast as they are, counted on as before.
Platform quiet(Platform platform) {
  for (Link& link : platform.links) link.capacity *= 1000;
  return platform;
}

void expect_the_models_time(const Platform& platform, int ranks, const std::string& gfx) {
  const Placement placement = in_order(ranks);
  for (const std::string& tuning : test::rccl_versions()) {
    for (const Operation operation : nccl_operations) {
      const test::RcclModelled known(tuning, platform, ranks, operation, gfx);
      for (const Fidelity fidelity : all_fidelities) {
        auto clock = rccl_clock("rccl-" + tuning, operation, platform, placement, gfx, fidelity);
        for (const Bytes size : {1_KiB, 256_KiB, 64_MiB}) {
          const NcclChoice chosen = known.model.choose(size);
          EXPECT_NEAR(time(*clock, size, ranks) / chosen.cost.time(size), 1, 1e-9)
              << tuning << ' ' << name(operation) << ' ' << name(fidelity) << ' ' << size.si();
        }
      }
    }
  }
}

TEST(Rccl, OnQuietNodesItTakesWhatItsModelSaysAtEveryFidelity) {
  for (const int nodes : {1, 2}) {
    expect_the_models_time(quiet(mi250x_nodes(nodes)), 8 * nodes, "gfx90a");
    expect_the_models_time(quiet(mi300x_nodes(nodes)), 8 * nodes, "gfx942");
  }
}

TEST(Rccl, RingsOfFrontiersDiesAreAsFastAsTheSingleLinksThatTheyPass) {
  // Each of four rings has a quarter of the data, and passes links of 50 GB/s that no other passes in that direction:
  // 200 GB/s of bus where 252 are counted on. Waiting: 17 + 14 * 3.6 us.
  const Platform platform = mi250x_nodes(1);
  const Placement placement = in_order(8);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = rccl_clock("rccl-2.20", Operation::allgather, platform, placement, "gfx90a", fidelity);
    const Seconds waiting = 1e-6_s * (17 + 7 * 3.6);
    EXPECT_NEAR(time(*clock, 1_GiB, 8).si(), (waiting + 1_GiB * 7 / 8 / 200_GBps).si(), 1e-6) << name(fidelity);
  }
}

TEST(Rccl, BetweenNodesOfFrontierItsFourNicsLimitARing) {
  // 4 * 25 GB/s for 62/32 of the data; 17 + 54 * 6 + 8 * 19.8 us.
  const Platform platform = mi250x_nodes(4);
  const Placement placement = in_order(32);
  auto clock = rccl_clock("rccl-2.20", Operation::allreduce, platform, placement, "gfx90a");
  EXPECT_EQ(clock->choice(1_GiB).algorithm, "ring");
  EXPECT_NEAR(time(*clock, 1_GiB, 32).si(), 499.4e-6 + (1_GiB).si() * 62 / 32 / 100e9, 1e-9);
}

TEST(Rccl, BetweenTwoNodesATreeSendsAllDataOnceEitherWay) {
  // Half of it up one tree and half down the other: 4 * 25 GB/s for all of it; 17 + 2 * (7 * 2.5 + 22.4) us.
  const Platform platform = mi250x_nodes(2);
  const Placement placement = in_order(16);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = rccl_clock("rccl-2.20", Operation::allreduce, platform, placement, "gfx90a", fidelity);
    EXPECT_EQ(clock->choice(1_GiB).algorithm, "node_tree");
    EXPECT_NEAR(time(*clock, 1_GiB, 16).si(), 96.8e-6 + (1_GiB).si() / 100e9, 1e-6) << name(fidelity);
  }
}

TEST(Rccl, OnMi300xEveryLinkCarriesASeventhOfARing) {
  // 7 links of 64 GB/s carry what 7 of 48 are counted on for: 336 GB/s of bus.
  const Platform platform = mi300x_nodes(1);
  const Placement placement = in_order(8);
  auto clock = rccl_clock("rccl-2.26", Operation::allreduce, platform, placement, "gfx942");
  EXPECT_NEAR(time(*clock, 1_GiB, 8).si(), 17e-6 + 14 * 2.1e-6 + (1_GiB).si() * 14 / 8 / 336e9, 1e-9);
  Platform slow = platform;
  for (Link& link : slow.links) {
    if (is_nvlink(link)) link.capacity = 24_GBps;
  }
  auto slowed = rccl_clock("rccl-2.26", Operation::allreduce, slow, placement, "gfx942");
  EXPECT_NEAR(time(*slowed, 1_GiB, 8).si(), 17e-6 + 14 * 2.1e-6 + (1_GiB).si() * 14 / 8 / 168e9, 1e-9);
}

TEST(Rccl, AnAlltoallSendsMessagesThatWaitATreesHop) {
  // 7 parts of 1 MiB over links of 64 GB/s each, together at most 336 GB/s; 17 + 2.3 us.
  const Platform platform = mi300x_nodes(1);
  const Placement placement = in_order(8);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = rccl_clock("rccl-2.26", Operation::alltoall, platform, placement, "gfx942", fidelity);
    EXPECT_EQ(clock->choice(8_MiB).algorithm, "direct");
    EXPECT_NEAR(time(*clock, 8_MiB, 8).si(), 19.3e-6 + 7 * 1048576 / 336e9, 1e-9) << name(fidelity);
  }
}

TEST(Rccl, MoreNodesAreNeverFaster) {
  for (const std::string& tuning : test::rccl_versions()) {
    for (const Operation operation : nccl_operations) {
      for (const Bytes size : {1_KiB, 64_MiB, 4_GiB}) {
        Seconds before;
        for (const int nodes : {2, 4, 8, 16}) {
          const Platform platform = mi250x_nodes(nodes);
          const Placement placement = in_order(8 * nodes);
          auto clock = rccl_clock("rccl-" + tuning, operation, platform, placement, "gfx90a");
          const Seconds now = time(*clock, size, 8 * nodes);
          EXPECT_GE(now, before * (1 - 2e-3)) << tuning << ' ' << name(operation) << ' ' << nodes << ' ' << size.si();
          before = now;
        }
      }
    }
  }
}

TEST(Rccl, ALateRankHoldsEverybodyUp) {
  const Platform platform = mi250x_nodes(2);
  const Placement placement = in_order(16);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = rccl_clock("rccl-2.20", Operation::allreduce, platform, placement, "gfx90a", fidelity);
    RankTimes start = all_at(16, 0_s);
    start[3] = 0.01;
    EXPECT_GT(clock->completion_times(64_MiB, start).minCoeff(), 0.01) << name(fidelity);
    EXPECT_LT(latest(clock->completion_times(64_MiB, start)), 10_ms + time(*clock, 64_MiB, 16) * (1 + 1e-9));
  }
}

TEST(Rccl, RunsOnRocmAloneAndNcclOnCudaAlone) {
  const Library& rccl = *find_library("rccl-2.20");
  const Library& nccl = *find_library("nccl-2.20");
  const DeviceKind mi250x{0, "gfx90a"};
  const DeviceKind a100{80, ""};
  EXPECT_TRUE(can_run(rccl, mi250x));
  EXPECT_FALSE(can_run(rccl, a100));
  EXPECT_TRUE(can_run(nccl, a100));
  EXPECT_FALSE(can_run(nccl, mi250x));
  EXPECT_TRUE(can_run(*find_library("mpich"), DeviceKind{}));
}

}}  // namespace farandole::rccl_test
