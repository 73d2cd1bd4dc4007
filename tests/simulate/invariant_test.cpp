// The laws every collective is held to while it runs.
#include "simulate/invariant.hpp"

#include <gtest/gtest.h>

#include "simulate/collective_clock.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::invariant_test { namespace {

using test::in_order;
using test::star;

TEST(Bounds, AreTheDeeperOfLatencyAndBandwidth) {
  // 8 ranks: a message of 2 us; 2 * 7/8 * M / B.
  const CollectiveBounds bounds = bounds_of(RoutedSchedule(ring_allreduce(8), star(8, 1_GBps, 2_us), in_order(8)));
  EXPECT_NEAR(bounds.least_time(1_B).si(), 2e-6, 1e-15);
  EXPECT_NEAR(bounds.least_time(8_GB).si(), 14, 1e-9);
}

TEST(Bounds, TheRingMeetsTheBandwidthBoundAsLatencyVanishes) {
  const Platform platform = star(16, 1_GBps, 0_s);
  const CollectiveBounds bounds = bounds_of(RoutedSchedule(ring_allreduce(16), platform, in_order(16)));
  EXPECT_NEAR(test::ring_time(Fidelity::message, platform, 16, 16_MB) / bounds.least_time(16_MB), 1, 1e-9);
}

TEST(CollectiveClock, RefusesATimeBelowTheBound) {
  // A "ring" of one round over four ranks reduces nothing; the bound notices that it was too fast.
  Schedule cheat = ring_allreduce(4);
  cheat.phases.pop_back();
  cheat.phases[0].repeats = 1;
  const auto clock =
      make_collective_clock(Fidelity::analytic, RoutedSchedule(cheat, star(4, 1_GBps, 1_us), in_order(4)));
  EXPECT_THROW(clock->completion_times(4_MB, all_at(4, 0_s)), InvariantError);
}

TEST(CollectiveClock, OneRankAndNoBytesTakeNoTime) {
  const auto alone =
      make_collective_clock(Fidelity::message, RoutedSchedule(ring_allreduce(1), star(1, 1_GBps, 1_us), in_order(1)));
  EXPECT_EQ(alone->completion_times(1_MB, all_at(1, 5_s))[0], 5);
  const auto nothing =
      make_collective_clock(Fidelity::flow, RoutedSchedule(ring_allreduce(4), star(4, 1_GBps, 1_us), in_order(4)));
  EXPECT_EQ(nothing->completion_times(0_B, all_at(4, 5_s))[2], 5);
}

}}  // namespace farandole::invariant_test
