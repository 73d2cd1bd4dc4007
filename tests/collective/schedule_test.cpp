// The compact form: what a transfer carries, and to whom, in which repeat; chunk sizes; NCCL's trees.
#include "collective/schedule.hpp"

#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "collective/algorithms/trees.hpp"
#include "collective/chunk_sizes.hpp"

namespace farandole::schedule_test { namespace {

Schedule built(Operation operation, const std::string& name, const Shape& shape) {
  return find_algorithm(operation, name)->build(shape);
}

TEST(Schedule, OfAPairwiseAlltoallSendsInRoundIToTheRankIPlusOneAhead) {
  const int n = 5;
  const Schedule schedule = built(Operation::alltoall, "pairwise", n);
  ASSERT_EQ(schedule.phases.size(), 1U);
  EXPECT_EQ(schedule.phases[0].repeats, n - 1);
  for (int round = 0; round < n - 1; ++round) {
    for (const Transfer& transfer : schedule.phases[0].transfers) {
      const Transfer placed = in_repeat(schedule, schedule.phases[0], transfer, round);
      EXPECT_EQ(placed.to, (placed.from + round + 1) % n);
      EXPECT_EQ(placed.chunk, placed.from * n + placed.to);
    }
  }
}

TEST(Schedule, OfAChainSendsSegmentKOfRankRInRoundRPlusK) {
  Shape shape(4);
  shape.segments = 3;
  const Schedule schedule = built(Operation::broadcast, "chain", shape);
  const Phase& phase = schedule.phases.at(0);
  EXPECT_EQ(phase.repeats, 3 + 4 - 2);
  for (int round = 0; round < phase.repeats; ++round) {
    for_each_transfer(schedule, phase, round, [&](const Transfer& transfer, std::size_t /*index*/) {
      EXPECT_EQ(transfer.from + transfer.chunk, round);
    });
    EXPECT_EQ(takes_part(phase, phase.transfers[1], round), round >= 1 && round < 4);
  }
}

TEST(Participants, OfARepeatOfAnyAlgorithmAreWhatForEachTransferVisits) {
  for (const Algorithm& row : algorithms()) {
    Shape shape(8);
    shape.ranks_per_node = 2;
    shape.segments = 3;
    const Schedule schedule = row.build(shape);
    for (const Phase& phase : schedule.phases) {
      Participants participants(phase);
      for (int repeat = 0; repeat < phase.repeats; ++repeat) {
        std::vector<std::size_t> visited;
        for_each_transfer(schedule, phase, repeat,
                          [&](const Transfer&, std::size_t index) { visited.push_back(index); });
        const std::span<const std::size_t> found = participants.in(repeat);
        EXPECT_EQ(std::vector(found.begin(), found.end()), visited) << row.name << ' ' << phase.name << ' ' << repeat;
      }
    }
  }
}

TEST(Participants, OfAChainAreAsManyAsItHasSegmentsHoweverManyRanksThereAre) {
  Shape shape(1000);
  shape.segments = 3;
  const Schedule schedule = built(Operation::broadcast, "chain", shape);
  EXPECT_EQ(Participants(schedule.phases.at(0)).in(500).size(), 3U);
}

TEST(Schedule, OfADirectAlltoallHasOneRound) {
  const Schedule schedule = built(Operation::alltoall, "direct", 6);
  EXPECT_EQ(rounds(schedule), 1);
  EXPECT_EQ(transfers_per_round(schedule.phases[0]), 30U);
  EXPECT_EQ(schedule.phases[0].transfers.size(), 6U);
}

TEST(Schedule, RoundsAreLogarithmicWhereTheAlgorithmIs) {
  EXPECT_EQ(rounds(built(Operation::allreduce, "recursive_doubling", 1024)), 10);
  EXPECT_EQ(rounds(built(Operation::allreduce, "recursive_doubling", 1025)), 12);
  EXPECT_EQ(rounds(built(Operation::allreduce, "halving_doubling", 1024)), 20);
  EXPECT_EQ(rounds(built(Operation::allgather, "bruck", 1025)), 11);
  EXPECT_EQ(rounds(built(Operation::broadcast, "binomial", 1000)), 10);
  EXPECT_EQ(rounds(built(Operation::barrier, "dissemination", 33)), 6);
  EXPECT_EQ(rounds(built(Operation::allreduce, "torus", 64)), 2 * (8 + 8 - 2));
}

TEST(Schedule, OfAHierarchicalAllreduceKeepsBlocksWithinTheNodeFirst) {
  Shape shape(8);
  shape.ranks_per_node = 4;
  const Schedule schedule = built(Operation::allreduce, "hierarchical", shape);
  ASSERT_EQ(schedule.phases.size(), 4U);
  for (const Transfer& transfer : schedule.phases[0].transfers) EXPECT_EQ(transfer.from / 4, transfer.to / 4);
  for (const Transfer& transfer : schedule.phases[1].transfers) EXPECT_EQ(transfer.from % 4, transfer.to % 4);
}

TEST(ChunkSizes, OfAnAlltoallCutEveryRowAlike) {
  const Schedule schedule = built(Operation::alltoall, "pairwise", 3);
  const ChunkSizes sizes(Bytes(10), schedule);  // 4 + 3 + 3, three times
  for (Chunk row = 0; row < 3; ++row) {
    EXPECT_EQ(sizes[3 * row], Bytes(4));
    EXPECT_EQ(sizes[3 * row + 2], Bytes(3));
  }
  EXPECT_EQ(sizes.before(9), Bytes(30));
}

// Of every operation: as many bytes in every chunk as the longest has, and no byte more.
TEST(ChunkSizes, AreAllAsLongAsTheLongestOfTheSizeOfTheLongest) {
  for (const Algorithm& row : algorithms()) {
    const Schedule schedule = row.build(Shape(8));
    for (const double bytes : {1000.0, 1024.0, 12'345.0}) {
      const ChunkSizes sizes(Bytes(bytes), schedule);
      const ChunkSizes longest(sizes.size_of_longest(), schedule);
      EXPECT_TRUE(longest.equal()) << name(row.operation) << ' ' << row.name;
      EXPECT_EQ(longest.largest(), sizes.largest()) << name(row.operation) << ' ' << row.name;
    }
  }
}

TEST(ChunkSizes, FollowTheWeights) {
  Shape shape(3);
  shape.weights = {1, 0, 3};
  const ChunkSizes sizes(Bytes(10), built(Operation::allgather, "ring", shape));  // ends at floor 2.5, 2.5, 10
  EXPECT_EQ(sizes[0], Bytes(2));
  EXPECT_EQ(sizes[1], Bytes(0));
  EXPECT_EQ(sizes[2], Bytes(8));
  EXPECT_FALSE(sizes.equal());
}

TEST(ChunkSizes, OfATransferAreTheSumOfItsChunksAlsoPastTheEndOfTheRow) {
  for (const Chunk chunk : {0, 2, 4}) {
    const Schedule schedule = built(Operation::allgather, "ring", 5);
    const ChunkSizes sizes(Bytes(13), schedule);
    const Phase phase{"any", {}};
    const Transfer transfer{0, 1, chunk, Action::copy, 3};
    Bytes sum;
    for_each_chunk(schedule, phase, transfer, [&](Chunk each) { sum += sizes[each]; });
    EXPECT_EQ(sizes.of(schedule, phase, transfer), sum);
    EXPECT_LE(sum, sizes.largest_run(3));
  }
}

TEST(ChunkSizes, OfABundleAreTheSumOfItsChunksInWhateverRowsAndColumns) {
  for (const auto& weights : {std::vector<double>{}, std::vector<double>{1, 0, 3, 2, 5, 1, 1, 4, 2}}) {
    Schedule schedule = built(Operation::alltoall, "pairwise", 3);
    schedule.weights = weights;
    const ChunkSizes sizes(Bytes(10), schedule);
    const Phase phase{.name = "any", .transfers = {}, .bundle = {{1, 0}, {2, 0}, {0, 1}, {1, 1}, {-1, 2}, {0, 0}}};
    const Transfer transfer{0, 1, 4, Action::copy};
    Bytes sum;
    for_each_chunk(schedule, phase, transfer, [&](Chunk each) { sum += sizes[each]; });
    EXPECT_EQ(sizes.of(schedule, phase, transfer), sum);
  }
}

TEST(NcclTree, IsTheOneOfItsSourceForEightRanks) {
  // Rank 0 above 4, 4 above 2 and 6, these above the odd ranks; the second is the first mirrored.
  EXPECT_EQ(nccl_tree(8, WhichTree::first).parent, (std::vector<int>{-1, 2, 4, 2, 0, 6, 4, 6}));
  EXPECT_EQ(nccl_tree(8, WhichTree::second).parent, (std::vector<int>{1, 3, 1, 7, 5, 3, 5, -1}));
}

TEST(NcclTree, NearlyHasInnerRanksOfOneTreeAsLeavesOfTheOther) {
  for (int n = 2; n <= 64; ++n) {
    const Tree first = nccl_tree(n, WhichTree::first);
    const Tree second = nccl_tree(n, WhichTree::second);
    int inner_of_both = 0;
    for (std::size_t r = 0; r < first.height.size(); ++r) {
      inner_of_both += first.height[r] > 0 && second.height[r] > 0 ? 1 : 0;
    }
    EXPECT_LE(inner_of_both, 1) << n << " ranks";
  }
}

}}  // namespace farandole::schedule_test
