// By which kind of change two scenarios differ, and how far ratios are off then.
#include "scenario/compared_settings.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::compared_settings_test { namespace {

using test::Change;
using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Change> base{{"/workload", R"({"model": "gpt2_medium", "batch_per_rank": 4, "precision": "bf16"})"},
                               {"/platform", R"({"topology": "dgx-a100", "ranks": 16, "override": {}})"},
                               {"/strategy", R"({"kind": "ddp"})"},
                               {"/collectives", "{}"}};

ComparedSettings settings_with(const std::vector<Change>& more) {
  std::vector<Change> changes = base;
  changes.insert(changes.end(), more.begin(), more.end());
  const Document document = test::changed(changes);
  return compared_settings(document, read_scenario(document.root(), Catalogue()));
}

std::vector<std::string> kinds_of(const std::vector<Change>& more) {
  std::vector<std::string> kinds;
  for (const ComparedSetting& changed : changed_between(settings_with({}), settings_with(more)))
    kinds.push_back(changed.of);
  return kinds;
}

TEST(ComparedSettings, SayByWhichKindOfChangeTwoScenariosDiffer) {
  EXPECT_THAT(kinds_of({}), IsEmpty());
  EXPECT_THAT(kinds_of({{"/measure/seed", "7"}, {"/name", "\"another\""}}), IsEmpty());
  EXPECT_THAT(kinds_of({{"/platform/ranks", "32"}}), ElementsAre("ranks"));
  EXPECT_THAT(kinds_of({{"/workload/batch_per_rank", "8"}}), ElementsAre("batch"));
  EXPECT_THAT(kinds_of({{"/strategy/accumulation", "2"}}), ElementsAre("batch"));
  EXPECT_THAT(kinds_of({{"/workload/gradient_type", "\"bf16\""}}), ElementsAre("precision"));
  EXPECT_THAT(kinds_of({{"/workload/compile", "true"}}), ElementsAre("compile"));
  EXPECT_THAT(kinds_of({{"/platform/scale", R"({"rate": 2})"}}), ElementsAre("network"));
  EXPECT_THAT(kinds_of({{"/platform/override/~1transport~1launch", "\"9 us\""}}), ElementsAre("network"));
  EXPECT_THAT(kinds_of({{"/platform/override", R"({"/node/device": "a100_80gb", "/node/measurements": ""})"}}),
              ElementsAre("device", "program"));
  EXPECT_THAT(kinds_of({{"/platform/topology", "\"hgx-h100\""}}), ElementsAre("device", "generation", "network"));
  EXPECT_THAT(kinds_of({{"/strategy/compression", "\"fp16\""}}), ElementsAre("compression"));
  EXPECT_THAT(kinds_of({{"/strategy/kind", "\"fsdp\""}}), ElementsAre("strategy"));
  EXPECT_THAT(kinds_of({{"/collectives/allreduce", "\"ring\""}}), ElementsAre("algorithm"));
}

const DifferenceErrors errors{{{"ranks", {0.03, 0.06}}, {"precision", {0.2, 0.4}}, {"other", {0.1, 0.1}}}, 0.1, 1024};

TrainingPoint point_of(int ranks, double computed) {
  TrainingPoint point;
  point.ranks = ranks;
  point.breakdown.compute = Seconds(computed);
  point.breakdown.exposed_communication = Seconds(1 - computed);
  return point;
}

double apart(const std::string& kind, const TrainingPoint& point) {
  ComparedSettings settings{{kind, "any"}};
  put_apart(settings, point, errors);
  return settings.front().apart;
}

TEST(ComparedSettings, EachKindHasItsOwnSpreadAndOneNeverSeenThatOfTheRest) {
  EXPECT_EQ(apart("ranks", point_of(8, 0.95)), 0.03);
  EXPECT_EQ(apart("precision", point_of(8, 0.95)), 0.2);
  EXPECT_EQ(apart("compression", point_of(8, 0.95)), 0.1);
}

TEST(ComparedSettings, SpreadsAreWiderWhereRunsWaitAndWithEveryDoublingBeyondTheLargestRun) {
  EXPECT_EQ(apart("ranks", point_of(8, 0.8)), 0.06);
  EXPECT_EQ(apart("ranks", point_of(1024, 0.95)), 0.03);
  EXPECT_NEAR(apart("ranks", point_of(4096, 0.95)), 0.03 * std::sqrt(3.0), 1e-12);
}

/// What is shipped: relatives are nearer than generations, and 4,096 GPUs are further from what was seen than 16.
TEST(ComparedSettings, OfAPointCarryTheSpreadsThatPublishedPairsShow) {
  const auto of = [](const TrainingPoint& point, const char* kind) {
    for (const ComparedSetting& setting : point.compared)
      if (setting.of == kind) return setting.apart;
    return 0.0;
  };
  const auto at = [](const char* ranks) {
    std::vector<Change> changes = base;
    changes.push_back({"/platform/topology", "\"eos\""});
    changes.push_back({"/platform/ranks", ranks});
    changes.push_back({"/measure/fidelity", "\"analytic\""});
    return test::run(changes).points.front();
  };
  const TrainingPoint few = at("16");
  EXPECT_GT(of(few, "device"), 0.02);
  EXPECT_GT(of(few, "generation"), 1.5 * of(few, "device"));
  EXPECT_GT(of(few, "precision"), of(few, "ranks"));
  EXPECT_GT(of(at("4096"), "network"), 1.2 * of(few, "network"));
}

}}  // namespace farandole::compared_settings_test
