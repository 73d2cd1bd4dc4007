// Ring allreduce at all three fidelities against its closed form.
//
//   T(n, M) = 2 (n-1) (alpha + M / (n B))        n ranks, M bytes, latency alpha, link rate B, n divides M
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms/rings.hpp"
#include "collective/algorithms/trees.hpp"
#include "simulate/random_kit.hpp"
#include "simulate/recurrence.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole::ring_time_test { namespace {

using test::in_order;
using test::ring_finish;
using test::ring_time;
using test::star;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

double closed_form(int n, double bytes, BytesPerSecond rate, Seconds latency) {
  return 2.0 * (n - 1) * (latency.si() + bytes / n / rate.si());
}

TEST(RingTime, IsTheClosedFormWhereTheRanksDivideTheBytes) {
  for (const Fidelity fidelity : all_fidelities) {
    for (int n = 2; n <= 64; ++n) {
      const auto clock = test::ring_clock(fidelity, star(n, 25_Gbps, 2_us), in_order(n));
      for (const double chunk : {1.0, 1000.0, 1'000'000.0}) {
        const double time = clock->completion_times(Bytes(chunk * n), all_at(n, 0_s)).maxCoeff();
        EXPECT_NEAR(time / closed_form(n, chunk * n, 25_Gbps, 2_us), 1, 1e-9)
            << n << " ranks, chunks of " << chunk << ", " << name(fidelity);
      }
    }
  }
}

TEST(RingTime, ElsewhereLiesWithinOneBytePerRoundAboveTheClosedForm) {
  // The longest chunk, less than a byte above M / n, travels through every round:
  //   T(n, M) <= T < T(n, M) + 2 (n-1) / B
  for (const int n : {3, 7, 12, 33, 64}) {
    for (const double bytes : {1e3 + 1, 1e6 + 7, 12'345'678.0}) {
      const double least = closed_form(n, bytes, 25_Gbps, 2_us);
      for (const Fidelity fidelity : all_fidelities) {
        const double time = ring_time(fidelity, star(n, 25_Gbps, 2_us), n, Bytes(bytes)).si();
        EXPECT_GE(time, least * (1 - 1e-12)) << n << " ranks, " << name(fidelity);
        EXPECT_LE(time, (least + 2.0 * (n - 1) / (25_Gbps).si()) * (1 + 1e-12)) << n << " ranks, " << name(fidelity);
      }
    }
  }
}

TEST(RingTime, OfFewerBytesThanRanksStillSendsEachByteAllTheWayRound) {
  // M = 3 bytes, n = 8: chunks of one byte and of none; a byte takes 2 (n-1) hops.
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_NEAR(ring_time(fidelity, star(8, 1_MBps, 1_us), 8, 3_B).si(), 14 * 2e-6, 1e-15) << name(fidelity);
  }
}

TEST(RingTime, IsSetByTheSlowestHop) {
  // Two nodes of two devices; buses 1 GB/s, NICs 100 MB/s: every round waits for the NIC.
  const Platform platform = test::two_level(2, 2, 1_GBps, 100_MBps);
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_NEAR(ring_time(fidelity, platform, 4, 4_MB).si(), 6 * 0.01, 1e-9) << name(fidelity);
  }
}

TEST(RingTime, SharesALinkThatTwoPairsUse) {
  // Ranks 0 and 2 on node 0, 1 and 3 on node 1: each NIC carries two flows each way at once.
  const Platform platform = test::two_level(2, 2, 1_GBps, 100_MBps);
  const Placement alternating{{0, 2, 1, 3}, 2};
  for (const Fidelity fidelity : all_fidelities) {
    const double time = ring_finish(fidelity, platform, alternating, 4_MB, all_at(4, 0_s)).maxCoeff();
    EXPECT_NEAR(time, 6 * 0.02, 1e-9) << name(fidelity);
  }
}

