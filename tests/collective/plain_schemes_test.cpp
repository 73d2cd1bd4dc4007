// The two schemes that pass whole arrays on, round by round, with the gradients 5, 3, 2, 1 of four nodes.
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms/rings.hpp"
#include "collective/proof.hpp"

namespace farandole::plain_schemes_test { namespace {

using testing::HasSubstr;
using testing::Optional;

std::vector<IntegerVector> gradients() {
  std::vector<IntegerVector> buffers;
  for (const int gradient : {5, 3, 2, 1}) buffers.push_back(IntegerVector::Constant(2, gradient));
  return buffers;
}

/// What every node has after so many rounds of the schedule's only phase.
std::vector<std::int64_t> after(Schedule schedule, int rounds) {
  schedule.phases[0].repeats = rounds;
  std::vector<IntegerVector> buffers = gradients();
  execute(schedule, buffers);
  std::vector<std::int64_t> first;
  for (const IntegerVector& buffer : buffers) first.push_back(buffer[0]);
  return first;
}

TEST(ChainReduce, StartsAtNodeOneAndHasTheSumOnNodeZeroAfterThreeHops) {
  const Schedule chain = chain_reduce(4);
  EXPECT_EQ(rounds(chain), 3);
  EXPECT_EQ(after(chain, 1), (std::vector<std::int64_t>{5, 3, 5, 1}));
  EXPECT_EQ(after(chain, 2), (std::vector<std::int64_t>{5, 3, 5, 6}));
  EXPECT_EQ(after(chain, 3), (std::vector<std::int64_t>{11, 3, 5, 6}));
}

TEST(ChainReduce, InSegmentsTakesOneRoundMoreForEach) {
  Shape shape(6, 2);
  shape.segments = 5;
  EXPECT_EQ(rounds(chain_reduce(shape)), 5 + 6 - 2);
  EXPECT_EQ(disprove(chain_reduce(shape)), std::nullopt);
}

TEST(PlainRing, AddsAnotherNodesWholeGradientInEachOfThreeRounds) {
  // Node i has g(i), then g(i) + g(i-1), then g(i) + g(i-1) + g(i-2), then all.
  const Schedule ring = plain_ring_allreduce(4);
  EXPECT_EQ(rounds(ring), 3);
  EXPECT_EQ(after(ring, 1), (std::vector<std::int64_t>{6, 8, 5, 3}));
  EXPECT_EQ(after(ring, 2), (std::vector<std::int64_t>{8, 9, 10, 6}));
  EXPECT_EQ(after(ring, 3), (std::vector<std::int64_t>{11, 11, 11, 11}));
}

TEST(PlainRing, CarriesTheWholeArrayInEveryRound) {
  const Schedule ring = plain_ring_allreduce(7);
  const ChunkSizes sizes(1001_B, ring);
  for (const Transfer& transfer : ring.phases[0].transfers) {
    EXPECT_EQ(sizes.of(ring, ring.phases[0], transfer), 1001_B);
  }
}

TEST(PlainRing, OfARoundTooManyCountsContributionsTwice) {
  Schedule ring = plain_ring_allreduce(5);
  ++ring.phases[0].repeats;
  EXPECT_THAT(disprove(ring), Optional(HasSubstr("2 times, not once")));
}

TEST(Relaying, NeedsACopyToPassOn) {
  Schedule ring = plain_ring_allreduce(3);
  ring.phases[0].transfers[1].chunk = 0;
  EXPECT_THAT(disprove(ring), Optional(HasSubstr("is no copy to pass on")));
  Schedule once = plain_ring_allreduce(3);
  once.copies = 1;
  EXPECT_NE(disprove(once), std::nullopt);
}

TEST(Relaying, MayMeetNothingElseInTheChunkItOverwrites) {
  Schedule ring = plain_ring_allreduce(3);
  ring.phases[0].transfers.push_back({2, 1, 1, Action::relay});
  EXPECT_THAT(disprove(ring), Optional(HasSubstr("overwritten twice")));
}

// segments + ranks - 2 repeats, counted in 64 bits.
TEST(Chain, OfMoreSegmentsThanAPhaseHasRepeatsIsRefused) {
  Shape shape(4);
  shape.segments = std::numeric_limits<int>::max();
  EXPECT_THROW(chain_broadcast(shape), std::invalid_argument);
  shape.segments = 16;
  EXPECT_EQ(chain_broadcast(shape).phases.front().repeats, 16 + 4 - 2);
}

}}  // namespace farandole::plain_schemes_test
