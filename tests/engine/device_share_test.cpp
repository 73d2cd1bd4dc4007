// (T - t) - share x (time communicating within [t, T]) = work
#include "engine/device_share.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::device_share_test { namespace {

Occupation collective(double from, double to) {
  return occupation(RankTimes::Constant(1, from), RankTimes::Constant(1, to));
}

RankTimes finish(const DeviceShare& share, const RankTimes& begin, const RankTimes& work,
                 const std::vector<Occupation>& communications) {
  return share.finish(begin, work, 1_s, communications);
}

double finish(double share, double work, const std::vector<Occupation>& communications) {
  return finish(DeviceShare(share), RankTimes::Zero(1), RankTimes::Constant(1, work), communications)[0];
}

TEST(DeviceShare, ACollectiveWithinTheWorkDelaysItByItsShare) {
  EXPECT_DOUBLE_EQ(finish(0.25, 10, {collective(2, 6)}), 11);
}

TEST(DeviceShare, WorkThatEndsWithinACollectiveIsSlowedWhileBesideIt) {
  // 8 s alone, then 2 s of work at three quarters of the rate.
  EXPECT_DOUBLE_EQ(finish(0.25, 10, {collective(8, 100)}), 8 + 2 / 0.75);
}

TEST(DeviceShare, WhatRunsAfterOrBeforeTheWorkTakesNothing) {
  EXPECT_DOUBLE_EQ(finish(0.25, 10, {collective(10, 12)}), 10);
  EXPECT_DOUBLE_EQ(finish(DeviceShare(0.25), RankTimes::Constant(1, 5), RankTimes::Constant(1, 10), {})[0], 15);
}

RC_GTEST_PROP(DeviceShare, HoldsItsEquation, ()) {
  const double share = *rc::gen::inRange(0, 90) / 100.0;
  const double work = *rc::gen::inRange(1, 50);
  std::vector<Occupation> communications;
  double at = 0;
  for (int i = 0; i < 5; ++i) {
    const double from = at + *rc::gen::inRange(0, 10);
    at = from + *rc::gen::inRange(0, 10);
    communications.push_back(collective(from, at));
  }
  const double end = finish(share, work, communications);
  double beside = 0;
  for (const auto& times : communications) {
    beside += std::max(0.0, std::min(end, times.to[0]) - times.from[0]);
  }
  RC_ASSERT(std::abs(end - share * beside - work) < 1e-9);
}

RC_GTEST_PROP(DeviceShare, LeavesOutNothingOfWhatIsOverBeforeItBegins, ()) {
  // Of three ranks that begin one after the other the last one's alone, beside what ended before and what did not.
  const double share = *rc::gen::inRange(1, 90) / 100.0;
  const RankTimes begin = RankTimes::LinSpaced(3, 10, 10 + *rc::gen::inRange(0, 20));
  const RankTimes work = RankTimes::Constant(3, *rc::gen::inRange(0, 40));
  std::vector<Occupation> communications;
  double at = 0;
  for (int i = 0; i < 12; ++i) {
    const double from = at + *rc::gen::inRange(0, 4);
    at = from + 1 + *rc::gen::inRange(0, 4);
    communications.push_back(occupation(RankTimes::Constant(3, from), RankTimes::Constant(3, at)));
  }
  const RankTimes all = finish(DeviceShare(share), begin, work, communications);
  for (Eigen::Index rank = 0; rank < 3; ++rank) {
    const double beside =
        std::accumulate(communications.begin(), communications.end(), 0.0, [&](double sum, auto& own) {
          return sum + std::max(0.0, std::min(all[rank], own.to[rank]) - std::max(begin[rank], own.from[rank]));
        });
    RC_ASSERT(std::abs(all[rank] - begin[rank] - share * beside - work[rank]) < 1e-9);
  }
}

