// The waterfall adds up, and each mechanism lands in its own part.
#include "scenario/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::explain_test { namespace {

TrainingPoint explained(std::vector<test::Change> changes) {
  RunOptions options;
  options.explain = true;
  return test::run(changes, options).points.at(0);
}

Seconds part(const TrainingPoint& point, const std::string& name) {
  for (const WaterfallPart& each : point.explanation->waterfall) {
    if (each.name == name) return each.time;
  }
  ADD_FAILURE() << "no part " << name;
  return {};
}

double gain(const TrainingPoint& point, const std::string& change) {
  for (const WhatIf& each : point.explanation->what_ifs) {
    if (each.change == change) return each.efficiency_points;
  }
  return -1e9;
}

constexpr const char* all_effects = R"({
  "device_spread": "2 %", "step_jitter": "2 %", "communication_compute_share": "10 %",
  "input": {"storage_samples_per_second": 900, "prefetch": 2}, "checkpoint": {"every_steps": 50, "rate": "1 GB/s"}})";

TEST(Waterfall, SumsToTheIteration) {
  const TrainingPoint point = explained({{"/effects", all_effects}});
  Seconds sum;
  for (const WaterfallPart& each : point.explanation->waterfall) sum += each.time;
  EXPECT_NEAR(sum / point.iteration, 1, 1e-12);
}

TEST(Waterfall, OfARunWithoutEffectsIsDeviceAndCommunication) {
  const TrainingPoint point = explained({});
  EXPECT_NEAR((part(point, "device") - point.breakdown.compute).si(), 0, 1e-12);
  EXPECT_GT(part(point, "exposed_bandwidth"), 0_s);
  for (const char* off : {"checkpoint", "stragglers", "input", "collective_kernels"})
    EXPECT_EQ(part(point, off), 0_s) << off;
}

TEST(Waterfall, ChargesAStragglerWithWhatItCosts) {
  const TrainingPoint plain = test::run({}).points[0];
  const TrainingPoint point = explained({{"/effects", R"({"straggler": {"ranks": [1], "slowdown": "50 %"}})"}});
  EXPECT_NEAR((part(point, "stragglers") - (point.iteration - plain.iteration)).si(), 0, 1e-12);
}

TEST(Waterfall, FindsContentionWhereNicsAreShared) {
  // Rings crossing nodes: four devices of a node share a NIC only when ranks go round the nodes.
  const TrainingPoint shared = explained({{"/platform/topology", "roce25-4xp100"},
                                          {"/platform/ranks", "8"},
                                          {"/platform/placement", R"({"order": "by_node"})"},
                                          {"/collectives", R"({"allreduce": "ring"})"},
                                          {"/strategy/fusion_threshold", "0 B"},
                                          {"/effects", R"({"device_spread": "0 %", "step_jitter": "0 %"})"}});
  EXPECT_GT(part(shared, "contention"), 0.1 * part(shared, "exposed_bandwidth"));
  EXPECT_NEAR(part(explained({}), "contention").si(), 0, 1e-9);
}

TEST(WhatIf, NamesGainsInPointsCheapestFirst) {
  const TrainingPoint point = explained({{"/effects", R"({"straggler": {"ranks": [1], "slowdown": "50 %"}})"}});
  EXPECT_GT(gain(point, "fp16 gradients"), 0);
  EXPECT_GT(gain(point, "network x2"), 0);
  EXPECT_GT(gain(point, "no stragglers"), 0);
  std::vector<std::string> kinds;
  for (const WhatIf& each : point.explanation->what_ifs) {
    if (kinds.empty() || kinds.back() != each.kind) kinds.push_back(each.kind);
  }
  EXPECT_THAT(kinds, testing::ElementsAre("setting", "operation", "hardware", "uncertain"));
}

TEST(WhatIf, ShowsWhatHangsOnNumbersThatWereMeasuredElsewhereUnlessTheyAreSet) {
  const auto uncertain = [](const TrainingPoint& point) {
    std::vector<WhatIf> found;
    for (const WhatIf& each : point.explanation->what_ifs) {
      if (each.kind == "uncertain") found.push_back(each);
    }
    return found;
  };
  // 8,192 ranks whose rank 0 works on 314 requests of each: the more it works, the longer all wait.
  const std::vector<test::Change> many{
      {"/platform/ranks", "8192"}, {"/workload/model", "resnet101"}, {"/strategy/version", R"("0.15.0")"}};
  const auto ends = uncertain(explained(many));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_GT(ends[0].efficiency_points, 0);
  EXPECT_LT(ends[1].efficiency_points, 0);
  for (const WhatIf& end : ends) {
    std::vector<test::Change> set = many;
    for (const SetValue& value : end.set) set.push_back({value.pointer, value.json});
    EXPECT_EQ(test::run(set).points.front().iteration, end.iteration);
  }
  EXPECT_TRUE(uncertain(explained({{"/strategy/coordinator_per_message", R"("1 us")"}})).empty());
  EXPECT_TRUE(uncertain(explained({{"/strategy", R"({"kind": "ddp"})"}})).empty());
}

TEST(CriticalPath, OfARunEndsWithItsUpdate) {
  const auto path = explained({}).explanation->critical_path;
  ASSERT_GE(path.size(), 3U);
  EXPECT_EQ(path.front().activity, "compute");
  EXPECT_EQ(path.back().activity, "update");
}

}}  // namespace farandole::explain_test
