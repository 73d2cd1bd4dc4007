// What no two messages meet in is carried without a simulator: the same moments as message by message, or no answer.
#include "simulate/message_recurrence.hpp"

#include <gtest/gtest.h>

#include "simulate/random_kit.hpp"

namespace farandole::message_recurrence_test { namespace {

using test::in_order;
using test::Random;

RankTimes late_starts(Random& random, int ranks) {
  RankTimes start(ranks);
  for (double& moment : start) moment = 1e-6 * test::draw(random, 0, 900);
  return start;
}

RoutedSchedule on_a_star(const Schedule& schedule) {
  return {schedule, test::star(schedule.ranks, 25_Gbps, 2_us), in_order(schedule.ranks)};
}

double largest_difference(const RankTimes& one, const RankTimes& other) {
  return ((one - other).abs() / other.max(1e-9)).maxCoeff();
}

/// Sends every message where an answer is given, and compares.
bool is_answered_rightly(const RoutedSchedule& routed, Bytes size, const RankTimes& start) {
  const auto answer = MessageRecurrence(routed).completion_times(size, start);
  if (!answer) return false;
  EXPECT_LT(largest_difference(*answer, MessageClock(routed).completion_times(size, start)), 1e-12)
      << routed.schedule().algorithm << ", " << routed.schedule().ranks << " ranks, " << size.si() << " bytes";
  return true;
}

TEST(MessageRecurrence, CarriesARingOnAStarWhoeverStartsWhenWithAnyNumberOfBytes) {
  Random random(1);
  for (int n = 2; n <= 33; ++n) {
    for (const double bytes : {1.0, n - 1.0, n + 1.0, 12'345.0 * n, 12'345.0 * n + n / 2, 1'000'003.0}) {
      EXPECT_TRUE(is_answered_rightly(on_a_star(ring_allreduce(n)), Bytes(bytes), late_starts(random, n))) << n;
    }
  }
}

/// With latency ranks are apart by more than the byte by which their chunks differ, so that nothing meets on a star.
TEST(MessageRecurrence, CarriesWhatEveryAlgorithmSendsOneAtATimeOnAStar) {
  for (const char* name :
       {"ring", "segmented_ring", "torus", "hierarchical", "recursive_doubling", "halving_doubling"}) {
    Shape shape(16);
    shape.ranks_per_node = 4;
    const Schedule schedule = find_algorithm(Operation::allreduce, name)->build(shape);
    EXPECT_TRUE(is_answered_rightly(on_a_star(schedule), 1'000'003_B, all_at(16, Seconds(0)))) << name;
  }
}

TEST(MessageRecurrence, CountsTheTimeToReduce) {
  Random random(2);
  Platform platform = test::star(9, 25_Gbps, 2_us);
  platform.transport.reduce_rate = 1_GBps;
  const RoutedSchedule routed(ring_allreduce(9), platform, in_order(9));
  EXPECT_TRUE(is_answered_rightly(routed, 1'000'003_B, late_starts(random, 9)));
  EXPECT_TRUE(is_answered_rightly(routed, 900'000_B, late_starts(random, 9)));
}

/// Two rings side by side, of the same chunks.
Schedule twice(Schedule schedule) {
  for (Phase& phase : schedule.phases) {
    const auto ring = phase.transfers;
    for (Transfer transfer : ring) {
      transfer.from += schedule.ranks;
      transfer.to += schedule.ranks;
      phase.transfers.push_back(transfer);
    }
  }
  schedule.ranks *= 2;
  return schedule;
}

/// From one long chunk to one short one, and with a byte in some chunks only.
TEST(MessageRecurrence, CarriesChunksThatDifferByAByteAroundRings) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const int n = test::draw(random, 2, 24);
    Platform platform = test::star(2 * n, 25_Gbps, 2_us);
    platform.transport.reduce_rate = 1_GBps * test::draw(random, 1, 9);
    const Bytes size(test::draw(random, 0, 2) * 100'000.0 * n + test::draw(random, 1, 2 * n));
    for (const Schedule& schedule : {ring_allreduce(n), twice(ring_allreduce(n))}) {
      const RoutedSchedule routed(schedule, platform, in_order(schedule.ranks));
      EXPECT_TRUE(is_answered_rightly(routed, size, late_starts(random, schedule.ranks))) << i;
    }
  }
}

TEST(MessageRecurrence, HasNoAnswerWhereMessagesMeet) {
  const Schedule schedule = test::all_at_once(4);
  EXPECT_FALSE(MessageRecurrence(on_a_star(schedule)).completion_times(4000_B, all_at(4, Seconds(0))));
  const RoutedSchedule shared(ring_allreduce(4), test::half_duplex(test::star(4, 1_GBps, 1_us)), in_order(4));
  EXPECT_FALSE(MessageRecurrence(shared).completion_times(4001_B, all_at(4, Seconds(0))));
}

/// On any platform, of any algorithm of the catalogue and some odd ones: right, or no answer.
TEST(MessageRecurrence, IsNeverWrong) {
  int answered = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    Random random(seed);
    const test::Case drawn = test::draw_case(random);
    const Bytes size = drawn.size + Bytes(test::draw(random, 0, 7));
    const RankTimes start =
        test::draw(random, 0, 1) == 0 ? drawn.start : late_starts(random, drawn.routed.schedule().ranks);
    answered += is_answered_rightly(drawn.routed, size, start) ? 1 : 0;
  }
  EXPECT_GT(answered, 100);
}

}}  // namespace farandole::message_recurrence_test
