// Axes of a sweep: lists, ranges, zips and variants.
#include "scenario/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::sweep_test { namespace {

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

Document study(const std::string& sweep) {
  return Document::parse(R"({ "name": "s", "workload": { "model": "resnet18" },
    "platform": { "topology": "ethernet-25g", "ranks": 4, "traffic": [{ "rate": "1 GB/s" }] },
    "strategy": { "kind": "ddp" },
    "sweep": )" + sweep + "}",
                         "study.json");
}

/// What a user is told who sets a value of such a study.
std::string refusal_of_set(const std::string& sweep, const std::string& pointer, const std::string& value) {
  Document document = study(sweep);
  document.set(pointer, value);
  try {
    expand_sweep(document);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SetAndSweep, AValueThatTheSweepReplacesIsRefusedWithTheCommandThatIsMeant) {
  EXPECT_EQ(refusal_of_set(R"({"/platform/ranks": [1, 4]})", "/platform/ranks", "64"),
            "--set: /platform/ranks: expected a value that no sweep replaces, got 64; study.json:4 replaces it: --set "
            "'/sweep/~1platform~1ranks=[64]'");
  EXPECT_THAT(refusal_of_set(R"({"/platform/ranks": {"from": 1, "to": 8, "factor": 2}})", "/platform/ranks", "abc"),
              HasSubstr(R"(--set '/sweep/~1platform~1ranks=["abc"]')"));
}

TEST(SetAndSweep, EveryKindOfAxisReplacesIt) {
  EXPECT_THAT(refusal_of_set(R"({"zip": {"/platform/ranks": [1, 2, 4], "/workload/batch_per_rank": [64, 64, 32]}})",
                             "/platform/ranks", "8"),
              HasSubstr("--set '/sweep/zip/~1platform~1ranks=[8, 8, 8]'"));
  EXPECT_THAT(refusal_of_set(R"({"zip": [{"/platform/ranks": [1, 2], "/workload/batch_per_rank": [64, 32]}]})",
                             "/platform/ranks", "8"),
              HasSubstr("--set '/sweep/zip/0/~1platform~1ranks=[8, 8]'"));
  EXPECT_THAT(refusal_of_set(R"({"variants": {"one": {}, "two": {"/platform/ranks": 2}}})", "/platform/ranks", "8"),
              HasSubstr("--set '/sweep/variants/two/~1platform~1ranks=8'"));
}

TEST(SetAndSweep, SoDoesAnAxisAroundItOrInsideIt) {
  const std::string around = R"({"/platform": [{"topology": "ethernet-25g", "ranks": 2}]})";
  EXPECT_THAT(refusal_of_set(around, "/platform/ranks", "8"),
              HasSubstr("--set: /platform/ranks: expected a value that no sweep replaces, got 8"));
  const std::string inside = R"({"/platform/ranks": [1, 4]})";
  EXPECT_THAT(refusal_of_set(inside, "/platform", R"({"topology": "ethernet-25g", "ranks": 8})"),
              HasSubstr("leave it out, and change \"/sweep/~1platform~1ranks\""));
  EXPECT_THAT(refusal_of_set(R"({"/platform/traffic/0/rate": ["1 GB/s"]})", "/platform/traffic/0/rate", "2 GB/s"),
              HasSubstr("--set: /platform/traffic/0/rate: expected a value that no sweep replaces"));
}

TEST(SetAndSweep, WhatNoAxisReplacesAndTheSweepItselfMayBeSet) {
  const std::string sweep = R"({"/platform/ranks": [1, 4]})";
  EXPECT_EQ(refusal_of_set(sweep, "/workload/batch_per_rank", "8"), "no error");
  EXPECT_EQ(refusal_of_set(sweep, "/platform", R"({"topology": "ethernet-10g"})"), "no error");
  EXPECT_EQ(refusal_of_set(sweep, "/sweep/~1platform~1ranks", "[64]"), "no error");
  EXPECT_EQ(refusal_of_set(sweep, "/sweep", "{}"), "no error");
  EXPECT_EQ(refusal_of_set("{}", "/platform/ranks", "64"), "no error");
}

}}  // namespace farandole::sweep_test
