// What folds into how many classes, what the folded network looks like, and which clocks fold when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/folding/fold.hpp"
#include "simulate/folding/folded_message_clock.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::folding_test { namespace {

using test::in_order;
using test::star;
using testing::ElementsAre;

Folding folded_ring(const Platform& platform, const Placement& placement) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  return fold(RoutedSchedule(ring_allreduce(ranks), platform, placement));
}

TEST(Folding, OfARingOnAStarIsOneRankThatSendsToItself) {
  for (const int ranks : {2, 3, 64, 1000}) {
    const Folding folding = folded_ring(star(ranks, 25_Gbps, 2_us), in_order(ranks));
    const Schedule& quotient = folding.quotient.schedule();
    EXPECT_EQ(quotient.ranks, 1);
    ASSERT_EQ(quotient.phases.size(), 2U);
    for (const Phase& phase : quotient.phases) {
      ASSERT_EQ(phase.transfers.size(), 1U);
      EXPECT_EQ(phase.transfers[0].from, 0);
      EXPECT_EQ(phase.transfers[0].to, 0);
      EXPECT_EQ(phase.repeats, ranks - 1);
    }
  }
}

TEST(Folding, OfARingOnALeafSpineHasAClassForEachPlaceInALeaf) {
  // 32 leaves of 16 nodes of 8 devices, 2:1: rank r is alike to rank r + 128.
  const Platform platform = test::leaf_spine(32, 16, 8, 1_GBps, 8_GBps);
  const Folding folding = folded_ring(platform, in_order(4096));
  EXPECT_EQ(folding.quotient.schedule().ranks, 128);
  for (std::size_t rank = 0; rank < 4096; ++rank) ASSERT_EQ(folding.class_of_rank[rank], static_cast<int>(rank % 128));
}

TEST(Folding, OfAnExchangeByBitsOnALeafSpineIsOneRank) {
  const Platform platform = test::leaf_spine(4, 4, 4, 1_GBps, 2_GBps);
  EXPECT_EQ(fold(RoutedSchedule(test::exchange_by_bits(64), platform, in_order(64))).quotient.schedule().ranks, 1);
}

TEST(Folding, KeepsApartWhatStartsApart) {
  const RoutedSchedule routed(test::all_at_once(6), star(6, 1_GBps, 1_us), in_order(6));
  RankTimes start(6);
  start << 0, 1, 0, 1, 0, 2;
  EXPECT_THAT(fold(routed, start).class_of_rank, ElementsAre(0, 1, 0, 1, 0, 2));
}

TEST(Folding, OneDifferentLinkOfARingTellsAllRanksApart) {
  Platform platform = star(8, 1_GBps, 1_us);
  platform.links[6].capacity = 2_GBps;
  const Folding folding = folded_ring(platform, in_order(8));
  EXPECT_EQ(folding.quotient.schedule().ranks, 8);
  EXPECT_FALSE(folding.is_worthwhile());
}

TEST(Folding, DividesALinkByTheTransfersOfAClassThatShareIt) {
  // Ranks 0 and 2 on node 0, 1 and 3 on node 1: each NIC carries two flows of the one class each way.
  const Platform platform = test::two_level(2, 2, 1_GBps, 100_MBps);
  const Folding folding = folded_ring(platform, Placement{{0, 2, 1, 3}, 2});
  ASSERT_EQ(folding.quotient.schedule().ranks, 1);
  EXPECT_THAT(folding.quotient.capacities(), testing::UnorderedElementsAre(50_MBps, 1_GBps));
  const RankTimes end = MessageClock(folding.quotient).completion_times(4_MB, all_at(1, 0_s));
  EXPECT_NEAR(end[0], 6 * 0.02, 1e-12);
}

