// Collectives at the same time: sharing links, and not.
#include <map>

#include <gtest/gtest.h>

#include "engine/company_kit.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::company_test { namespace {

using test::in_order;
using test::star;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

/// Ends of collectives that are all asked for before anything runs.
std::map<int, RankTimes> ends_of(test::Meeting& clock) {
  std::map<int, RankTimes> ends;
  clock.run([&](int tag, const RankTimes& of_ranks) { ends[tag] = of_ranks; });
  return ends;
}

double ring(int n, double alpha, double chunk_seconds) {
  return 2.0 * (n - 1) * (alpha + chunk_seconds);
}

TEST(Company, TwoEqualRingsTakeWhatOneOfTwiceTheTransfersTakes) {
  // T = 2 (n-1) (alpha + 2 M / (n B))
  const Platform platform = star(8, 1_GBps, 2_us);
  const RoutedSchedule routed(ring_allreduce(8), platform, in_order(8));
  for (const Fidelity fidelity : all_fidelities) {
    test::Meeting clock(fidelity, platform, {routed});
    clock.start(0, 8_MB, all_at(8, 0_s), 1);
    clock.start(0, 8_MB, all_at(8, 0_s), 2);
    for (const auto& [tag, ends] : ends_of(clock)) {
      EXPECT_NEAR(ends.maxCoeff() / ring(8, 2e-6, 2e-3), 1, 1e-9) << name(fidelity) << ", " << tag;
    }
  }
}

TEST(Company, ACollectiveAloneTakesWhatItsClockSays) {
  const Platform platform = test::leaf_spine(2, 2, 2, 1_GBps, 1_GBps);
  for (const Algorithm& row : algorithms()) {
    const Schedule schedule = row.build(Shape(8));
    const RoutedSchedule routed(schedule, platform, in_order(8));
    RankTimes start = all_at(8, 1_s);
    start[3] = 1.001;
    for (const Fidelity fidelity : all_fidelities) {
      const RankTimes alone = make_collective_clock(fidelity, routed)->completion_times(Bytes(800e3), start);
      test::Meeting clock(fidelity, platform, {routed});
      clock.start(0, Bytes(800e3), start, 7);
      const auto ends = ends_of(clock);
      EXPECT_LT((ends.at(7) - alone).abs().maxCoeff(), 1e-9) << row.name << ", " << name(fidelity);
    }
  }
}

TEST(Company, RingsThatShareNoLinkDoNotDisturbEachOther) {
  // Ranks 0 to 3 of one job and 4 to 7 of another, on one star.
  const Platform platform = star(8, 1_GBps, 2_us);
  const RoutedSchedule first(ring_allreduce(4), platform, {{0, 1, 2, 3}, 4});
  const RoutedSchedule second(ring_allreduce(4), platform, {{4, 5, 6, 7}, 4});
  for (const Fidelity fidelity : all_fidelities) {
    test::Meeting clock(fidelity, platform, {first, second});
    clock.start(0, 4_MB, all_at(4, 0_s), 0);
    clock.start(1, 8_MB, all_at(4, Seconds(1e-3)), 1);
    const auto ends = ends_of(clock);
    EXPECT_NEAR(ends.at(0).maxCoeff(), ring(4, 2e-6, 1e-3), 1e-9) << name(fidelity);
    EXPECT_NEAR(ends.at(1).maxCoeff(), 1e-3 + ring(4, 2e-6, 2e-3), 1e-9) << name(fidelity);
  }
}

TEST(Company, WhatStartsLaterSharesOnlyFromThenOn) {
  // Without latency a ring of M takes 2 (n-1) M / (n B) = 12 ms of the links; a second one joins after 6 ms: the first
  // has half left, which takes twice as long, until 18 ms; the second has 6 ms left then, until 24 ms.
  const Platform platform = star(4, 1_GBps, 0_s);
  const RoutedSchedule routed(ring_allreduce(4), platform, in_order(4));
  for (const Fidelity fidelity : all_fidelities) {
    test::Meeting clock(fidelity, platform, {routed});
    clock.start(0, 8_MB, all_at(4, 0_s), 0);
    clock.start(0, 8_MB, all_at(4, Seconds(6e-3)), 1);
    const auto ends = ends_of(clock);
    EXPECT_NEAR(ends.at(0).maxCoeff(), 18e-3, 1e-9) << name(fidelity);
    EXPECT_NEAR(ends.at(1).maxCoeff(), 24e-3, 1e-9) << name(fidelity);
  }
}

TEST(Company, WhatWasTakenOfALinkBeforeAnybodyCrossedItIsMissedByWhoDoes) {
  // Half of all links: T = 2 (n-1) M / (n B / 2).
  const Platform platform = star(4, 1_GBps, 0_s);
  const RoutedSchedule routed(ring_allreduce(4), platform, in_order(4));
  const auto took = [&](Fidelity fidelity, bool gives_back) {
    test::Meeting clock(fidelity, platform, {routed});
    for (int link = 0; std::cmp_less(link, platform.links.size()); ++link) {
      clock.company.take(link, BytesPerSecond(5e8));
      if (gives_back) clock.company.take(link, BytesPerSecond(-5e8));
    }
    clock.start(0, 8_MB, all_at(4, 0_s), 0);
    return ends_of(clock).at(0).maxCoeff();
  };
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_NEAR(took(fidelity, false), 24e-3, 1e-9) << name(fidelity);
    EXPECT_NEAR(took(fidelity, true), 12e-3, 1e-9) << name(fidelity);
  }
}

TEST(Company, ALoopMayStartTheNextWhenOneEnds) {
  const Platform platform = star(4, 1_GBps, 2_us);
  const RoutedSchedule routed(ring_allreduce(4), platform, in_order(4));
  for (const Fidelity fidelity : all_fidelities) {
    test::Meeting clock(fidelity, platform, {routed});
    std::vector<double> moments;
    clock.call_at(Seconds(1e-3), 100);
    clock.run([&](int tag, const RankTimes& ends) {
      moments.push_back(clock.now().si());
      EXPECT_EQ(ends.size(), tag == 100 ? 0 : 4);
      if (moments.size() < 3) clock.start(0, 4_MB, all_at(4, clock.now()), static_cast<int>(moments.size()));
    });
    ASSERT_EQ(moments.size(), 3U);
    EXPECT_NEAR(moments[0], 1e-3, 1e-12);
    EXPECT_NEAR(moments[1], 1e-3 + ring(4, 2e-6, 1e-3), 1e-9) << name(fidelity);
    EXPECT_NEAR(moments[2], 1e-3 + 2 * ring(4, 2e-6, 1e-3), 1e-9) << name(fidelity);
  }
}

}}  // namespace farandole::company_test
