// What operations promise, and that what breaks a promise is refused with its chunk and rank.
#include "collective/specification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "collective/proof.hpp"

namespace farandole::specification_test { namespace {

using testing::HasSubstr;
using testing::Optional;

Schedule built(Operation operation, const std::string& name, const Shape& shape) {
  return find_algorithm(operation, name)->build(shape);
}

TEST(Specification, TellsOperationsWithARootAndThoseThatSum) {
  for (const Operation operation : {Operation::broadcast, Operation::reduce, Operation::gather, Operation::scatter})
    EXPECT_TRUE(has_root(operation)) << name(operation);
  for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter, Operation::allgather,
                                    Operation::alltoall, Operation::barrier, Operation::parameter_server})
    EXPECT_FALSE(has_root(operation)) << name(operation);
  for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter, Operation::reduce,
                                    Operation::barrier, Operation::parameter_server})
    EXPECT_TRUE(sums(operation)) << name(operation);
  for (const Operation operation :
       {Operation::broadcast, Operation::gather, Operation::scatter, Operation::allgather, Operation::alltoall})
    EXPECT_FALSE(sums(operation)) << name(operation);
}

TEST(Specification, OfABroadcastHoldsTheRootToItsOwnData) {
  Schedule schedule = built(Operation::broadcast, "binomial", {4, 1});
  schedule.root = 2;
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("rank 1 sends chunk 0 to rank 3 before it holds anything of it")));
}

TEST(Specification, OfAReducePromisesTheRootAlone) {
  Schedule schedule = built(Operation::reduce, "binomial", {4, 3});
  EXPECT_EQ(disprove(schedule), std::nullopt);
  schedule.root = 0;
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("chunk 0 of rank 0 ends with rank")));
}

TEST(Specification, OfAnAllgatherRefusesASumWhereABlockBelongs) {
  Schedule schedule = built(Operation::allgather, "ring", 3);
  schedule.phases[0].transfers[0].chunk = 2;
  schedule.phases[0].transfers[0].action = Action::reduce;
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("rank 0 sends chunk 2 to rank 1 before it holds")));
}

TEST(Specification, OfAnAlltoallNamesTheBlockThatWentAstray) {
  Schedule schedule = built(Operation::alltoall, "pairwise", 3);
  schedule.phases[0].transfers[1].chunk = 3;  // from rank 1 to rank 0, not to rank 2
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("ends with rank 1's contribution 0 times, not once")));
}

TEST(Specification, OfABarrierAsksThatEverybodyHasHeardOfEverybody) {
  Schedule schedule = built(Operation::barrier, "dissemination", 5);
  schedule.phases.pop_back();
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("0 times, not at least once")));
}

TEST(Specification, RefusesChunksThatRanksCannotShare) {
  Schedule schedule = built(Operation::allgather, "ring", 3);
  schedule.chunks = 4;
  EXPECT_EQ(disprove(schedule), "4 chunks, which 3 ranks cannot share equally");
}

TEST(Specification, RefusesAnAlltoallWithoutABlockForEveryPair) {
  Schedule schedule = built(Operation::alltoall, "pairwise", 3);
  schedule.rows = 1;
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("not one from each of 3 ranks to each")));
}

TEST(Proof, RefusesAnOverwritingThatMeetsASum) {
  Schedule schedule{
      Operation::allreduce, "clash", 3, 1, {{"all", {{0, 2, 0, Action::copy}, {1, 2, 0, Action::reduce}}}}};
  EXPECT_EQ(disprove(schedule), "phase all: chunk 0 of rank 2 is overwritten and added to in a round");
}

TEST(Proof, RefusesAReceiverThatMovesOntoTheSender) {
  Schedule schedule = built(Operation::alltoall, "pairwise", 3);
  schedule.phases[0].repeats = 3;
  EXPECT_THAT(disprove(schedule), Optional(HasSubstr("sends to itself")));
}

TEST(Proof, RefusesMoreChunksThanARowHas) {
  Schedule schedule = built(Operation::allgather, "bruck", 4);
  schedule.phases[1].transfers[2].count = 5;
  EXPECT_EQ(disprove(schedule), "phase allgather: 5 chunks from chunk 2 of rank 2 on, of 4 in a row");
}

TEST(Proof, OnNumbersFindsAWrongSum) {
  Schedule schedule = built(Operation::allreduce, "direct", 4);
  schedule.phases[1].transfers[2].action = Action::reduce;
  EXPECT_THAT(disprove_numerically(schedule, 10, 1), Optional(HasSubstr("of chunk 2 of rank 0 ends as")));
}

}}  // namespace farandole::specification_test
