// What is timed when a collective names a library.
#include "simulate/library/library.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/library/mpi_decision.hpp"
#include "simulate/library/nccl_model.hpp"
#include "simulate/library_kit.hpp"
#include "simulate/releases_kit.hpp"
#include "support/source_folder.hpp"

namespace farandole::library_test { namespace {

using test::all_fidelities;
using test::dgx_a100;
using test::gpu_nodes;
using test::in_order;
using test::library_clock;
using test::mpich_3_choice;
using test::mpich_choice;
using test::nccl_operations;
using test::openmpi_choice;
using test::time;

/// What the cost model says that its own choice takes.
Seconds modelled(const NcclTuning& tuning, const Platform& platform, int ranks, Operation operation, Bytes size,
                 int capability) {
  const ChannelGraph graph = survey_channels(platform, in_order(ranks), nvlink_rate(capability));
  return NcclModel(tuning, graph, operation, capability).choose(size).cost.time(size);
}

void expect_the_models_time(const Platform& platform, int ranks, int capability) {
  const Placement placement = in_order(ranks);
  for (const std::string& tuning : test::nccl_versions()) {
    for (const Operation operation : nccl_operations) {
      for (const Fidelity fidelity : all_fidelities) {
        auto clock = library_clock("nccl-" + tuning, operation, platform, placement, fidelity, capability);
        // Sizes that divide evenly into the schedules' chunks.
        for (const Bytes size : {1_KiB, 256_KiB, 64_MiB}) {
          const Seconds expected = modelled(test::tuning(tuning), platform, ranks, operation, size, capability);
          EXPECT_NEAR(time(*clock, size, ranks) / expected, 1, 1e-9)
              << tuning << ' ' << name(operation) << ' ' << name(fidelity) << ' ' << size.si();
        }
      }
    }
  }
}

TEST(Library, OnAQuietSwitchedNodeNcclTakesWhatItsModelSaysAtEveryFidelity) {
  expect_the_models_time(dgx_a100(1), 8, 80);
}

TEST(Library, OnTwoQuietNodesNcclTakesWhatItsModelSaysAtEveryFidelity) {
  expect_the_models_time(dgx_a100(2), 16, 80);
}

TEST(Library, OnDirectlyWiredDevicesNcclTakesWhatItsModelSaysAtEveryFidelity) {
  expect_the_models_time(test::wired_quad(2), 4, 70);
}

TEST(Library, RanksDealtRoundTheNodesAreTakenNodeByNode) {
  const Platform platform = dgx_a100(2);
  Placement dealt;
  for (int rank = 0; rank < 16; ++rank) dealt.device_of_rank.push_back(rank % 2 * 8 + rank / 2);
  dealt.nodes_used = 2;
  auto in_turn = library_clock("nccl-2.10", Operation::allreduce, platform, dealt);
  const Placement filling = in_order(16);
  auto filled = library_clock("nccl-2.10", Operation::allreduce, platform, filling);
  EXPECT_DOUBLE_EQ(time(*in_turn, 64_MiB, 16).si(), time(*filled, 64_MiB, 16).si());
}

TEST(Library, ALinkSlowerThanNcclCountsOnSlowsItDown) {
  // NICs of 200 Gbit/s whose hosts move only 5 GB/s: 8 * 5 GB/s for 30/16 of the data, not 8 * 24.
  Platform platform = dgx_a100(2);
  for (Link& link : platform.links) {
    if (link.name.starts_with("nic")) link.capacity = 5_GBps;
  }
  const Placement placement = in_order(16);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = library_clock("nccl-2.10", Operation::allreduce, platform, placement, fidelity);
    const Seconds wait =
        1e-6_s * (8.4 + 26 * 3.4 + 4 * 9.6);  // of 30 steps the last chunk's 1st, 9th, 17th, 25th leave
    EXPECT_NEAR(time(*clock, 1_GiB, 16).si(), (wait + 1_GiB * 30 / 16 / 40_GBps).si(), 1e-6) << name(fidelity);
  }
}

TEST(Library, FlagsBesideThePayloadTakeHalfOfTheLinkUnderLl) {
  // One NIC of 10 Gbit/s is counted on for 1.2 GB/s: LL gets .3, its flags as much again, and the link has 1.25.
  const Platform platform = test::star(2, 10_Gbps, 0_s);
  const Placement placement = in_order(2);
  auto clock = library_clock("nccl-2.7", Operation::allreduce, platform, placement, Fidelity::analytic, 60);
  EXPECT_EQ(clock->choice(1_KiB).protocol, "LL");
  Platform slow = platform;
  for (Link& link : slow.links) link.capacity = BytesPerSecond(.4e9);  // .2 for payload
  auto slowed = library_clock("nccl-2.7", Operation::allreduce, slow, placement, Fidelity::analytic, 60);
  const Seconds more = 1_KiB / BytesPerSecond(.2e9) - 1_KiB / BytesPerSecond(.3e9);
  EXPECT_NEAR((time(*slowed, 1_KiB, 2) - time(*clock, 1_KiB, 2)).si(), more.si(), 1e-12);
}

TEST(Library, AnAlltoallGoesFromDeviceToDeviceAsMessages) {
  // 7 blocks of 1 MiB, held to .87 of the channels' 240 GB/s, its own copied, and of each of four channels 256 KiB
  // copied out at the end at 24 GB/s. Blocks of 1 KiB go by LL, a channel each.
  const Platform platform = dgx_a100(1);
  const Placement placement = in_order(8);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = library_clock("nccl-2.10", Operation::alltoall, platform, placement, fidelity);
    EXPECT_NEAR(time(*clock, 8_MiB, 8).si(), 13.7e-6 + 262144 / 24e9 + 1048576 * (7 / .87 + .3) / 240e9, 1e-10)
        << name(fidelity);
    EXPECT_NEAR(time(*clock, 8_KiB, 8).si(), (8 + 3 + 1) * 1e-6 + 1024 * (24 / 87.7e9 + .3 / 240e9), 1e-10);
  }
}

