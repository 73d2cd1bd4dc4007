// Of ranks that meet at barriers those with nobody both later and slower decide, and whether that held is looked at.
#include "engine/representatives.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::representatives_test { namespace {

/// Two seconds after the last has joined all end.
class TwoSeconds final : public CollectiveClock {
 public:
  Answer answer(Bytes /*size*/, const RankTimes& start) override {
    return {RankTimes::Constant(start.size(), start.maxCoeff() + 2), {}};
  }
  [[nodiscard]] bool is_barrier(Bytes /*size*/) override { return true; }
};

RankTimes drawn(int ranks, double from, double to) {
  RankTimes all(ranks);
  for (double& one : all) one = from + (to - from) * *rc::gen::inRange(0, 1000) / 1000.0;
  return all;
}

const Collective among_shards{Operation::allreduce, 8_B, {}, {}, false, Group::shards};
const Collective in_tensor_groups{Operation::allreduce, 8_B, {}, {}, false, Group::tensor};

RC_GTEST_PROP(Representatives, OfOneGroupJoinLastAfterAnyWork, ()) {
  const int ranks = *rc::gen::inRange(40, 200);
  const RankTimes begin = drawn(ranks, 0, 3);
  const RankTimes factors = drawn(ranks, 1, 2);
  Representatives few({ranks, ranks, Group::shards, false});
  few.choose(begin, factors);
  RC_ASSERT(few.begin().size() < ranks / 2);
  RC_ASSERT(few.begin()[0] == begin[0]);
  TwoSeconds clock;
  for (const double work : {0.0, 0.5, 1.0, 3.0, 100.0}) {
    const RankTimes ends = few.answer(clock, among_shards, few.begin() + work * few.factors()).ends;
    RC_ASSERT((ends == (begin + work * factors).maxCoeff() + 2).all());
    RC_ASSERT(few.stood_for_all(ends));
    RC_ASSERT((few.of_all(ends) == RankTimes::Constant(ranks, ends[0])).all());
  }
}

RC_GTEST_PROP(Representatives, OfTensorGroupsAreAsAllGroupsWhereTheyStood, ()) {
  // Twice three seconds of work in lockstep with a neighbour, and some by oneself, before all at a place meet.
  const int groups = *rc::gen::inRange(40, 200);
  const RankTimes begin = drawn(2 * groups, 0, *rc::gen::inRange(0, 3));
  const RankTimes factors = drawn(2 * groups, 1, 1.1);
  const double alone = *rc::gen::inRange(0, 4);
  TwoSeconds clock;
  Representatives some({2 * groups, 2, Group::tensor, true});
  const auto joined_by = [&](const RankTimes& from, const RankTimes& slower, const auto& meet) {
    RankTimes moments = from;
    for (int layer = 0; layer < 2; ++layer) moments = meet(moments + 3 * slower);
    return RankTimes(moments + alone * slower);
  };
  const RankTimes all = joined_by(begin, factors, [&](RankTimes moments) {
    for (int rank = 0; rank < 2 * groups; rank += 2) {
      moments.segment(rank, 2).setConstant(moments.segment(rank, 2).maxCoeff() + 2);
    }
    return moments;
  });
  const Eigen::Map<const Eigen::ArrayXXd> by_place(all.data(), 2, groups);
  for (int times = 0;; ++times) {
    RC_ASSERT(times < 6);  // then all stand for themselves
    some.choose(begin, factors);
    if (some.begin().size() == 2 * groups) return;
    const RankTimes lines = joined_by(some.begin(), some.factors(), [&](const RankTimes& moments) {
      return some.answer(clock, in_tensor_groups, moments).ends;
    });
    some.look_at(lines);
    const RankTimes ends = some.answer(clock, among_shards, lines).ends;
    if (some.stood_for_all(ends)) {
      const RankTimes of_all = some.of_all(ends);
      for (int place = 0; place < 2; ++place) RC_ASSERT(of_all[place] == by_place.row(place).maxCoeff() + 2);
      RC_ASSERT(lines.maxCoeff() == all.maxCoeff());
      return;
    }
    some.choose_more_from_now_on();
  }
}

/// No barrier: of ten groups one after the other ends, a second apart.
class InTurn final : public CollectiveClock {
 public:
  Answer answer(Bytes /*size*/, const RankTimes& start) override { return {start, {}}; }
  std::optional<Answer> answer_of_any_group(Bytes /*size*/, const RankTimes& start) override {
    EXPECT_EQ(start.size(), 10);
    return Answer{start + RankTimes::LinSpaced(start.size(), 1, static_cast<double>(start.size())), {.folded = true}};
  }
};

const Collective among_replicas{Operation::allreduce, 8_B, {}, {}, false, Group::replicas};

TEST(Representatives, OfGroupsThatMeetInTurnAreOfAllOfThem) {
  TwoSeconds within;
  InTurn clock;
  Representatives some({1000, 100, Group::shards, false});
  const RankTimes factors = RankTimes::LinSpaced(1000, 1, 2);
  some.choose(RankTimes::Zero(1000), factors);  // eight of ten groups
  const auto ends = [&] {
    const RankTimes shards = some.answer(within, among_shards, some.factors()).ends;
    const Answer replicas = some.answer(clock, among_replicas, shards);
    EXPECT_TRUE(replicas.provenance.folded);
    return replicas.ends;
  };
  EXPECT_FALSE(some.stood_for_all(ends()));
  some.choose_more_from_now_on();
  some.choose(RankTimes::Zero(1000), factors);
  EXPECT_LT(some.begin().size(), 50);
  const RankTimes last = ends();
  EXPECT_TRUE(some.stood_for_all(last));
  const RankTimes all = some.of_all(last);
  for (int rank = 0; rank < 1000; ++rank) {
    const int group = rank / 100;
    EXPECT_EQ(all[rank], factors[100 * group + 99] + 2 + (1 + group)) << rank;
  }
}

TEST(Representatives, DoNotStandWhereRanksOfAGroupJoinOthersApart) {
  TwoSeconds barrier;
  InTurn in_turn;
  for (CollectiveClock* const clock : std::initializer_list<CollectiveClock*>{&barrier, &in_turn}) {
    Representatives some({1000, 100, Group::shards, false});
    for (int times = 0; some.begin().size() < 1000; ++times) {
      ASSERT_LT(times, 4);
      some.choose(RankTimes::Zero(1000), RankTimes::LinSpaced(1000, 1, 2));
      const RankTimes apart = some.factors();  // that no barrier of their group has put together
      EXPECT_EQ(some.stood_for_all(some.answer(*clock, among_replicas, apart).ends), some.begin().size() == 1000);
      some.choose_more_from_now_on();
    }
  }
}

TEST(Representatives, AreAllRanksWhereTheyDoNotMeetAtBarriers) {
  class Chain final : public CollectiveClock {
    Answer answer(Bytes /*size*/, const RankTimes& start) override { return {start + 1, {}}; }
  } chain;
  Representatives few({100, 100, Group::shards, false});
  few.choose(RankTimes::Zero(100), RankTimes::LinSpaced(100, 1, 2));
  const RankTimes ends = few.answer(chain, among_shards, few.begin()).ends;
  EXPECT_FALSE(few.stood_for_all(ends));
  few.choose_more_from_now_on();
  few.choose(RankTimes::Zero(100), RankTimes::LinSpaced(100, 1, 2));
  EXPECT_EQ(few.begin().size(), 100);
  EXPECT_TRUE(few.stood_for_all(few.answer(chain, among_shards, few.begin()).ends));
}

}}  // namespace farandole::representatives_test