TEST(RingTime, CarriesLateRanksAlikeAtAllFidelities) {
  const Platform platform = star(6, 1_GBps, 3_us);
  RankTimes start(6);
  start << 0.5, 0.5001, 0.53, 0.5, 0.512, 0.5;
  const RankTimes analytic = ring_finish(Fidelity::analytic, platform, in_order(6), 6_MB, start);
  const RankTimes message = ring_finish(Fidelity::message, platform, in_order(6), 6_MB, start);
  for (int rank = 0; rank < 6; ++rank) EXPECT_NEAR(analytic[rank], message[rank], 1e-12);
  // Equal costs and n-1 rounds: everyone ends a ring's time after the last to join.
  EXPECT_NEAR(message[0], 0.53 + closed_form(6, 6e6, 1_GBps, 3_us), 1e-12);
}

RC_GTEST_PROP(RingTime, UnequalHopsAndLateRanksAgreeBetweenRecurrenceAndMessages, ()) {
  const int n = *rc::gen::inRange(2, 9);
  Platform platform = star(n, 1_GBps, 1_us);
  for (Link& link : platform.links) link.capacity = BytesPerSecond(*rc::gen::inRange(1, 50) * 1e6);
  RankTimes start(n);
  for (int rank = 0; rank < n; ++rank) start[rank] = *rc::gen::inRange(0, 1000) * 1e-5;
  const Bytes size(n * *rc::gen::inRange(1, 5000));
  const RankTimes analytic = ring_finish(Fidelity::analytic, platform, in_order(n), size, start);
  const RankTimes message = ring_finish(Fidelity::message, platform, in_order(n), size, start);
  RC_ASSERT((analytic - message).abs().maxCoeff() < 1e-11);
}

RC_GTEST_PROP(RingTime, MoreBandwidthIsNeverSlower, ()) {
  const int n = *rc::gen::inRange(2, 9);
  const Bytes size(*rc::gen::inRange(1, 1'000'000));
  const double rate = *rc::gen::inRange(1, 1000) * 1e6;
  for (const Fidelity fidelity : all_fidelities) {
    RC_ASSERT(ring_time(fidelity, star(n, BytesPerSecond(rate * 2), 1_us), n, size) <=
              ring_time(fidelity, star(n, BytesPerSecond(rate), 1_us), n, size));
  }
}

TEST(Recurrence, OfARingWithEqualCostsHasItsClosedForm) {
  // The shortcut against the rounds themselves: one cost differs by nothing but forces the long way.
  const Schedule ring = ring_allreduce(7);
  const Phase& phase = ring.phases[0];
  RankTimes start(7);
  start << 3, 1, 4, 1, 5, 9, 2;
  RankTimes shortcut = start;
  const Eigen::ArrayXd free = Eigen::ArrayXd::Zero(7);
  carry(shortcut, ring, phase, {Eigen::ArrayXd::Constant(7, 0.5), free});
  RankTimes rounds = start;
  Eigen::ArrayXd nearly = Eigen::ArrayXd::Constant(7, 0.5);
  nearly[3] = std::nextafter(0.5, 0);
  carry(rounds, ring, phase, {nearly, free});
  for (int rank = 0; rank < 7; ++rank) EXPECT_NEAR(shortcut[rank], rounds[rank], 1e-12);
  EXPECT_DOUBLE_EQ(shortcut[0], 9 + 6 * 0.5);
}

/// A few values, so that many are equal, as the links of a platform are.
Eigen::ArrayXd some_of(int count, const std::vector<double>& values) {
  Eigen::ArrayXd all(count);
  for (double& value : all) value = *rc::gen::elementOf(values);
  return all;
}