TEST(Library, ALateRankHoldsEverybodyUp) {
  const Platform platform = dgx_a100(1);
  const Placement placement = in_order(8);
  for (const Fidelity fidelity : all_fidelities) {
    auto clock = library_clock("nccl-2.10", Operation::allreduce, platform, placement, fidelity);
    RankTimes start = all_at(8, 0_s);
    start[3] = 0.01;
    EXPECT_GT(clock->completion_times(64_MiB, start).minCoeff(), 0.01) << name(fidelity);
    EXPECT_LT(latest(clock->completion_times(64_MiB, start)), 10_ms + time(*clock, 64_MiB, 8) * (1 + 1e-9));
  }
}

/// A switch adds up what all have: nothing goes before the last has begun, whoever that is, and all have the sum at
/// once.
TEST(Library, WhatSwitchesAddUpEndsAtOnceAndAsLateWhoeverIsLate) {
  const Platform platform = test::gpu_nodes({4, 8, 8, 450_GBps, 50_GBps});
  const LibraryJob job{platform, in_order(32), Operation::allreduce, 0, 90};
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
    const auto clock = make_library_clock(*find_library("nccl-2.21"), job, fidelity);
    ASSERT_TRUE(clock->choice(64_MiB).algorithm.starts_with("nvls"));
    const double alone = test::time(*clock, 64_MiB, 32).si();
    for (const int late : {0, 7, 8, 31}) {
      RankTimes start = all_at(32, 0_s);
      start[late] = 1e-3;
      const RankTimes ends = clock->completion_times(64_MiB, start);
      EXPECT_NEAR(ends.minCoeff(), 1e-3 + alone, 1e-12) << late;
      EXPECT_NEAR(ends.maxCoeff(), 1e-3 + alone, 1e-12) << late;
    }
  }
}

