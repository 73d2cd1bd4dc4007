// Chunks that differ by a byte: every rank ends when it would have ended with all messages sent.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::folding_uneven_test { namespace {

using test::in_order;
using test::star;

RoutedSchedule ring_on(const Platform& platform, int ranks) {
  return {ring_allreduce(ranks), platform, in_order(ranks)};
}

TEST(UnevenChunks, OfARingOnAStarAreNotSentOneByOneForTheSameEnds) {
  for (int n = 2; n <= 33; ++n) {
    for (const double bytes : {1.0, n - 1.0, n + 1.0, 12'345.0 * n + n / 2, 1'000'003.0}) {
      const RoutedSchedule routed = ring_on(star(n, 25_Gbps, 2_us), n);
      const RankTimes start = all_at(n, 0_s);
      const RankTimes unfolded = MessageClock(routed).completion_times(Bytes(bytes), start);
      const auto clock = make_collective_clock(Fidelity::message, routed);
      const RankTimes known = clock->completion_times(Bytes(bytes), start);
      EXPECT_LT(((known - unfolded).abs() / unfolded.max(1e-9)).maxCoeff(), 1e-12) << n << " ranks, " << bytes;
    }
  }
}

/// The most by which a rank's end differs, folded and not, in a chain of collectives that ranks join as they come.
double difference_in_a_chain(Fidelity fidelity, const RoutedSchedule& routed, const std::vector<Bytes>& sizes) {
  const auto run = [&](FoldingPolicy policy) {
    const auto clock = make_collective_clock(fidelity, routed, policy);
    RankTimes at = all_at(routed.schedule().ranks, 0_s);
    for (const Bytes size : sizes) at = clock->completion_times(size, at);
    return at;
  };
  const RankTimes unfolded = run(FoldingPolicy::never);
  return ((run(FoldingPolicy::where_exact) - unfolded).abs() / unfolded.max(1e-9)).maxCoeff();
}

TEST(UnevenChunks, EndWhenTheyWouldHaveEndedUnfoldedHoweverManyFollow) {
  // 102,228,129 bytes around 23 ranks: 16 chunks of a byte more, so that some ranks would end bytes before the last.
  const RoutedSchedule routed = ring_on(star(23, 66_Gbps, 2_us), 23);
  EXPECT_LT(difference_in_a_chain(Fidelity::message, routed, {102'228'129_B}), 1e-13);
  EXPECT_LT(difference_in_a_chain(Fidelity::message, routed, {8'196'001_B, 102'228'129_B, 33'333_B}), 1e-13);
}

RC_GTEST_PROP(UnevenChunks, OfAnyAlgorithmEndWhenTheyWouldHaveEndedUnfoldedHoweverManyFollow, ()) {
  const std::vector<Algorithm> rows(algorithms().begin(), algorithms().end());
  const int devices = *rc::gen::inRange(1, 4);
  const int nodes = *rc::gen::inRange(2, 10);
  const Platform platform = devices == 1 ? star(nodes, 3_GBps, 2_us) : test::two_level(nodes, devices, 9_GBps, 2_GBps);
  Shape shape(nodes * devices);
  shape.ranks_per_node = devices;
  const Algorithm ring = *find_algorithm(Operation::allreduce, "ring");
  const Algorithm row = *rc::gen::arbitrary<bool>() ? ring : *rc::gen::elementOf(rows);
  const RoutedSchedule routed(row.build(shape), platform, in_order(shape.ranks));
  std::vector<Bytes> sizes;
  for (int i = 0; i < 3; ++i) sizes.emplace_back(*rc::gen::inRange(1, 10'000'000));
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    const double difference = difference_in_a_chain(fidelity, routed, sizes);
    if (difference >= 1e-12)
      RC_FAIL(fmt::format("{} {} {}: {}", name(row.operation), row.name, name(fidelity), difference));
  }
}

TEST(UnevenChunks, AreSentOneByOneWhereSomeStartLate) {
  const RoutedSchedule routed = ring_on(star(8, 1_GBps, 1_us), 8);
  RankTimes start = all_at(8, 0_s);
  for (int rank = 0; rank < 8; rank += 2) start[rank] = 1e-3;
  RankTimes folded;
  {
    const auto clock = make_collective_clock(Fidelity::message, routed);
    const Answer uneven = clock->answer(8001_B, start);
    folded = uneven.ends;
    EXPECT_FALSE(uneven.provenance.folded);
    EXPECT_TRUE(clock->answer(8000_B, start).provenance.folded);
  }
  EXPECT_LT((folded - MessageClock(routed).completion_times(8001_B, start)).abs().maxCoeff(), 1e-15);
}

TEST(UnevenChunks, AreSentOneByOneWhereLinksAreShared) {
  const auto clock = make_collective_clock(Fidelity::message, ring_on(test::leaf_spine(2, 2, 2, 1_GBps, 1_GBps), 8));
  EXPECT_FALSE(clock->answer(8001_B, all_at(8, 0_s)).provenance.folded);
  EXPECT_TRUE(clock->answer(8000_B, all_at(8, 0_s)).provenance.folded);
}

}}  // namespace farandole::folding_uneven_test