TEST(Folding, ListsALinkAsOftenAsTransfersOfAClassCrossIt) {
  // Ranks 0 to 2 share a cable of 6 GB/s to rank 3. The third starts late and is a class of its own: k = 2 and 1.
  Platform platform = star(2, 6_GBps, 0_s);
  platform.devices_per_node = platform.node.devices = 3;
  platform.node.nics_of_device.assign(3, {0});
  platform.node.to_nic.assign(3, {{0}});
  platform.node.from_nic.assign(3, {{1}});
  const Schedule gather = test::schedule_of("gather", 4, {{"gather", {{0, 3, 0}, {1, 3, 1}, {2, 3, 2}}, 1, 0}});
  RankTimes start(4);
  start << 0, 0, 1e-3, 0;
  const RoutedSchedule routed(gather, platform, in_order(4));
  const Folding folding = fold(routed, start);
  ASSERT_EQ(folding.quotient.schedule().ranks, 3);
  EXPECT_THAT(folding.quotient.legs(0)[0].links, testing::SizeIs(2));  // up and down are one class
  EXPECT_THAT(folding.quotient.legs(0)[1].links, testing::SizeIs(1));
  // 12 MB each: 3 MB of two at 3 GB/s, then 9 MB of all three at 2 GB/s, then 3 MB alone at 6 GB/s.
  const RankTimes end =
      folding.of_ranks(MessageClock(folding.quotient).completion_times(48_MB, folding.of_classes(start)));
  EXPECT_NEAR(end[0], 1e-3 + 4.5e-3, 1e-12);
  EXPECT_NEAR(end[1], 1e-3 + 4.5e-3, 1e-12);
  EXPECT_NEAR(end[2], 1e-3 + 4.5e-3 + 0.5e-3, 1e-12);
}

TEST(FoldedClock, CarriesRepeatsThatAreAllAlikeAtOnce) {
  // A thousand million rounds of two ranks: 2 us + 1 MB / 1 GB/s each.
  Schedule long_ring = ring_allreduce(2);
  for (Phase& phase : long_ring.phases) phase.repeats = 500'000'000;
  const RoutedSchedule routed(long_ring, star(2, 1_GBps, 2_us), in_order(2));
  FoldedMessageClock clock(routed, {});
  EXPECT_NEAR(clock.completion_times(2_MB, all_at(2, 0_s))[0] / (1e9 * 1.002e-3), 1, 1e-12);
}

class FoldedClocks : public testing::TestWithParam<Fidelity> {
 protected:
  static std::unique_ptr<CollectiveClock> clock(const RoutedSchedule& routed, FoldingPolicy policy) {
    return make_collective_clock(GetParam(), routed, policy);
  }
};

TEST_P(FoldedClocks, AgreeWithUnfoldedOnesAtEveryFidelity) {
  const Platform platform = test::leaf_spine(4, 2, 2, 1_GBps, 1_GBps);
  const RoutedSchedule routed(ring_allreduce(16), platform, in_order(16));
  RankTimes late = all_at(16, 0_s);
  for (int rank = 0; rank < 16; rank += 4) late[rank] = 5e-3;
  for (const RankTimes& start : {all_at(16, 3_s), late}) {
    RankTimes folded;
    {
      const auto with = clock(routed, FoldingPolicy::where_exact);
      const Answer answer = with->answer(16_MB, start);
      folded = answer.ends;
      EXPECT_TRUE(answer.provenance.folded);
    }
    const auto without = clock(routed, FoldingPolicy::never);
    const Answer unfolded = without->answer(16_MB, start);
    EXPECT_LT((folded / unfolded.ends - 1).abs().maxCoeff(), 1e-12);
    EXPECT_FALSE(unfolded.provenance.folded);
  }
}

TEST_P(FoldedClocks, SayThatNothingFoldsWhereNoTwoRanksAreAlike) {
  Platform platform = star(8, 1_GBps, 1_us);
  platform.links[0].capacity = 500_MBps;
  const auto clock = this->clock(RoutedSchedule(ring_allreduce(8), platform, in_order(8)), FoldingPolicy::where_exact);
  EXPECT_FALSE(clock->answer(8_MB, all_at(8, 0_s)).provenance.folded);
}

INSTANTIATE_TEST_SUITE_P(All, FoldedClocks, testing::Values(Fidelity::analytic, Fidelity::flow, Fidelity::message),
                         [](const auto& fidelity) { return name(fidelity.param); });

}}  // namespace farandole::folding_test
