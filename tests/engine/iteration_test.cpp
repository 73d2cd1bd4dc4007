// The account of an iteration: at each instant the devices compute, or wait for what.
#include "engine/iteration.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::iteration_test { namespace {

double claimed(const Iteration& iteration) {
  return (iteration.computing + iteration.exposed_communication + iteration.negotiation + iteration.unclaimed +
          iteration.input)
      .si();
}

TEST(IterationOf, OneComputationIsThatAndWhatItsGradientsTake) {
  // Fed at 1, computes from 1 to 5, collectives 3 to 6 and 7 to 8, averaged at 9, updated at 10.
  const Iteration iteration =
      iteration_of({0_s, 1_s, 9_s, 10_s}, std::vector<Busy>{{1_s, 5_s}}, std::vector<Busy>{{3_s, 6_s}, {7_s, 8_s}});
  EXPECT_EQ(iteration.duration, 10_s);
  EXPECT_EQ(iteration.input, 1_s);
  EXPECT_EQ(iteration.computing, 5_s);              // 4 of passes, 1 of the update
  EXPECT_EQ(iteration.exposed_communication, 2_s);  // 5 to 6 and 7 to 8
  EXPECT_EQ(iteration.unclaimed, 2_s);              // 6 to 7 and 8 to 9
  EXPECT_EQ(iteration.collectives, 2);
}

TEST(IterationOf, GapsBetweenComputationsAreWaitedForWhatGoesOnInThem) {
  // Computes 1 to 3, 5 to 6, 6 to 8; a collective from 2 to 4: of the gap 3 to 5 one second is exposed, one is
  // nobody's.
  const Iteration iteration = iteration_of({0_s, 1_s, 8_s, 8_s}, std::vector<Busy>{{1_s, 3_s}, {5_s, 6_s}, {6_s, 8_s}},
                                           std::vector<Busy>{{2_s, 4_s}});
  EXPECT_EQ(iteration.computing, 5_s);
  EXPECT_EQ(iteration.exposed_communication, 1_s);
  EXPECT_EQ(iteration.unclaimed, 1_s);
  EXPECT_EQ(claimed(iteration), 8);
}

TEST(IterationOf, CollectivesThatOverlapAreWaitedForOnce) {
  // In the gap 2 to 8: 3 to 6 and 4 to 7 together are four seconds, within them 4 to 5 too.
  const Iteration iteration = iteration_of({0_s, 0_s, 8_s, 8_s}, std::vector<Busy>{{0_s, 2_s}},
                                           std::vector<Busy>{{3_s, 6_s}, {4_s, 7_s}, {4_s, 5_s}});
  EXPECT_EQ(iteration.exposed_communication, 4_s);
  EXPECT_EQ(iteration.unclaimed, 2_s);
}

TEST(IterationOf, OfCollectivesThatOverlapTheFirstIsWaitedFor) {
  // In the gap 2 to 8: an allgather from 3 to 6, a reduce-scatter from 4 to 7 of which 6 to 7 is left.
  const Iteration iteration =
      iteration_of({0_s, 0_s, 8_s, 8_s}, std::vector<Busy>{{0_s, 2_s}},
                   std::vector<Busy>{{3_s, 6_s, Operation::allgather}, {4_s, 7_s, Operation::reduce_scatter}});
  EXPECT_EQ(iteration.exposed, (std::map{std::pair{Operation::allgather, 3_s}, {Operation::reduce_scatter, 1_s}}));
}

TEST(IterationOf, NegotiationIsWhatWasNegotiatedWhileNothingWasUnderWay) {
  // In the gap 2 to 10: negotiated 1 to 4 and 3 to 5, a collective from 4 to 7, negotiated 8 to 9; 7 to 8 and 9 to 10
  // are nobody's.
  const Iteration iteration =
      iteration_of({0_s, 0_s, 10_s, 10_s}, std::vector<Busy>{{0_s, 2_s}}, std::vector<Busy>{{4_s, 7_s}},
                   std::vector<Busy>{{1_s, 4_s}, {3_s, 5_s}, {8_s, 9_s}});
  EXPECT_EQ(iteration.exposed_communication, 3_s);
  EXPECT_EQ(iteration.negotiation, 3_s);
  EXPECT_EQ(iteration.unclaimed, 2_s);
}

TEST(IterationOf, WhatTheFirstComputationWaitsForIsExposed) {
  const Iteration iteration =
      iteration_of({0_s, 1_s, 5_s, 5_s}, std::vector<Busy>{{4_s, 5_s}}, std::vector<Busy>{{1_s, 4_s}});
  EXPECT_EQ(iteration.exposed_communication, 3_s);
  EXPECT_EQ(claimed(iteration), 5);
}

RC_GTEST_PROP(IterationOf, PartsAddUpAndNoneIsNegative, ()) {
  const auto stretch = [] { return Seconds(*rc::gen::inRange(0, 10)); };
  IterationMoments moments{stretch(), {}};
  moments.fed = moments.start + stretch();
  std::vector<Busy> computed;
  Seconds at = moments.fed;
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
    const Seconds from = at + stretch();
    at = from + stretch();
    computed.push_back({from, at});
  }
  moments.synchronised = at + stretch();
  moments.end = moments.synchronised + stretch();
  std::vector<Busy> busy;
  Seconds from = moments.start;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    from += stretch();  // by their begin
    busy.push_back({from, from + stretch() * 3});
  }
  std::vector<Busy> negotiated;
  from = moments.start;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    from += stretch();
    negotiated.push_back({from, from + stretch()});
  }
  const Iteration iteration = iteration_of(moments, computed, busy, negotiated);
  RC_ASSERT(std::abs(claimed(iteration) - iteration.duration.si()) < 1e-9);
  for (const Seconds part : {iteration.computing, iteration.exposed_communication, iteration.negotiation,
                             iteration.unclaimed, iteration.input}) {
    RC_ASSERT(part >= Seconds(-1e-12));
  }
}

}}  // namespace farandole::iteration_test
