// Axes of a sweep: lists, ranges, zips and variants.
#include "scenario/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const std::string& sweep) {
  std::vector<std::string> names;
  for (const Configuration& configuration : expand_sweep(test::changed({{"/sweep", sweep}}))) {
    names.push_back(configuration.name);
  }
  return names;
}

std::string refusal_of(const std::string& sweep) {
  try {
    names_of(sweep);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Sweep, AFactorMultipliesUpToTheEndInTheUnitOfTheStart) {
  EXPECT_THAT(names_of(R"({"/strategy/fusion_threshold": {"from": "512 KiB", "to": "4 MiB", "factor": 2}})"),
              ElementsAre(R"(/strategy/fusion_threshold "512 KiB")", R"(/strategy/fusion_threshold "1024 KiB")",
                          R"(/strategy/fusion_threshold "2048 KiB")", R"(/strategy/fusion_threshold "4096 KiB")"));
}

TEST(Sweep, AStepAddsAndMayStartAtZero) {
  EXPECT_THAT(names_of(R"({"/strategy/cycle_time": {"from": "0 ms", "to": "0.3 ms", "step": "100 us"}})"),
              testing::SizeIs(4));
  EXPECT_THAT(names_of(R"({"/platform/ranks": {"from": 2, "to": 9, "step": 3}})"),
              ElementsAre("/platform/ranks 2", "/platform/ranks 5", "/platform/ranks 8"));
}

TEST(Sweep, ZippedPointersChangeTogether) {
  EXPECT_THAT(
      names_of(R"({"zip": {"/platform/ranks": [1, 2], "/workload/batch_per_rank": [64, 32]}})"),
      ElementsAre("/platform/ranks 1, /workload/batch_per_rank 64", "/platform/ranks 2, /workload/batch_per_rank 32"));
}

TEST(Sweep, VariantsAreCalledByTheirNames) {
  EXPECT_THAT(names_of(R"({"variants": {"as it is": {}, "deep": {"/workload/model": "resnet50"}}})"),
              ElementsAre("\"as it is\"", "\"deep\""));
}

TEST(Sweep, RefusesWhatDoesNotSayWhatItMeans) {
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": {"from": 1, "to": 8}})"),
              HasSubstr("either a \"factor\" or a \"step\""));
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": {"from": 1, "to": 8, "factor": 1}})"), HasSubstr("a factor above 1"));
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": {"from": 8, "to": 1, "step": 1}})"), HasSubstr("at least 8"));
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": {"from": 1, "to": 8, "stp": 1}})"), HasSubstr("stp"));
  EXPECT_THAT(refusal_of(R"({"/a": {"from": "1 MiB", "to": "8 ms", "factor": 2}})"), HasSubstr("the same dimension"));
  EXPECT_THAT(refusal_of(R"({"zip": {"/platform/ranks": [1, 2], "/workload/batch_per_rank": [64]}})"),
              HasSubstr("2 values"));
  EXPECT_THAT(refusal_of(R"({"zip": {"/platform/ranks": [1, 2]}})"), HasSubstr("at least two pointers"));
  EXPECT_THAT(refusal_of(R"({"variants": {}})"), HasSubstr("at least one variant"));
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": {"from": 1, "to": 1e9, "step": 1}})"), HasSubstr("100,000"));
}

TEST(Sweep, EveryConfigurationKnowsWhatWasPutWhere) {
  const auto swept = [](const std::string& sweep) {
    std::vector<std::string> texts;
    const auto configurations = expand_sweep(test::changed({{"/sweep", sweep}}));
    for (const SweptValue& value : configurations.back().swept) {
      texts.push_back(value.pointer + " " + value.value);
    }
    return texts;
  };
  EXPECT_THAT(swept(R"({"/platform/ranks": [1, 4], "/strategy/fusion_threshold": ["1 MiB"]})"),
              ElementsAre("/platform/ranks 4", "/strategy/fusion_threshold 1 MiB"));
  EXPECT_THAT(swept(R"({"variants": {"small": {"/platform/ranks": 2}, "large": {"/platform/ranks": 8}}})"),
              ElementsAre("variants large"));
  EXPECT_THAT(swept(R"({"zip": {"/platform/ranks": [1, 2], "/workload/batch_per_rank": [64, 32]}})"),
              ElementsAre("/platform/ranks 2", "/workload/batch_per_rank 32"));
}

}  // namespace
}  // namespace farandole
