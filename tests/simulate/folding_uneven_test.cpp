// Chunks that differ by a byte: folded only where the makespan is proved to be that of the longest everywhere.
#include <gtest/gtest.h>

#include "simulate/folding/pace.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole {
namespace {

using test::in_order;
using test::star;

RoutedSchedule ring_on(const Platform& platform, int ranks) {
  return {ring_allreduce(ranks), platform, in_order(ranks)};
}

TEST(Pace, OfARingOnAStarIsItsLongestChunk) {
  for (const int ranks : {2, 3, 8, 33})
    EXPECT_TRUE(is_paced_by_longest_chunk(ring_on(star(ranks, 1_GBps, 1_us), ranks)));
}

TEST(Pace, IsNotKnownWhereLinksAreShared) {
  EXPECT_FALSE(is_paced_by_longest_chunk(ring_on(test::half_duplex(star(4, 1_GBps, 1_us)), 4)));
  const Platform nodes = test::two_level(2, 2, 1_GBps, 100_MBps);
  EXPECT_FALSE(is_paced_by_longest_chunk({ring_allreduce(4), nodes, Placement{{0, 2, 1, 3}, 2}}));
}

TEST(Pace, IsNotKnownWhereHopsDiffer) {
  EXPECT_FALSE(is_paced_by_longest_chunk(ring_on(test::two_level(2, 2, 1_GBps, 100_MBps), 4)));
}

TEST(Pace, IsNotKnownWhereTheLongestChunkRests) {
  Schedule schedule = ring_allreduce(4);
  schedule.phases[1].transfers[0].chunk = 1;  // where rank 0 should have sent chunk 0 on
  EXPECT_FALSE(is_paced_by_longest_chunk({schedule, star(4, 1_GBps, 1_us), in_order(4)}));
}

TEST(UnevenChunks, OfARingOnAStarFoldToTheSameMakespan) {
  for (int n = 2; n <= 33; ++n) {
    for (const double bytes : {1.0, n - 1.0, n + 1.0, 12'345.0 * n + n / 2, 1'000'003.0}) {
      const RoutedSchedule routed = ring_on(star(n, 25_Gbps, 2_us), n);
      const RankTimes start = all_at(n, 0_s);
      const RankTimes unfolded = MessageClock(routed).finish(Bytes(bytes), start);
      const auto clock = make_collective_clock(Fidelity::message, routed);
      const RankTimes folded = clock->finish(Bytes(bytes), start);
      EXPECT_TRUE(clock->folded());
      EXPECT_NEAR(folded.maxCoeff() / unfolded.maxCoeff(), 1, 1e-12) << n << " ranks, " << bytes << " bytes";
      // Single ranks: the last byte of every round at most.
      EXPECT_LE((folded - unfolded).maxCoeff(), 2.0 * (n - 1) / (25_Gbps).si() + (bytes < n ? 1 : 0))
          << n << ", " << bytes;
    }
  }
}

TEST(UnevenChunks, AreSentOneByOneWhereSomeStartLate) {
  const RoutedSchedule routed = ring_on(star(8, 1_GBps, 1_us), 8);
  RankTimes start = all_at(8, 0_s);
  for (int rank = 0; rank < 8; rank += 2) start[rank] = 1e-3;
  RankTimes folded;
  {
    const auto clock = make_collective_clock(Fidelity::message, routed);
    folded = clock->finish(8001_B, start);
    EXPECT_FALSE(clock->folded());
    clock->finish(8000_B, start);
    EXPECT_TRUE(clock->folded());
  }
  EXPECT_LT((folded - MessageClock(routed).finish(8001_B, start)).abs().maxCoeff(), 1e-15);
}

TEST(UnevenChunks, AreSentOneByOneWhereLinksAreShared) {
  const auto clock = make_collective_clock(Fidelity::message, ring_on(test::leaf_spine(2, 2, 2, 1_GBps, 1_GBps), 8));
  clock->finish(8001_B, all_at(8, 0_s));
  EXPECT_FALSE(clock->folded());
  clock->finish(8000_B, all_at(8, 0_s));
  EXPECT_TRUE(clock->folded());
}

}  // namespace
}  // namespace farandole
