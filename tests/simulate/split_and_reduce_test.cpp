// Routes that are split over paths, and what reducing costs, at every fidelity against closed forms.
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::split_and_reduce_test { namespace {

using test::in_order;
using test::star;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};
constexpr std::array both_policies{FoldingPolicy::where_exact, FoldingPolicy::never};

RankTimes finish(Fidelity fidelity, FoldingPolicy policy, const Schedule& schedule, const Platform& platform,
                 Bytes size, const RankTimes& start) {
  return make_collective_clock(fidelity, RoutedSchedule(schedule, platform, in_order(schedule.ranks)), policy)
      ->completion_times(size, start);
}

Schedule algorithm(Operation operation, const char* name, int ranks) {
  return find_algorithm(operation, name)->build(Shape(ranks));
}

void expect_everywhere(const Schedule& schedule, const Platform& platform, Bytes size, double expected) {
  for (const Fidelity fidelity : all_fidelities) {
    for (const FoldingPolicy policy : both_policies) {
      const double time = finish(fidelity, policy, schedule, platform, size, all_at(schedule.ranks, 0_s)).maxCoeff();
      EXPECT_NEAR(time / expected, 1, 1e-9) << name(fidelity);
    }
  }
}

TEST(SplitRoutes, CarryWhatAllTheirPathsCarryTogether) {
  // 4 leaves of one node, 3 spines of 100 MB/s below NICs of 1 GB/s: a hop of the ring gets 300 MB/s. 6 us of links.
  const Platform platform = test::split_leaf_spine(4, 1, 1, 1_GBps, 100_MBps, 3);
  const double alpha =
      finish(Fidelity::message, FoldingPolicy::never, ring_allreduce(4), platform, 4_B, all_at(4, 0_s)).maxCoeff() / 6 -
      1 / 300e6;
  expect_everywhere(ring_allreduce(4), platform, 12_MB, 6 * (alpha + 3e6 / 300e6));
  EXPECT_NEAR(alpha, platform.route(0, 1).latency.si(), 1e-12);
}

TEST(SplitRoutes, ShareTheLinksOfTheirPathsWithAllThatCrossThem) {
  // Two nodes a leaf, shuffled so that every hop leaves its leaf: two senders on each leaf's 2 x 100 MB/s.
  const Platform platform = test::split_leaf_spine(2, 2, 1, 1_GBps, 100_MBps, 2);
  const Placement alternating{{0, 2, 1, 3}, 4};
  const double alpha = platform.route(0, 2).latency.si();
  for (const Fidelity fidelity : all_fidelities) {
    const auto clock = make_collective_clock(fidelity, RoutedSchedule(ring_allreduce(4), platform, alternating));
    EXPECT_NEAR(clock->completion_times(4_MB, all_at(4, 0_s)).maxCoeff(), 6 * (alpha + 1e6 / 100e6), 1e-12)
        << name(fidelity);
  }
}

TEST(SplitRoutes, BoundARankByTheLinkThatAllPathsCross) {
  const Platform platform = test::split_leaf_spine(4, 1, 1, 1_GBps, 100_MBps, 3);
  const CollectiveBounds bounds = bounds_of({ring_allreduce(4), platform, in_order(4)});
  EXPECT_EQ(bounds.injection, 4_GBps);  // the bus, not the three ways up
}

TEST(Reducing, AddsItsTimeToEveryRoundOfARingsFirstHalf) {
  // T = 2 (n-1) (alpha + M / (n B)) + (n-1) M / (n R)
  for (const int n : {2, 3, 8, 32}) {
    Platform platform = star(n, 1_GBps, 2_us);
    platform.transport.reduce_rate = 4_GBps;
    const double chunk = 250'000;
    expect_everywhere(ring_allreduce(n), platform, Bytes(chunk * n),
                      2 * (n - 1) * (2e-6 + chunk / 1e9) + (n - 1) * chunk / 4e9);
  }
}

TEST(Reducing, OfAllThatArrivesAtOnceGoesOneAfterTheOther) {
  // Direct reduce-scatter: n-1 blocks of M/n share the link in, then are reduced: alpha + (n-1) M/n (1/B + 1/R).
  Platform platform = star(8, 1_GBps, 2_us);
  platform.transport.reduce_rate = 2_GBps;
  expect_everywhere(algorithm(Operation::reduce_scatter, "direct", 8), platform, 8_MB,
                    2e-6 + 7 * 1e6 * (1 / 1e9 + 1 / 2e9));
}

TEST(Reducing, CostsNothingWhereNothingIsReduced) {
  Platform platform = star(8, 1_GBps, 2_us);
  platform.transport.reduce_rate = 1_MBps;
  expect_everywhere(algorithm(Operation::allgather, "ring", 8), platform, 8_MB, 7 * (2e-6 + 1e6 / 1e9));
}

TEST(Reducing, MakesTheWholeVectorsOfRecursiveDoublingDear) {
  // log2(n) rounds of the whole: log2(n) (alpha + M/B + M/R).
  Platform platform = star(8, 1_GBps, 2_us);
  platform.transport.reduce_rate = 2_GBps;
  expect_everywhere(algorithm(Operation::allreduce, "recursive_doubling", 8), platform, 8_MB,
                    3 * (2e-6 + 8e6 / 1e9 + 8e6 / 2e9));
}

TEST(Reducing, IsTheSameInTheRecurrenceAsMessageByMessageWithLateRanks) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test::Random random(seed);
    const int n = test::draw(random, 2, 8);
    Platform platform = star(n, 1_GBps, 1_us);
    for (Link& link : platform.links) link.capacity = BytesPerSecond(1e6 * test::draw(random, 1, 50));
    platform.transport.reduce_rate = BytesPerSecond(1e6 * test::draw(random, 1, 50));
    RankTimes start(n);
    for (int rank = 0; rank < n; ++rank) start[rank] = 1e-5 * test::draw(random, 0, 1000);
    const Bytes size(n * static_cast<double>(test::draw(random, 1, 5000)));
    const RankTimes messages =
        finish(Fidelity::message, FoldingPolicy::never, ring_allreduce(n), platform, size, start);
    const RankTimes recurrence =
        finish(Fidelity::analytic, FoldingPolicy::never, ring_allreduce(n), platform, size, start);
    EXPECT_LT((messages - recurrence).abs().maxCoeff(), 1e-11) << "seed " << seed;
  }
}

}}  // namespace farandole::split_and_reduce_test
