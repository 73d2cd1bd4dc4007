#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/iteration.hpp"

namespace farandole::critical_path_test { namespace {

using testing::ElementsAre;

Stages at(double begin, double reducing, double reduced, double end) {
  return {Seconds(begin), Seconds(reducing), Seconds(reduced), Seconds(end)};
}

std::vector<std::string> activities(const std::vector<PathStep>& path) {
  std::vector<std::string> result;
  for (const PathStep& step : path) result.push_back(step.activity);
  return result;
}

TEST(CriticalPath, RunsThroughTheCollectivesThatFollowOneAnother) {
  // Computes from 10 to 20; collectives 15 to 22 and, on the same stream, 22 to 27; update to 28.
  const auto path = critical_path({10_s, 10_s, 27_s, 28_s}, std::vector<Busy>{{10_s, 20_s}},
                                  std::vector{at(15, 16, 21, 22), at(22, 22, 27, 27)});
  EXPECT_THAT(activities(path), ElementsAre("compute", "copy in", "collective", "copy out", "collective", "update"));
  EXPECT_EQ(path.front().to, 5_s);  // the first collective starts half way through the backward pass
}

TEST(CriticalPath, NamesTheWaitForAStrategyThatStartsLate) {
  const auto path =
      critical_path({0_s, 1_s, 15_s, 15_s}, std::vector<Busy>{{1_s, 10_s}}, std::vector{at(12, 12, 15, 15)});
  EXPECT_THAT(activities(path), ElementsAre("input", "compute", "wait for the strategy", "collective"));
}

TEST(CriticalPath, CoversTheIterationWithoutGaps) {
  const auto path =
      critical_path({0_s, 0_s, 14_s, 16_s}, std::vector<Busy>{{2_s, 9_s}}, std::vector{at(10, 11, 13, 14)});
  Seconds reached;
  for (const PathStep& step : path) {
    EXPECT_EQ(step.from, reached);
    reached = step.to;
  }
  EXPECT_EQ(reached, 16_s);
}

TEST(CriticalPath, WhereCommunicationIsHiddenItIsComputeAndUpdate) {
  const auto path = critical_path({0_s, 0_s, 20_s, 21_s}, std::vector<Busy>{{0_s, 20_s}}, std::vector{at(5, 5, 9, 9)});
  EXPECT_THAT(activities(path), ElementsAre("compute", "update"));
}

}}  // namespace farandole::critical_path_test
