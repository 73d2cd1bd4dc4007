// Long messages start when their receiver is ready for them, short ones when their sender is
// (simulate/message_clock.hpp).
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::rendezvous_test { namespace {

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};
constexpr Bytes never = Bytes::infinity();

Platform star_with(int ranks, Bytes rendezvous_from) {
  Platform platform = test::star(ranks, 1_GBps, 2_us);
  platform.transport.message.rendezvous_from = rendezvous_from;
  return platform;
}

RankTimes finish(Fidelity fidelity, const Schedule& schedule, const Platform& platform, Bytes size,
                 const RankTimes& start) {
  return make_collective_clock(fidelity, {schedule, platform, test::in_order(schedule.ranks)})
      ->completion_times(size, start);
}

/// Rank 1 sends to rank 0, then rank 2 does.
Schedule one_after_the_other() {
  return {Operation::barrier, "two sends", 3, 1, {{"first", {{1, 0, 0}}}, {"second", {{2, 0, 0}}}}};
}

TEST(Rendezvous, ALongMessageLeavesTheLinkToTheOneBeforeIt) {
  // Rank 2 is ready at once; its receiver is when it has what rank 1 sends.
  const double each = 2e-6 + 1e6 / 1e9;
  for (const Fidelity fidelity : all_fidelities) {
    const RankTimes end = finish(fidelity, one_after_the_other(), star_with(3, 1_MB), 1_MB, all_at(3, 0_s));
    EXPECT_NEAR(end[0], 2 * each, 1e-12) << name(fidelity);
    EXPECT_NEAR(end[1], each, 1e-12) << name(fidelity);
    EXPECT_NEAR(end[2], 2 * each, 1e-12) << name(fidelity);
  }
}

TEST(Rendezvous, AnEagerMessageSharesTheLinkWithTheOneBeforeIt) {
  const RankTimes end =
      finish(Fidelity::message, one_after_the_other(), star_with(3, 1_MB + 1_B), 1_MB, all_at(3, 0_s));
  for (const double moment : end) EXPECT_NEAR(moment, 2e-6 + 2 * 1e6 / 1e9, 1e-12);
}

TEST(Rendezvous, WaitsForAReceiverThatJoinsLate) {
  const Schedule one{Operation::barrier, "one send", 2, 1, {{"only", {{1, 0, 0}}}}};
  RankTimes start = RankTimes::Zero(2);
  start[0] = 0.5;
  for (const Fidelity fidelity : all_fidelities) {
    const RankTimes waits = finish(fidelity, one, star_with(2, 1_MB), 1_MB, start);
    EXPECT_NEAR(waits[0], 0.5 + 2e-6 + 1e-3, 1e-12) << name(fidelity);
    EXPECT_NEAR(waits[1], 0.5 + 2e-6 + 1e-3, 1e-12) << name(fidelity);
    const RankTimes eager = finish(fidelity, one, star_with(2, never), 1_MB, start);
    EXPECT_NEAR(eager[0], 0.5, 1e-12) << name(fidelity);
    EXPECT_NEAR(eager[1], 2e-6 + 1e-3, 1e-12) << name(fidelity);
  }
}

TEST(Rendezvous, OfAPipelineFindsTheReceiveOfTheNextSegmentPosted) {
  // 0 -> 1 -> 2 in four segments that take a on the first way and b = 4a on the second. Rank 1 enters round k + 1 when
  // it has passed on segment k - 1: at a, a + b, a + 2b. The receive of segment 3 is posted a round ahead, at a + b.
  const Schedule chain = find_algorithm(Operation::broadcast, "chain")->build([] {
    Shape shape(3);
    shape.segments = 4;
    return shape;
  }());
  Platform platform = star_with(3, Bytes(1));
  for (Link& link : platform.links) link.latency = 0_s;
  platform.links[5].capacity = 250_MBps;  // into rank 2
  const double a = 1e-3;
  for (const Fidelity fidelity : all_fidelities) {
    const RankTimes end = finish(fidelity, chain, platform, 4_MB, all_at(3, 0_s));
    EXPECT_NEAR(end[0], a + 4 * a + a, 1e-12) << name(fidelity);
    EXPECT_NEAR(end[2], a + 4 * 4 * a, 1e-12) << name(fidelity);
  }
}

TEST(Rendezvous, RecursiveDoublingOverAnOddRankIsThatOfItsRounds) {
  // Folding one rank in and out and six rounds, each of all data: ranks that are not folded do not send before.
  const Schedule schedule = find_algorithm(Operation::allreduce, "recursive_doubling")->build(65);
  for (const Fidelity fidelity : all_fidelities) {
    const double time = finish(fidelity, schedule, star_with(65, 64_KiB), 64_MiB, all_at(65, 0_s)).maxCoeff();
    EXPECT_NEAR(time, 8 * (2e-6 + 64 * 1048576 / 1e9), 1e-9) << name(fidelity);
  }
}

TEST(Rendezvous, OnAPlatformWithEagerSendsIsForLongMessages) {
  // Rank 0 sends to 1, then to 2: eager, it is done with both at once and they share its link; else one after the
  // other.
  const Schedule two{Operation::barrier, "two sends", 3, 1, {{"first", {{0, 1, 0}}}, {"second", {{0, 2, 0}}}}};
  Platform platform = star_with(3, never);
  platform.transport.eager_sends = true;
  const RankTimes eager = finish(Fidelity::message, two, platform, 1_MB, all_at(3, 0_s));
  EXPECT_NEAR(eager[1], 2e-6 + 2e-3, 1e-12);
  platform.transport.message.rendezvous_from = 1_MB;
  const RankTimes waits = finish(Fidelity::message, two, platform, 1_MB, all_at(3, 0_s));
  EXPECT_NEAR(waits[1], 2e-6 + 1e-3, 1e-12);
  EXPECT_NEAR(waits[2], 2 * (2e-6 + 1e-3), 1e-12);
}

}}  // namespace farandole::rendezvous_test
