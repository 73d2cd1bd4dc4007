// Chunks that differ by a byte, counted as the longest where there are too many messages: what that may change.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/folding/folded_message_clock.hpp"
#include "simulate/random_kit.hpp"
#include "simulate/recurrence_clock.hpp"

namespace farandole::rounded_up_test { namespace {

using test::draw;
using test::in_order;
using test::Random;

struct Rounded {
  double over_exact;
  Provenance how;
};

Rounded rounded_by(CollectiveClock& clock, const RoutedSchedule& routed, Fidelity fidelity, Bytes size) {
  const RankTimes start = all_at(routed.schedule().ranks, 0_s);
  const Answer up = clock.answer(size, start);
  clock.release_network();  // only one may use SimGrid
  const auto exact = make_collective_clock(fidelity, routed, FoldingPolicy::never);
  return {up.ends.maxCoeff() / exact->completion_times(size, start).maxCoeff(), up.provenance};
}

// Exactly counted, ranks that a byte has parted get out of each other's way on a link that they share. Rounded up they
// stay in step, and are never earlier.
TEST(RoundedUp, ManyMessagesOfChunksThatDifferByAByteAreNeverEarlierAndHardlyLater) {
  int rounded = 0;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Platform platform = test::leaf_spine(draw(random, 2, 4), draw(random, 1, 3), draw(random, 1, 3), 2_GBps,
                                               BytesPerSecond(1e9 * draw(random, 1, 4)));
    Shape shape(platform.devices());
    shape.ranks_per_node = platform.devices_per_node;
    const std::array names{"ring", "hierarchical", "torus"};
    const char* name = names[seed % names.size()];
    const RoutedSchedule routed(find_algorithm(Operation::allreduce, name)->build(shape), platform,
                                in_order(shape.ranks));
    FoldedMessageClock clock(routed, FoldingPolicy::where_exact, 0);
    const Bytes size(static_cast<double>(draw(random, 100'000, 10'000'000)));
    const auto [ratio, how] = rounded_by(clock, routed, Fidelity::message, size);
    SCOPED_TRACE(fmt::format("seed {}: {} over {}", seed, name, shape.ranks));
    if (how.rounded_up == 0) {
      EXPECT_NEAR(ratio, 1, 1e-12);
      continue;
    }
    ++rounded;
    EXPECT_LE(how.rounded_up, 1 / std::floor(size.si() / static_cast<double>(routed.schedule().chunks)));
    EXPECT_GE(ratio, 1 - 1e-12);
    EXPECT_LE(ratio, 1.05);
    sum += ratio;
  }
  EXPECT_GT(rounded, 60);
  EXPECT_LE(sum / rounded, 1.01);
}

TEST(RoundedUp, IsNothingThatFewMessagesAreOrThatIsNotToBeFolded) {
  const Platform platform = test::leaf_spine(2, 2, 2, 2_GBps, 1_GBps);
  Shape shape(8);
  shape.ranks_per_node = 2;
  const RoutedSchedule routed(find_algorithm(Operation::allreduce, "hierarchical")->build(shape), platform,
                              in_order(8));
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    const auto clock = make_collective_clock(fidelity, routed);
    const auto [ratio, how] = rounded_by(*clock, routed, fidelity, 1'000'003_B);
    EXPECT_NEAR(ratio, 1, 1e-12);
    EXPECT_EQ(how.rounded_up, 0);
  }
  FoldedMessageClock never(routed, FoldingPolicy::never, 0);
  const auto [ratio, how] = rounded_by(never, routed, Fidelity::message, 1'000'003_B);
  EXPECT_NEAR(ratio, 1, 1e-12);
  EXPECT_EQ(how.rounded_up, 0);
}

TEST(RoundedUp, ManyTransfersAreSoAtFlowToo) {
  const int n = 8;
  const RoutedSchedule routed(find_algorithm(Operation::allreduce, "direct")->build(Shape(n)),
                              test::star(n, 1_GBps, 2_us), in_order(n));
  RecurrenceClock clock(routed, Sharing::simulated, FoldingPolicy::where_exact, 0);
  const auto [ratio, how] = rounded_by(clock, routed, Fidelity::flow, 1'000'003_B);
  EXPECT_TRUE(how.folded);
  EXPECT_DOUBLE_EQ(how.rounded_up, 1.0 / 125'001);
  EXPECT_LE(ratio, 1 + how.rounded_up);
  EXPECT_GE(ratio, 1 - 1e-12);
}

// 159,600 messages: more than 2^17, fewer than 2^20.
TEST(RoundedUp, FewerMessagesAreTooManyWhereAByteIsAThousandthOfAChunkAtMost) {
  const int n = 400;
  const RoutedSchedule routed(find_algorithm(Operation::reduce_scatter, "pairwise")->build(Shape(n)),
                              test::star(n, 1_GBps, 2_us), in_order(n));
  FoldedMessageClock clock(routed, FoldingPolicy::where_exact);
  EXPECT_DOUBLE_EQ(clock.answer(Bytes(n * 999.0 + 1), all_at(n, 0_s)).provenance.rounded_up, 1.0 / 1000);
  EXPECT_EQ(clock.answer(Bytes(n * 998.0 + 1), all_at(n, 0_s)).provenance.rounded_up, 0);
}

/// A clock to which every number of messages is too many.
std::unique_ptr<CollectiveClock> impatient(Fidelity fidelity, const RoutedSchedule& routed) {
  const FoldingPolicy policy = FoldingPolicy::where_exact;
  if (fidelity == Fidelity::message) return std::make_unique<FoldedMessageClock>(routed, policy, 0);
  const Sharing sharing = fidelity == Fidelity::analytic ? Sharing::by_load : Sharing::simulated;
  return std::make_unique<RecurrenceClock>(routed, sharing, policy, 0);
}

/// An alltoall of 8 bytes over 4,096 ranks has 16 million messages, nearly all of them empty.
TEST(RoundedUp, FewerBytesThanChunksAreAByteEachWhereMessagesAreTooMany) {
  const int n = 8;
  const RoutedSchedule routed(find_algorithm(Operation::alltoall, "direct")->build(Shape(n)),
                              test::star(n, 1_GBps, 2_us), in_order(n));
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    const auto clock = impatient(fidelity, routed);
    const Answer few = clock->answer(3_B, all_at(n, 0_s));
    EXPECT_EQ(few.provenance.rounded_up, 1);
    const Answer enough = clock->answer(Bytes(n), all_at(n, 0_s));
    EXPECT_TRUE((few.ends == enough.ends).all()) << name(fidelity);
    EXPECT_EQ(enough.provenance.rounded_up, 0);
  }
  EXPECT_THAT(describe_rounding_up(1), testing::HasSubstr("fewer bytes than chunks"));
  EXPECT_THAT(describe_rounding_up(0.01), testing::HasSubstr("at most 1 % too many bytes"));
}

// T(size) <= rounded <= about T(size) (1 + a byte of the shortest chunk), for every algorithm of every operation.
TEST(RoundedUp, WhateverTheAlgorithmAByteMoreOfEachChunkIsAllThatIsAdded) {
  std::map<Operation, int> rounded;
  Random random(1);
  for (const Algorithm& row : algorithms()) {
    for (int drawn = 0; drawn < 4; ++drawn) {
      const int devices = 1 + drawn % 2;
      const int nodes = drawn < 2 ? 8 : draw(random, 3, 12);
      Shape shape(nodes * devices);
      shape.ranks_per_node = devices;
      const Platform platform =
          devices == 1 ? test::star(nodes, 3_GBps, 2_us) : test::two_level(nodes, devices, 9_GBps, 2_GBps);
      const RoutedSchedule routed(row.build(shape), platform, in_order(shape.ranks));
      const Bytes size(static_cast<double>(draw(random, 2'000'000, 10'000'000)));
      for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
        const auto clock = impatient(fidelity, routed);
        const auto [ratio, how] = rounded_by(*clock, routed, fidelity, size);
        SCOPED_TRACE(fmt::format("{} {} over {} x {}, {} B, {}", name(row.operation), row.name, nodes, devices,
                                 size.si(), name(fidelity)));
        EXPECT_GE(ratio, 1 - 1e-12);
        EXPECT_LE(ratio, 1 + how.rounded_up + (how.rounded_up > 0 ? 0.05 : 1e-12));
        rounded[row.operation] += how.rounded_up > 0 ? 1 : 0;
      }
    }
  }
  for (const Operation operation : {Operation::allreduce, Operation::alltoall, Operation::reduce_scatter}) {
    EXPECT_GT(rounded[operation], 0) << name(operation);
  }
}

// One by one or by class, at the rates of their classes: the same, whoever starts when.
TEST(MovingReceivers, TakeTheRatesOfTheirClassesWhereverRanksStartAndChunksDifferByAByte) {
  Random random(2);
  for (int drawn = 0; drawn < 100; ++drawn) {
    const int devices = draw(random, 1, 3);
    const int nodes = draw(random, 2, 9);
    Platform platform =
        devices == 1 ? test::star(nodes, 3_GBps, 2_us) : test::two_level(nodes, devices, 9_GBps, 2_GBps);
    if (drawn % 3 == 0) platform.transport.occupancy = {3_us, 2_us};
    const Operation operation = drawn % 2 == 0 ? Operation::alltoall : Operation::reduce_scatter;
    const RoutedSchedule routed(find_algorithm(operation, "pairwise")->build(Shape(nodes * devices)), platform,
                                in_order(nodes * devices));
    const Bytes size(static_cast<double>(draw(random, 1, 1'000'000)));
    const RankTimes start = test::draw_start(random, nodes * devices);
    for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
      const RankTimes one_by_one =
          make_collective_clock(fidelity, routed, FoldingPolicy::never)->completion_times(size, start);
      const RankTimes by_class = make_collective_clock(fidelity, routed)->completion_times(size, start);
      EXPECT_LT(((by_class - one_by_one).abs() / one_by_one).maxCoeff(), 1e-12)
          << drawn << ": " << nodes << " x " << devices << ", " << size.si() << " B";
    }
  }
}

}}  // namespace farandole::rounded_up_test