TEST(Library, TimesGrowWithTheSizeOrStayWhileItFillsChannels) {
  const Platform platform = dgx_a100(2);
  const Placement placement = in_order(16);
  auto clock = library_clock("nccl-2.10", Operation::allreduce, platform, placement);
  Seconds before;
  for (Bytes size = 8_B; size <= 8_GiB; size *= 2) {
    const Seconds now = time(*clock, size, 16);
    // Each channel that more bytes fill has a way of its own.
    EXPECT_GE(now, before * (1 - 1e-12)) << size.si();
    before = now;
  }
  EXPECT_GT(before, 1000 * time(*clock, 8_B, 16));
}

TEST(Library, OnNodesOfOneNicEveryTimeIsFinite) {
  const Platform platform = gpu_nodes({4, 8, 1, 450_GBps, 50_GBps});
  const Placement placement = in_order(32);
  for (const Library* library : libraries()) {
    for (const Operation operation : library->operations) {
      const LibraryJob job{platform, placement, operation, 0, {90, "gfx90a"}};
      const auto clock = make_library_clock(*library, job, Fidelity::analytic);
      for (const Bytes size : {1_KiB, 1_MiB, 64_MiB, 1_GiB}) {
        const double taken = time(*clock, size, 32).si();
        EXPECT_TRUE(std::isfinite(taken) && taken > 0) << library->name << ' ' << name(operation) << ' ' << size.si();
      }
    }
  }
}

TEST(Library, OneRankHasNothingToDo) {
  const Platform platform = dgx_a100(1);
  const Placement placement = in_order(1);
  auto clock = library_clock("nccl-2.7", Operation::allreduce, platform, placement);
  EXPECT_EQ(time(*clock, 1_MiB, 1), 0_s);
}

TEST(Library, AnMpiLibraryTakesWhatItsAlgorithmAndTheLaunchTake) {
  Platform platform = test::star(16, 25_Gbps, 2_us);
  platform.transport.launch = 3_us;
  const Placement placement = in_order(16);
  auto clock = library_clock("openmpi-4", Operation::allreduce, platform, placement);
  EXPECT_EQ(clock->choice(1_MiB).algorithm, "doubling_halving");
  const auto direct = make_collective_clock(
      Fidelity::analytic,
      RoutedSchedule(find_algorithm(Operation::allreduce, "doubling_halving")->build(16), platform, placement));
  const Seconds alone = latest(direct->completion_times(1_MiB, all_at(16, 0_s)));
  EXPECT_DOUBLE_EQ(time(*clock, 1_MiB, 16).si(), (alone + 3_us).si());
}

/// Node by node: `nodes` of `devices` behind thin NICs of 1 GB/s, on buses that never limit.
Seconds on_thin_links(const char* library, Operation operation, int nodes, int devices, Bytes size) {
  const Platform platform = test::two_level(nodes, devices, BytesPerSecond(1e18), 1_GBps);
  const Placement placement = in_order(nodes * devices);
  auto clock = library_clock(library, operation, platform, placement);
  return time(*clock, size, nodes * devices);
}

TEST(Library, AnMpiAllreduceSendsItsLargestHalvesWithinTheNode) {
  // Of n = 16 ranks, k = 4 on a node, a NIC carries 2 M (1 - k/n) each way, not k times that.
  for (const char* mpi : {"openmpi-4", "mpich"}) {
    EXPECT_NEAR(on_thin_links(mpi, Operation::allreduce, 4, 4, 64_MB).si(), 2 * 64e6 * (1 - 4.0 / 16) / 1e9, 1e-9)
        << mpi;
  }
}

TEST(Library, AnMpichReduceSendsItsLargestHalvesWithinTheNode) {
  // Of n = 16 ranks, k = 4 on a node: M (1 - k/n) through every NIC as halves, and as much to the root's node as
  // blocks.
  EXPECT_NEAR(on_thin_links("mpich", Operation::reduce, 4, 4, 64_MB).si(), 2 * 64e6 * (1 - 4.0 / 16) / 1e9, 1e-9);
}

TEST(Library, AnOpenMpiBroadcastCrossesBetweenNodesLastAndAnMpichOneFirst) {
  // Four nodes of k = 4: k messages out of a node at distance 4 and k at distance 8. Two of 2: one at distance 2.
  EXPECT_NEAR(on_thin_links("openmpi-4", Operation::broadcast, 4, 4, Bytes(16e3)).si(), 2 * 4 * 16e3 / 1e9, 1e-12);
  EXPECT_NEAR(on_thin_links("mpich", Operation::broadcast, 2, 2, Bytes(16e3)).si(), 16e3 / 1e9, 1e-12);
}