RC_GTEST_PROP(DeviceShare, HasTakenByItsMarksWhatItTakesInOneGo, ()) {
  // Marks of three ranks apart, each settled when it was passed: (T - t) - share x (time communicating) = work still.
  const DeviceShare share(*rc::gen::inRange(1, 90) / 100.0);
  const RankTimes begin = RankTimes::LinSpaced(3, 10, 10 + *rc::gen::inRange(0, 20));
  const RankTimes factors = RankTimes::LinSpaced(3, 1, 1 + *rc::gen::inRange(0, 20) / 10.0);
  std::vector<Occupation> communications;
  RankTimes at = RankTimes::Zero(3);
  Settled settled;
  for (int mark = 1; mark < 12; ++mark) {
    const RankTimes from = at + RankTimes::LinSpaced(3, *rc::gen::inRange(0, 4), 4);
    at = from + *rc::gen::inRange(0, 5);
    communications.push_back(occupation(from, at));
    const RankTimes passed = share.finish(begin, factors, Seconds(4 * mark), communications, settled);
    RC_ASSERT((passed - share.finish(begin, factors, Seconds(4 * mark), communications)).abs().maxCoeff() < 1e-12);
    if (mark % 3 == 0) share.settle(settled, begin, passed, communications);
  }
  RC_CLASSIFY(settled.communications > 0);
}

/// The same where several may be under way at once, in any order.
double finish_beside_several(double share, double work, const std::vector<Occupation>& communications) {
  DeviceShare several(share);
  several.let_overlap();
  return finish(several, RankTimes::Zero(1), RankTimes::Constant(1, work), communications)[0];
}

TEST(DeviceShare, TwoAtOnceTakeNoMoreThanOne) {
  EXPECT_DOUBLE_EQ(finish_beside_several(0.25, 10, {collective(2, 6), collective(2, 6)}), 11);
  EXPECT_DOUBLE_EQ(finish_beside_several(0.25, 10, {collective(4, 8), collective(2, 6)}), 11.5);  // from 2 to 8
}

RC_GTEST_PROP(DeviceShare, HoldsItsEquationWithSeveralAtOnceInAnyOrder, ()) {
  const double share = *rc::gen::inRange(0, 90) / 100.0;
  const double work = *rc::gen::inRange(1, 50);
  std::vector<Occupation> communications;
  for (int i = 0; i < 6; ++i) {
    const double from = *rc::gen::inRange(0, 60);
    communications.push_back(collective(from, from + *rc::gen::inRange(0, 20)));
  }
  const double end = finish_beside_several(share, work, communications);
  double beside = 0;  // of whole seconds, and of the last one what is left
  for (int second = 0; second < end; ++second) {
    const bool is_busy = std::ranges::any_of(
        communications, [&](const Occupation& times) { return times.from[0] <= second && second < times.to[0]; });
    if (is_busy) beside += std::min(1.0, end - second);
  }
  RC_ASSERT(std::abs(end - share * beside - work) < 1e-9);
}

/// What others communicate, and when, is nothing to a rank: all at once give what each gives by itself.
RC_GTEST_PROP(DeviceShare, IsEveryRanksOwn, (bool several)) {
  static constexpr int ranks = 4;
  const auto moments = [](int least, int most) {
    RankTimes result(ranks);
    for (double& moment : result) moment = *rc::gen::inRange(least, most);
    return result;
  };
  DeviceShare share(0.25);
  if (several) share.let_overlap();
  const RankTimes begin = moments(0, 30);
  const RankTimes work = moments(1, 20);
  std::vector<Occupation> communications;
  RankTimes at = RankTimes::Zero(ranks);
  for (int i = 0; i < 12; ++i) {
    const RankTimes from = at + moments(0, 6);
    at = from + moments(0, 6);
    communications.push_back(occupation(from, at));
  }
  const RankTimes all = finish(DeviceShare(share), begin, work, communications);
  for (Eigen::Index rank = 0; rank < ranks; ++rank) {
    std::vector<Occupation> own;
    for (const Occupation& each : communications) own.push_back(collective(each.from[rank], each.to[rank]));
    const auto of_rank = [&](const RankTimes& values) { return RankTimes(RankTimes::Constant(1, values[rank])); };
    RC_ASSERT(std::abs(finish(share, of_rank(begin), of_rank(work), own)[0] - all[rank]) < 1e-12);
  }
}

}}  // namespace farandole::device_share_test
