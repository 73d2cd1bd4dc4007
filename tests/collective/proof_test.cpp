// The proofs must refuse what is wrong: a proof that cannot fail proves nothing.
#include "collective/proof.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms/rings.hpp"

namespace farandole::proof_test { namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(Proof, FindsARoundTooFew) {
  Schedule ring = ring_allreduce(4);
  --ring.phases[1].repeats;
  EXPECT_THAT(disprove(ring), Optional(HasSubstr("contribution 0 times, not once")));
}

TEST(Proof, FindsAContributionCountedTwice) {
  Schedule ring = ring_allreduce(4);
  ring.phases[1].transfers[0].action = Action::reduce;
  EXPECT_THAT(disprove(ring), Optional(HasSubstr("times, not once")));
}

TEST(Proof, FindsAWrongSegment) {
  Schedule ring = ring_allreduce(5);
  ring.phases[0].transfers[2].chunk = 0;
  EXPECT_NE(disprove(ring), std::nullopt);
}

TEST(Proof, FindsACopyWhereASumBelongs) {
  Schedule ring = ring_allreduce(3);
  ring.phases[0].transfers[1].action = Action::copy;
  EXPECT_NE(disprove(ring), std::nullopt);
}

TEST(Proof, RefusesATransferToARankThatDoesNotExist) {
  Schedule ring = ring_allreduce(3);
  ring.phases[0].transfers[1].to = 3;
  EXPECT_THAT(disprove(ring),
              Optional(std::string("phase reduce_scatter: a transfer from rank 1 to rank 3, of 3 ranks")));
}

TEST(Proof, RefusesASendToOneself) {
  Schedule ring = ring_allreduce(3);
  ring.phases[1].transfers[2].to = 2;
  EXPECT_THAT(disprove(ring), Optional(std::string("phase allgather: rank 2 sends to itself")));
}

TEST(Proof, RefusesAChunkWrittenTwiceInARound) {
  Schedule schedule = ring_allreduce(3);
  schedule.phases[1].transfers.push_back(schedule.phases[1].transfers[0]);
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("is overwritten twice in a round")));
}

TEST(Proof, ReadsTheStateBeforeTheRound) {
  // Two ranks swap one chunk: with a round that read its own writes both would end with the same number.
  const Schedule swap{
      Operation::allreduce, "swap", 2, 1, {{"swap", {{0, 1, 0, Action::copy}, {1, 0, 0, Action::copy}}, 1, 0}}};
  std::vector<IntegerVector> buffers{IntegerVector::Constant(1, 5), IntegerVector::Constant(1, 7)};
  execute(swap, buffers);
  EXPECT_EQ(buffers[0][0], 7);
  EXPECT_EQ(buffers[1][0], 5);
}

TEST(ChunkSizes, GiveTheFirstChunksTheRemainder) {
  const ChunkSizes sizes(Bytes(10), 4);  // 3 + 3 + 2 + 2
  EXPECT_EQ(sizes[0], Bytes(3));
  EXPECT_EQ(sizes[1], Bytes(3));
  EXPECT_EQ(sizes[2], Bytes(2));
  EXPECT_EQ(sizes[3], Bytes(2));
  EXPECT_FALSE(sizes.equal());
  EXPECT_TRUE(ChunkSizes(Bytes(12), 4).equal());
}

}}  // namespace farandole::proof_test