TEST(Library, OpenMpiSwitchesWhereItsDecisionsSay) {
  using enum Operation;
  EXPECT_EQ(openmpi_choice(allreduce, 16, 4095_B), "recursive_doubling");
  EXPECT_EQ(openmpi_choice(allreduce, 16, 4096_B), "doubling_halving");
  EXPECT_EQ(openmpi_choice(allreduce, 24, 4096_B), "doubling_halving_split");  // pairs fold by halves
  EXPECT_EQ(openmpi_choice(allreduce, 200, 8_KiB), "reduce_binary");           // MPI_Reduce, then MPI_Bcast
  EXPECT_EQ(openmpi_choice(allreduce, 200, 24_KiB), "reduce_direct");
  EXPECT_EQ(openmpi_choice(allreduce, 200, 64_KiB), "reduce_knomial");
  EXPECT_EQ(openmpi_choice(allreduce, 3, 64_KiB), "ring");
  EXPECT_EQ(openmpi_choice(allgather, 2, 64_KiB), "ring");
  EXPECT_EQ(openmpi_choice(allgather, 16, 1_GiB), "recursive_doubling");
  EXPECT_EQ(openmpi_choice(allgather, 12, 1_GiB), "bruck");  // doubling is for powers of two
  EXPECT_EQ(openmpi_choice(allgather, 32, 32 * 1024_B), "neighbor_exchange");
  EXPECT_EQ(openmpi_choice(allgather, 32, 32 * 65536_B), "ring");
  EXPECT_EQ(openmpi_choice(alltoall, 40, 40 * 511_B), "bruck");
  EXPECT_EQ(openmpi_choice(alltoall, 40, 40 * 512_B), "direct");
  EXPECT_EQ(openmpi_choice(broadcast, 20, 1_MiB), "scatter_doubling");
  EXPECT_EQ(openmpi_choice(broadcast, 64, 1_MiB), "knomial");
  EXPECT_EQ(openmpi_choice(broadcast, 256, 16_KiB), "split_binary");
  EXPECT_EQ(openmpi_choice(broadcast, 20, 64_KiB), "binomial_nearest_first");
  EXPECT_EQ(openmpi_choice(reduce, 24, 4096_B), "binomial");
  EXPECT_EQ(openmpi_choice(reduce, 3, 4_B), "direct");  // an element for two members: redscat_gather hands on
  EXPECT_EQ(openmpi_choice(reduce_scatter, 40, 2047_B), "recursive_halving");
  EXPECT_EQ(openmpi_choice(reduce_scatter, 40, 2048_B), "butterfly");
  EXPECT_EQ(openmpi_choice(reduce_scatter, 100, 4095_B), "recursive_halving");
  EXPECT_EQ(openmpi_choice(reduce_scatter, 100, 4096_B), "butterfly");
  EXPECT_EQ(openmpi_choice(reduce_scatter, 16, 262144_B), "ring");
}

TEST(Library, MpichSwitchesWhereItsSelectionSays) {
  using enum Operation;
  EXPECT_EQ(mpich_choice(allreduce, 16, 8_B), "recursive_doubling");
  EXPECT_EQ(mpich_choice(allreduce, 16, 60_B), "recursive_doubling");  // 15 floats for 16 ranks
  EXPECT_EQ(mpich_choice(allreduce, 16, 64_B), "doubling_halving");
  EXPECT_EQ(mpich_choice(allreduce, 24, 1_MiB), "doubling_halving");
  EXPECT_EQ(mpich_choice(broadcast, 7, 1_GiB), "binomial");
  EXPECT_EQ(mpich_choice(broadcast, 16, 12288_B), "binomial");
  EXPECT_EQ(mpich_choice(broadcast, 16, 524288_B), "scatter_doubling");
  EXPECT_EQ(mpich_choice(broadcast, 16, 524289_B), "scatter_allgather");
  EXPECT_EQ(mpich_choice(allgather, 16, 524287_B), "recursive_doubling");
  EXPECT_EQ(mpich_choice(allgather, 12, 81919_B), "bruck");
  EXPECT_EQ(mpich_choice(allgather, 12, 81920_B), "ring");
  EXPECT_EQ(mpich_choice(reduce, 16, 2049_B), "doubling_gather");
  EXPECT_EQ(mpich_choice(reduce_scatter, 16, 524288_B), "pairwise");
  EXPECT_EQ(mpich_choice(alltoall, 8, 8 * 256_B), "bruck");
  EXPECT_EQ(mpich_choice(alltoall, 8, 8 * 32768_B), "direct");
  EXPECT_EQ(mpich_choice(alltoall, 4, 4 * 32769_B), "pairwise");
}

