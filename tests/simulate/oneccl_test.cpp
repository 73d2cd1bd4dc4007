// What oneCCL picks, against the tables of its sources, and what that takes on machines whose times are known.
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "simulate/library/mpi_decision.hpp"
#include "simulate/library/oneccl_decision.hpp"
#include "simulate/library_kit.hpp"
#include "simulate/releases_kit.hpp"
#include "support/source_folder.hpp"

namespace farandole::oneccl_test { namespace {

using test::in_order;
using test::mpich_choice;

constexpr const char* oneccl = "oneccl-2021.16";
constexpr std::array operations{Operation::allreduce, Operation::reduce_scatter, Operation::allgather,
                                Operation::broadcast, Operation::reduce,         Operation::alltoall};

const OneCclDecisions& release() {
  static const OneCclDecisions read = test::oneccl_2021_16();
  return read;
}

std::string way(Operation operation, int nodes, int per_node, Bytes size) {
  const OneCclWay picked = oneccl_choice(release(), operation, nodes, per_node, nodes * per_node, size);
  return picked.by_nodes ? "topo_" + picked.algorithm : picked.algorithm;
}

// Sizes below are of the whole operation; oneCCL's limits are of parts, so tests name the part and multiply.

TEST(OneCcl, AllreducesBetweenNodesAreMpisUpToFourMebibytesOfAPart) {
  // allreduce_auto_select_tune_attr, single precision: direct up to 4 MiB; MPICH's own choice is by the same part.
  using enum Operation;
  EXPECT_EQ(way(allreduce, 12, 6, 6 * 4_MiB), "topo_" + mpich_choice(allreduce, 12, 4_MiB));
  EXPECT_EQ(way(allreduce, 12, 6, 6 * (4_MiB + 128_B)), "topo_ring");
  EXPECT_EQ(way(allreduce, 16, 6, 6 * (4_MiB + 128_B)), "topo_doubling_halving");
  EXPECT_EQ(way(allreduce, 17, 6, 6 * (4_MiB + 128_B)), "topo_" + mpich_choice(allreduce, 17, 4_MiB));  // no ring
  EXPECT_EQ(way(allreduce, 64, 6, 1_GiB), "topo_doubling_halving");
  EXPECT_EQ(way(allreduce, 65, 6, 1_GiB), "topo_" + mpich_choice(allreduce, 65, 1_GiB / 6));
  // More than 4 GiB go by Level Zero, with a ring between nodes; with an odd number of ranks on a node by none.
  EXPECT_EQ(way(allreduce, 16, 6, 4_GiB), "topo_doubling_halving");
  EXPECT_EQ(way(allreduce, 16, 6, 4_GiB + 1_KiB), "topo_ring");
  EXPECT_EQ(way(allreduce, 16, 5, 4_GiB + 1_KiB), "ring");
}

TEST(OneCcl, AllreducesWithoutALineForEveryDeviceAreMpisOverAllRanks) {
  // 128 bytes a line: 6 devices have one each from 768 bytes on.
  EXPECT_EQ(way(Operation::allreduce, 4, 6, 767_B), mpich_choice(Operation::allreduce, 24, 767_B));
  EXPECT_EQ(way(Operation::allreduce, 4, 6, 8_B), "recursive_doubling");
  EXPECT_EQ(way(Operation::allreduce, 4, 6, 768_B), "topo_" + mpich_choice(Operation::allreduce, 4, 128_B));
}

TEST(OneCcl, AllreducesInANodeAreReadByAllWhileTheyAreSmall) {
  EXPECT_EQ(way(Operation::allreduce, 1, 6, 32_KiB), "one_shot");
  EXPECT_EQ(way(Operation::allreduce, 1, 6, 32_KiB + 4_B), "direct");
  EXPECT_EQ(way(Operation::allreduce, 1, 2, 512_KiB), "one_shot");
  EXPECT_EQ(way(Operation::allreduce, 1, 2, 512_KiB + 4_B), "direct");
}

TEST(OneCcl, ReduceScattersAreMpisUpToAMebibyteOfABlockAndRingsUpToSixteenNodes) {
  using enum Operation;
  EXPECT_EQ(way(reduce_scatter, 4, 6, 24 * 1_MiB), "topo_" + mpich_choice(reduce_scatter, 4, 4_MiB));
  EXPECT_EQ(way(reduce_scatter, 4, 6, 24 * 1_MiB + 96_B), "topo_ring");
  EXPECT_EQ(way(reduce_scatter, 16, 6, 1_GiB), "topo_ring");
  EXPECT_EQ(way(reduce_scatter, 17, 6, 1_GiB), "topo_pairwise");
  EXPECT_EQ(way(reduce_scatter, 4, 1, 1_MiB), "topo_" + mpich_choice(reduce_scatter, 4, 1_MiB));  // the whole counts
  EXPECT_EQ(way(reduce_scatter, 4, 1, 1_MiB + 16_B), "topo_ring");
}

TEST(OneCcl, AllgathersAreRingsBetweenNodesButForSmallBlocksOnFewNodes) {
  using enum Operation;
  // allgatherv_auto_select_tune_attr: below 256 KiB on 4 nodes, below 128 KiB on up to 8.
  EXPECT_EQ(way(allgather, 4, 6, 24 * (256_KiB - 4_B)), "topo_" + mpich_choice(allgather, 4, 4 * 256_KiB - 16_B));
  EXPECT_EQ(way(allgather, 4, 6, 24 * 256_KiB), "topo_ring");
  EXPECT_EQ(way(allgather, 8, 6, 48 * (64_KiB - 4_B)), "topo_recursive_doubling");
  EXPECT_EQ(way(allgather, 8, 6, 48 * 128_KiB), "topo_ring");
  // Beyond 8 nodes, or 1 GiB of counterparts, by Level Zero: a ring for every size, and nothing for odd numbers.
  EXPECT_EQ(way(allgather, 9, 6, 54 * 4_B), "topo_ring");
  EXPECT_EQ(way(allgather, 9, 5, 45 * 4_B), "direct");
  EXPECT_EQ(way(allgather, 8, 5, 5_GiB), "topo_ring");
  EXPECT_EQ(way(allgather, 8, 5, 5_GiB + 160_B), "direct");
}

TEST(OneCcl, BroadcastsAreMpisAmongTheRootsCounterpartsAndReducesDoubleTrees) {
  using enum Operation;
  EXPECT_EQ(way(broadcast, 8, 6, 1_MiB), "topo_" + mpich_choice(broadcast, 8, 1_MiB));
  EXPECT_EQ(way(broadcast, 8, 6, 4_GiB + 1_KiB), "direct");
  EXPECT_EQ(way(reduce, 8, 6, 48 * 4_B), "topo_double_tree");
  EXPECT_EQ(way(reduce, 8, 6, 48 * 4_B - 4_B), "binomial");  // "reduce with count < comm_size not supported"
  EXPECT_EQ(way(reduce, 8, 5, 1_MiB), "binomial");           // "odd node_comm_size is not supported"
}

TEST(OneCcl, OnNodesOfUnequalNumbersNothingIsDoneByNodes) {
  for (const Operation operation : operations) {
    for (int size = 2; size < 33; ++size) {
      EXPECT_FALSE(oneccl_choice(release(), operation, 2, 0, 9, Bytes(std::exp2(size))).by_nodes) << name(operation);
    }
  }
}

TEST(OneCcl, OnProcessorsEverythingIsMpisButLongAlltoalls) {
  for (const Operation operation : operations) {
    for (int size = 2; size < 33; ++size) {
      const Bytes bytes(std::exp2(size));
      if (operation == Operation::alltoall && bytes / 12 > 1_MiB) continue;
      EXPECT_EQ(oneccl_choice_of_processors(release(), operation, 12, bytes), mpich_choice(operation, 12, bytes));
    }
  }
  EXPECT_EQ(oneccl_choice_of_processors(release(), Operation::alltoall, 12, 12 * (1_MiB + 4_B)), "direct");
  EXPECT_EQ(mpich_choice(Operation::alltoall, 12, 12 * (1_MiB + 4_B)), "pairwise");
}

/// Nodes of six GPUs with a port of 100 GB/s each into a switch, a NIC of 10 GB/s for each.
constexpr int devices = 6;
Platform six_gpus(int nodes) {
  return test::gpu_nodes({nodes, devices, devices, 100_GBps, 10_GBps});
}

LibraryJob job_of(const Platform& platform, const Placement& placement, Operation operation) {
  LibraryJob job{platform, placement, operation};
  job.device.generation = "ponte_vecchio";
  return job;
}

Seconds time(const Platform& platform, const Placement& placement, Operation operation, Bytes size,
             Fidelity fidelity = Fidelity::analytic, int root = 0) {
  LibraryJob job = job_of(platform, placement, operation);
  job.root = root;
  const auto clock = make_library_clock(*find_library(oneccl), job, fidelity);
  return latest(clock->completion_times(size, all_at(static_cast<int>(placement.device_of_rank.size()), 0_s)));
}

TEST(OneCcl, AnAllreduceTakesItsStepsInTheNodeAndBetweenNodes) {
  // 8 nodes: 5/6 M in and out of every port, twice; between nodes 2 (8-1)/8 of M/6 through every device's own NIC.
  const Platform platform = six_gpus(8);
  const double size = 48 * 1048576 * 10.0;
  const double inside = 5.0 / 6 * size / 100e9;
  const double between = 2 * 7.0 / 8 * size / 6 / 10e9;
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    EXPECT_NEAR(time(platform, in_order(48), Operation::allreduce, Bytes(size), fidelity).si(), 2 * inside + between,
                1e-6)
        << name(fidelity);
  }
}

TEST(OneCcl, OtherOperationsTakeWhatTheirStepsTake) {
  using enum Operation;
  const Platform platform = six_gpus(8);
  const Placement placement = in_order(48);
  const double size = 48 * 1048576 * 10.0;
  const double inside = 5.0 / 6 * size / 100e9;
  const double between = 7.0 / 8 * size / 6 / 10e9;
  EXPECT_NEAR(time(platform, placement, reduce_scatter, Bytes(size)).si(), inside + between, 1e-6);
  EXPECT_NEAR(time(platform, placement, allgather, Bytes(size)).si(), inside + between, 1e-6);
  // Out of one NIC and then five times out of one port: a scatter and a ring over 8 nodes, 2 * 7/8 M.
  EXPECT_NEAR(time(platform, placement, broadcast, Bytes(size)).si(), 2 * 7.0 / 8 * size / 10e9 + 5 * size / 100e9,
              1e-6);
  // Reduce-scatter, halves of M/6 up two trees at once (one at most into a NIC from each), gather.
  EXPECT_GT(time(platform, placement, reduce, Bytes(size)).si(), 2 * inside + size / 6 / 10e9);
}

TEST(OneCcl, ItDoesNotMatterHowRanksAreDealtToNodesNorWhereTheRootIs) {
  const Platform platform = six_gpus(4);
  Placement dealt;
  for (int rank = 0; rank < 24; ++rank) dealt.device_of_rank.push_back(rank % 4 * devices + rank / 4);
  dealt.nodes_used = 4;
  for (const Operation operation : operations) {
    if (operation == Operation::alltoall) continue;
    for (const Bytes size : {4_KiB, 1_MiB, 240_MB}) {
      const double filled = time(platform, in_order(24), operation, size).si();
      EXPECT_NEAR(time(platform, dealt, operation, size).si() / filled, 1, 1e-9) << name(operation) << size.si();
    }
  }
  const double at_zero = time(platform, in_order(24), Operation::broadcast, 1_MiB).si();
  for (const int root : {1, 7, 23}) {
    EXPECT_NEAR(time(platform, in_order(24), Operation::broadcast, 1_MiB, Fidelity::analytic, root).si() / at_zero, 1,
                1e-9);
  }
}

TEST(OneCcl, ALateReceiverOfABroadcastHoldsUpNobodyButItsSender) {
  const Platform platform = six_gpus(4);
  const Placement placement = in_order(24);
  const auto clock =
      make_library_clock(*find_library(oneccl), job_of(platform, placement, Operation::broadcast), Fidelity::analytic);
  RankTimes start = all_at(24, 0_s);
  start[13] = 1;  // the second device of the third node, which only receives: its sender waits, nobody else
  const RankTimes end = clock->completion_times(1_MiB, start);
  for (int rank = 0; rank < 24; ++rank) EXPECT_EQ(end[rank] > 1, rank == 12 || rank == 13) << rank;
}

TEST(OneCcl, NodesOfUnequalNumbersAreSimulatedToo) {
  const Platform platform = six_gpus(2);
  for (const Operation operation : operations) {
    EXPECT_GT(time(platform, in_order(9), operation, 1_MiB), 0_s) << name(operation);
  }
}

TEST(OneCcl, OnProcessorsItTakesWhatMpichTakes) {
  const Platform platform = test::two_level(4, 4, 10_GBps, 1_GBps);
  const Placement placement = in_order(16);
  for (const Operation operation : operations) {
    LibraryJob job = job_of(platform, placement, operation);
    job.device = {};
    for (const Bytes size : {64_B, 64_KiB, 8_MiB}) {
      const auto clock = make_library_clock(*find_library(oneccl), job, Fidelity::analytic);
      const auto mpich = make_library_clock(*find_library("mpich"), job, Fidelity::analytic);
      EXPECT_EQ(latest(clock->completion_times(size, all_at(16, 0_s))),
                latest(mpich->completion_times(size, all_at(16, 0_s))))
          << name(operation) << ' ' << size.si();
    }
  }
}

/// Bandwidth of NICs and of ports in GB/s.
Seconds on_rates(int nodes, double nic, double port, Operation operation, Bytes size) {
  const Platform platform =
      test::gpu_nodes({nodes, devices, devices, BytesPerSecond(port * 1e9), BytesPerSecond(nic * 1e9)});
  return time(platform, in_order(nodes * devices), operation, size);
}

RC_GTEST_PROP(OneCcl, LessBandwidthIsNeverFaster, ()) {
  const int nodes = *rc::gen::inRange(1, 20);
  const Operation operation = *rc::gen::elementOf(operations);
  const Bytes size(std::exp2(*rc::gen::inRange(2, 32)));
  const double nic = *rc::gen::inRange(1, 50);
  const double port = *rc::gen::inRange(1, 200);
  const double less = *rc::gen::inRange(1, 100) / 100.0;
  const Seconds full = on_rates(nodes, nic, port, operation, size);
  RC_ASSERT(on_rates(nodes, nic * less, port, operation, size) >= full * (1 - 1e-9));
  RC_ASSERT(on_rates(nodes, nic, port * less, operation, size) >= full * (1 - 1e-9));
}

RC_GTEST_PROP(OneCcl, MoreNodesAreNeverFasterByTheSameWay, ()) {
  const int nodes = *rc::gen::inRange(2, 12);
  const Operation operation = *rc::gen::elementOf(operations);
  const Bytes size(std::exp2(*rc::gen::inRange(10, 32)));
  RC_PRE(way(operation, nodes, devices, size) == way(operation, 2 * nodes, devices, size));
  RC_ASSERT(on_rates(2 * nodes, 10, 100, operation, size) >= on_rates(nodes, 10, 100, operation, size) * (1 - 1e-9));
}

std::string readme() {
  std::ifstream file(test::source_folder() / "sim/simulate/library/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OneCcl, WhateverItPicksHasARowInTheReadmeAndNothingElse) {
  std::set<std::string> cells;
  for (const Operation operation : operations) {
    for (int nodes = 1; nodes < 70; ++nodes) {
      for (const int per_node : {0, 1, 2, 5, 6}) {
        const int ranks = per_node == 0 ? 2 * nodes + 1 : nodes * per_node;
        for (int size = 0; size < 36 && ranks > 1; ++size) {
          const OneCclWay picked = oneccl_choice(release(), operation, nodes, per_node, ranks, Bytes(std::exp2(size)));
          const char* prefix = picked.by_nodes ? "topo_" : "";
          const bool is_inside = picked.by_nodes && nodes == 1;
          cells.insert(fmt::format("| {} | `{}` |", name(operation), is_inside ? "topo" : prefix + picked.algorithm));
        }
      }
    }
  }
  const std::string text = readme();
  const auto section = text.substr(text.find("## What oneCCL runs"));
  const auto table = section.substr(0, section.find("\n## ", 1));
  for (const std::string& cell : cells) EXPECT_NE(table.find("\n" + cell), std::string::npos) << cell;
  std::size_t rows = 0;
  for (auto at = table.find("\n| "); at != std::string::npos; at = table.find("\n| ", at + 1)) ++rows;
  EXPECT_EQ(rows, cells.size() + 1);  // and the table's head
}

}}  // namespace farandole::oneccl_test