RC_GTEST_PROP(Recurrence, OfARingIsThatOfItsRoundsOneByOne, ()) {
  const int n = *rc::gen::inRange(2, 40);
  const Schedule ring = ring_allreduce(n);
  Phase phase = ring.phases[0];
  phase.repeats = *rc::gen::inRange(0, 3 * n);
  const std::vector<double> reducing = *rc::gen::element(std::vector<double>{0}, std::vector<double>{0, 0.5, 2});
  TransferCosts costs{some_of(n, {1, 1.5, 4}), some_of(n, reducing)};
  const std::vector<double> waits =
      *rc::gen::element(std::vector<double>{0}, std::vector<double>{1}, std::vector<double>{0, 1});
  costs.waits = some_of(n, waits) > 0;
  RankTimes at_once = some_of(n, {0, 1, 3, 40});
  RankTimes by_rounds = at_once;
  carry(at_once, ring, phase, costs);
  Repeats repeats(by_rounds, ring, phase);
  for (int repeat = 0; repeat < phase.repeats; ++repeat) repeats.carry_once(costs, every_transfer(phase));
  RC_ASSERT((at_once - by_rounds).abs().maxCoeff() < 1e-9);
}

RC_GTEST_PROP(Recurrence, OfAPipelineIsThatOfItsRoundsOneByOne, ()) {
  const int n = *rc::gen::inRange(2, 40);
  Shape shape(n);
  shape.segments = *rc::gen::inRange(1, 10);
  const Schedule pipeline = *rc::gen::arbitrary<bool>() ? chain_broadcast(shape) : double_tree_allreduce(shape);
  const Phase& phase = pipeline.phases[0];
  const auto transfers = static_cast<int>(phase.transfers.size());
  const RankTimes each = some_of(transfers, {1, 1.5, 4});
  const ChunkSizes sizes(Bytes(*rc::gen::inRange(0, 200)), pipeline);  // of a byte more or less
  const double waits_from = *rc::gen::element(0.0, 3.0, 1e9);
  const auto cost = [&](std::size_t index, Bytes bytes) {
    return std::pair(each[static_cast<Eigen::Index>(index)] + bytes.si(), bytes.si() >= waits_from);
  };
  RankTimes at_once = some_of(n, {0, 1, 3, 40});
  RankTimes by_rounds = at_once;
  KnownPhase(pipeline, phase, sizes, cost).carry(at_once);
  Repeats repeats(by_rounds, pipeline, phase);
  Participants participants(phase);
  for (int repeat = 0; repeat < phase.repeats; ++repeat) {
    const std::span<const std::size_t> taking = participants.in(repeat);
    TransferCosts costs = TransferCosts::of(std::ssize(taking), false);
    for_each_transfer(pipeline, phase, repeat, taking, [&](const Transfer& transfer, std::size_t place) {
      const auto t = static_cast<Eigen::Index>(place);
      std::tie(costs.sending[t], costs.waits[t]) = cost(taking[place], sizes.of(pipeline, phase, transfer));
    });
    repeats.carry_once(costs, taking);
  }
  RC_ASSERT((at_once - by_rounds).abs().maxCoeff() == 0);
}

TEST(Recurrence, AsksTheNetworkOnlyWhereLinksHaveNoRoomForAll) {
  // A chain over nodes of two: hops inside share nothing, and every NIC sends once and receives once. Late ranks,
  // chunks that differ by a byte; SimGrid, where it is asked for, is asked for every round.
  const Platform platform = test::two_level(4, 2, 1_GBps, 100_MBps);
  Shape shape(8);
  shape.segments = 4;
  const RankTimes start = RankTimes::LinSpaced(8, 0, 0.01).reverse();
  for (const Schedule& schedule : {chain_broadcast(shape), double_tree_allreduce(shape)}) {
    for (const Fidelity fidelity : {Fidelity::flow, Fidelity::message}) {
      const RoutedSchedule routed(schedule, platform, in_order(8));
      const auto ends = [&](const ClockOptions& options) {
        return make_collective_clock(fidelity, routed, options)->completion_times(4'000'003_B, start);
      };
      const RankTimes every_round = ends({FoldingPolicy::never, NetworkSolver::simgrid});
      const RankTimes own = ends({FoldingPolicy::where_exact, NetworkSolver::own});
      EXPECT_LT(((own - every_round) / every_round).abs().maxCoeff(), 1e-9) << schedule.algorithm << name(fidelity);
    }
  }
}