TEST(Library, Mpich3DoublesUpTo2048BytesAndItsShortBroadcastsEndBelowTheirLimit) {
  using enum Operation;
  EXPECT_EQ(mpich_3_choice(allreduce, 48, 2048_B), "recursive_doubling");
  EXPECT_EQ(mpich_3_choice(allreduce, 48, 2049_B), "doubling_halving");
  EXPECT_EQ(mpich_3_choice(broadcast, 16, 12287_B), "binomial");
  EXPECT_EQ(mpich_3_choice(broadcast, 16, 12288_B), "scatter_doubling");
  EXPECT_EQ(mpich_3_choice(broadcast, 16, 524288_B), "scatter_allgather");
  for (const Operation same : {reduce_scatter, allgather, reduce, alltoall}) {
    for (const Bytes size : {16_B, 256_B, 2048_B, 64_KiB, 512_KiB, 8_MiB})
      EXPECT_EQ(mpich_3_choice(same, 24, size), mpich_choice(same, 24, size)) << name(same) << ' ' << size.si();
  }
}

std::string readme() {
  std::ifstream file(test::source_folder() / "sim/simulate/library/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The algorithms that either picks, at and beside every number of ranks and size that a decision could change at.
std::set<std::string> cells_of_all_picks(const char* mpi, std::string (*choose)(Operation, int, Bytes)) {
  std::set<std::string> cells;
  for (const Operation operation : find_library(mpi)->operations) {
    for (int power = 1; power < 16; ++power) {
      for (const int ranks : {(1 << power) - 1, 1 << power, (1 << power) + 1}) {
        for (int size = 0; size < 32 && ranks > 1; ++size) {
          cells.insert(fmt::format("| {} | {} | `{}` |", mpi, name(operation),
                                   choose(operation, ranks, Bytes(std::exp2(size)))));
        }
      }
    }
  }
  return cells;
}

TEST(Library, WhateverAnMpiLibraryPicksHasARowInTheReadmeAndNothingElse) {
  const std::string text = readme();
  std::set<std::string> cells = cells_of_all_picks("openmpi-4", openmpi_choice);
  cells.merge(cells_of_all_picks("mpich", mpich_choice));
  for (const std::string& cell : cells) EXPECT_NE(text.find(cell), std::string::npos) << cell;
  const auto rows = [&](const std::string& begin) {
    std::size_t count = 0;
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(rows("\n| openmpi-4 |") + rows("\n| mpich |"), cells.size());
}

RC_GTEST_PROP(Library, WhateverAnMpiLibraryPicksIsInTheCatalogue, ()) {
  const int ranks = *rc::gen::inRange(2, 70000);
  const Bytes size(std::exp2(*rc::gen::inRange(0, 34)) + *rc::gen::inRange(0, 1000));
  const std::map<std::string, std::string (*)(Operation, int, Bytes)> choices{
      {"openmpi-4", openmpi_choice}, {"mpich", mpich_choice}, {"mpich-3", mpich_3_choice}};
  for (const auto& [mpi, choose] : choices) {
    for (const Operation operation : find_library(mpi)->operations)
      RC_ASSERT(find_algorithm(operation, choose(operation, ranks, size)) != nullptr);
  }
}

}}  // namespace farandole::library_test
