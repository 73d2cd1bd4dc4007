// The ring's form, round by round, and its proofs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms/rings.hpp"
#include "collective/proof.hpp"

namespace farandole::ring_test { namespace {

int mod(int a, int n) {
  return ((a % n) + n) % n;
}

TEST(RingAllreduce, SendsSegmentRankMinusRoundMinusOneWhileReducing) {
  for (const int n : {2, 3, 4, 7}) {
    const Schedule ring = ring_allreduce(n);
    const Phase& reduce_scatter = ring.phases.at(0);
    ASSERT_EQ(reduce_scatter.repeats, n - 1);
    for (int round = 0; round < n - 1; ++round) {
      for (const Transfer& transfer : reduce_scatter.transfers) {
        EXPECT_EQ(in_repeat(ring, reduce_scatter, transfer, round).chunk, mod(transfer.from - round - 1, n));
        EXPECT_EQ(transfer.to, mod(transfer.from + 1, n));
        EXPECT_EQ(transfer.action, Action::reduce);
      }
    }
  }
}

TEST(RingAllreduce, SendsSegmentRankMinusRoundWhileGathering) {
  for (const int n : {2, 3, 4, 7}) {
    const Schedule ring = ring_allreduce(n);
    const Phase& allgather = ring.phases.at(1);
    ASSERT_EQ(allgather.repeats, n - 1);
    for (int round = 0; round < n - 1; ++round) {
      for (const Transfer& transfer : allgather.transfers) {
        EXPECT_EQ(in_repeat(ring, allgather, transfer, round).chunk, mod(transfer.from - round, n));
        EXPECT_EQ(transfer.action, Action::copy);
      }
    }
  }
}

TEST(RingAllreduce, IsProvedForOneToThirtyThreeRanks) {
  for (int n = 1; n <= 33; ++n) EXPECT_EQ(disprove(ring_allreduce(n)), std::nullopt) << n << " ranks";
}

TEST(RingAllreduce, HasTwoPhasesOfOneTransferPerRankHoweverManyRanks) {
  const Schedule ring = ring_allreduce(4096);
  EXPECT_EQ(ring.phases.size(), 2U);
  EXPECT_EQ(ring.phases[0].transfers.size(), 4096U);
  EXPECT_EQ(rounds(ring), 2 * 4095);
}

TEST(RingAllreduce, OfOneRankDoesNothing) {
  EXPECT_TRUE(ring_allreduce(1).phases.empty());
}

RC_GTEST_PROP(RingAllreduce, SumsRandomIntegersExactlyForAnyLengthAndRanks, ()) {
  const auto n = *rc::gen::inRange(1, 20);
  const auto length = *rc::gen::inRange(0, 100);
  std::vector<IntegerVector> buffers;
  IntegerVector sum = IntegerVector::Zero(length);
  for (int rank = 0; rank < n; ++rank) {
    IntegerVector data(length);
    for (int i = 0; i < length; ++i) data[i] = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000);
    sum += data;
    buffers.push_back(std::move(data));
  }
  execute(ring_allreduce(n), buffers);
  for (const IntegerVector& buffer : buffers) RC_ASSERT(buffer == sum);
}

}}  // namespace farandole::ring_test
