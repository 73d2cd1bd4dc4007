// Adasum's schedules: every contribution once, and every chunk combined by one and the same tree of neighbours.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/rings.hpp"
#include "collective/carry_out.hpp"
#include "collective/proof.hpp"

namespace farandole::adasum_test { namespace {

/// What became of a chunk: which ranks are in, lowest first, and how they were combined.
struct Tree {
  int first = 0;
  std::string text;
};

Tree combined(const Tree& a, const Tree& b) {
  const bool in_order = a.first < b.first;
  return {std::min(a.first, b.first), "(" + (in_order ? a : b).text + " " + (in_order ? b : a).text + ")"};
}

/// The trees of all chunks of all ranks, each once.
std::set<std::string> trees(const Schedule& schedule) {
  std::map<std::pair<int, Chunk>, Tree> cells;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) cells[{rank, chunk}] = {rank, std::to_string(rank)};
  }
  apply_all(
      schedule,
      [&](int rank, Chunk chunk) {
        return cells.at({rank, chunk});
      },
      [&](int rank, Chunk chunk, const Tree& value, Action action) {
        Tree& cell = cells.at({rank, chunk});
        cell = action == Action::reduce ? combined(cell, value) : value;
      });
  std::set<std::string> found;
  for (const auto& [place, tree] : cells) found.insert(tree.text);
  return found;
}

TEST(Adasum, CombinesAllChunksOfAllRanksByTheSameTreeNeighboursFirst) {
  EXPECT_THAT(trees(adasum_allreduce(4)), testing::ElementsAre("((0 1) (2 3))"));
  EXPECT_THAT(trees(adasum_allreduce(8)), testing::ElementsAre("(((0 1) (2 3)) ((4 5) (6 7)))"));
  // Two beyond a power of two: they go with their neighbours first.
  EXPECT_THAT(trees(adasum_allreduce(6)), testing::ElementsAre("(((0 1) (2 3)) (4 5))"));
  for (int n = 1; n <= 40; ++n) EXPECT_EQ(trees(adasum_allreduce(n)).size(), 1U) << n << " ranks";
}

TEST(Adasum, CannotGoAroundARingWhichCombinesEveryChunkInAnotherOrder) {
  EXPECT_EQ(trees(ring_allreduce(4)).size(), 4U);
}

TEST(Adasum, SendsWhatHalvingAndDoublingDo) {
  // log2 8 rounds there and back; 7/8 of the data each way, half of it to the neighbour.
  const Schedule schedule = adasum_allreduce(8);
  EXPECT_EQ(rounds(schedule), 6);
  std::vector<int> counts;
  for (const Phase& phase : schedule.phases) {
    for (const Transfer& transfer : phase.transfers) {
      EXPECT_EQ(transfer.count, phase.transfers.front().count) << phase.name;
    }
    counts.push_back(phase.transfers.front().count);
  }
  EXPECT_THAT(counts, testing::ElementsAre(4, 2, 1, 1, 2, 4));
  EXPECT_EQ(schedule.phases.front().transfers.front().to, 1);
}

TEST(Adasum, WithinNodesSumsFirst) {
  // Three nodes of two: a ring of two in the node; node 1 takes node 0 in, and meets node 2.
  Shape shape(6);
  shape.ranks_per_node = 2;
  const Schedule schedule = hierarchical_adasum_allreduce(shape);
  std::vector<std::string> phases;
  for (const Phase& phase : schedule.phases) phases.push_back(phase.name);
  EXPECT_THAT(phases, testing::ElementsAre("reduce_scatter_in_line", "fold", "halving", "doubling", "unfold",
                                           "allgather_in_line"));
  for (const std::string& tree : trees(schedule)) EXPECT_EQ(tree, "(((0 1) (2 3)) (4 5))");
  EXPECT_EQ(disprove(schedule), std::nullopt);
}

}}  // namespace farandole::adasum_test