/// At `analytic`: where links have room for a whole pipeline, every round has the rates of being alone, so that what is
/// known at once is what its rounds take.
TEST(Recurrence, OfAPipelineWithRoomForAllHasInEveryRoundTheRatesOfBeingAlone) {
  test::Random random(12);
  int with_room = 0;
  for (int drawn = 0; drawn < 300; ++drawn) {
    const Platform platform = test::draw_platform(random);
    Shape shape(platform.devices());
    shape.segments = test::draw(random, 1, 6);
    const Schedule schedule = drawn % 2 == 0 ? chain_broadcast(shape) : double_tree_allreduce(shape);
    const RoutedSchedule routed(schedule, platform, in_order(shape.ranks));
    RoundRates rates(routed, Sharing::by_load, NetworkSolver::own);
    if (!rates.have_room(0)) continue;
    ++with_room;
    for (int repeat = 0; repeat < schedule.phases[0].repeats; ++repeat) {
      const std::span<const std::size_t> transfers = rates.transfers(0, repeat);
      const Eigen::ArrayXd taken = rates.of({0, repeat, transfers}).inverse_rate;
      for (std::size_t t = 0; t < transfers.size(); ++t) {
        const double alone = 1 / routed.legs(0)[transfers[t]].narrowest.si();
        EXPECT_NEAR(taken[static_cast<Eigen::Index>(t)] / alone, 1, 1e-9) << drawn;
      }
    }
    EXPECT_EQ(is_unshared_pipeline(routed, 0, Sharing::by_load, NetworkSolver::own),
              platform.transport.reduce_rate == BytesPerSecond::infinity() || drawn % 2 == 0);
  }
  EXPECT_GT(with_room, 30);
  EXPECT_LT(with_room, 270);
}

RC_GTEST_PROP(Recurrence, OfARingWhereStayingTakesFewValuesIsThatOfItsRoundsOneByOne, ()) {
  const int n = *rc::gen::inRange(1, 40);
  const int rounds = *rc::gen::inRange(0, 3 * n);
  const RingSteps steps{some_of(n, {1, 1.5, 4}), some_of(n, {0.5, 1, 1.5, 4, 6})};
  const RankTimes start = some_of(n, {0, 1, 3, 40});
  RankTimes by_rounds = start;
  for (int round = 0; round < rounds; ++round) {
    const RankTimes before = by_rounds;
    for (int rank = 0; rank < n; ++rank) {
      by_rounds[rank] =
          std::max(before[rank] + steps.stay[rank], before[rank == 0 ? n - 1 : rank - 1] + steps.move[rank]);
    }
  }
  RC_ASSERT((carry_ring(start, steps, rounds) - by_rounds).abs().maxCoeff() < 1e-9);
}

/// More sizes than a clock remembers: none is taken for another, whether it is asked for the first time or again.
TEST(Recurrence, OfASizeThatWasAskedForBeforeIsThatOfANewClock) {
  constexpr int n = 256;
  Platform platform = star(n, 1_GBps, 1_us);
  for (std::size_t link = 0; link < platform.links.size(); ++link) {
    platform.links[link].capacity = BytesPerSecond(1e9 + 1e6 * static_cast<double>(link % 7));
  }
  const RankTimes start = 1e-5 * Eigen::ArrayXd::LinSpaced(n, 0, 50).sin().abs();
  const auto new_clock = [&] {
    return make_collective_clock(Fidelity::flow, {ring_allreduce(n), platform, in_order(n)}, {});
  };
  const auto clock = new_clock();
  const auto size = [](int i) { return Bytes(1e6 + 4096.0 * n * i); };
  std::vector<RankTimes> first;
  for (int i = 0; i < 1200; ++i) first.push_back(clock->completion_times(size(i), start));
  for (int i = 1199; i >= 0; i -= 3) {
    EXPECT_TRUE((clock->completion_times(size(i), start) == first[static_cast<std::size_t>(i)]).all()) << i;
  }
  for (const int i : {0, 1, 600, 1199}) {
    EXPECT_TRUE((new_clock()->completion_times(size(i), start) == first[static_cast<std::size_t>(i)]).all()) << i;
  }
}

}}  // namespace farandole::ring_time_test
