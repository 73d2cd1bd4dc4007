// A row of `workload.measured` is a run of the settings that stood there when it was written down: what is set
// afterwards changes the answer as a sweep does, and does not explain the row anew.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "scenario/anchor.hpp"
#include "scenario/scenario_kit.hpp"
#include "scenario/what_if_kit.hpp"
#include "timeline/difference.hpp"

namespace farandole::measured_under_test { namespace {

using ::testing::HasSubstr;
using Changes = std::vector<test::Change>;

constexpr const char* row = R"([{"ranks": 16, "iteration_seconds": 0.4}])";

/// Two nodes of which each network has one cable, so that the network counts; one run of them was timed.
Changes timed() {
  return test::with(test::machine(), {{"/workload", R"({"model": "gpt2_small", "batch_per_rank": 1, "optimizer": "adam",
                                                        "measured": [{"ranks": 16, "iteration_seconds": 0.4}]})"},
                                      {"/strategy", R"({"kind": "fsdp"})"}});
}

TrainingPoint point_of(const Document& document) {
  return run_document(document, Catalogue(), {}).points.back();
}

TrainingPoint set(const Changes& changes) {
  Document document = test::changed(timed());
  for (const auto& [pointer, value] : changes) set_after_measuring(document, pointer, value);
  return point_of(document);
}

/// Of a file, which a sweep may change.
TrainingPoint swept(const Changes& changes) {
  nlohmann::json scenario = test::changed(timed()).to_json();
  for (const auto& [pointer, value] : changes) scenario["sweep"][pointer] = {nlohmann::json::parse(value)};
  return point_of(Document::parse(scenario.dump(), "timed.json"));
}

void expect_equal(const TrainingPoint& one, const TrainingPoint& other) {
  EXPECT_NEAR(one.iteration / other.iteration, 1, 1e-12);
  ASSERT_EQ(one.bands.has_value(), other.bands.has_value());
  if (!one.bands) return;
  EXPECT_NEAR(one.bands->iteration.low / other.bands->iteration.low, 1, 1e-12);
  EXPECT_NEAR(one.bands->iteration.high / other.bands->iteration.high, 1, 1e-12);
  const TrainingPoint base = set({});
  const auto gain = difference(base, one);
  const auto again = difference(base, other);
  ASSERT_EQ(gain.has_value(), again.has_value());
  EXPECT_NEAR(gain ? gain->sure : 0, again ? again->sure : 0, 1e-12);
}

const std::vector<test::Change> later{
    {"/platform/scale", R"({"rate": 2})"},
    {"/strategy/sharding_strategy", R"("SHARD_GRAD_OP")"},
    {"/strategy/reduce_dtype", R"("bf16")"},
    {"/workload/recompute", R"("full")"},
    {"/workload/batch_per_rank", "2"},
    {"/platform/ranks", "8"},
    {"/strategy", R"({"kind": "ddp"})"},
    {"/effects", R"({"device_spread": "3 %"})"},
    {"/platform/override",
     R"({"/node/nics_at": ["switch0"], "/transport/library": "nccl-2.10", "/node/nic/rate": "25 Gbit/s"})"},
};

TEST(MeasuredUnder, WhatIsSetAfterwardsIsTheChangeThatASweepMakes) {
  EXPECT_NEAR(set({}).iteration.si() / 0.4, 1, 1e-9);
  for (const test::Change& change : later) {
    SCOPED_TRACE(change.pointer);
    const TrainingPoint changed = set({change});
    EXPECT_GT(std::abs(changed.iteration.si() / 0.4 - 1), 1e-4) << "it is not the row";
    expect_equal(changed, swept({change}));
  }
}

TEST(MeasuredUnder, AScenarioMaySayItself) {
  for (const test::Change& change : later) {
    SCOPED_TRACE(change.pointer);
    Document by_hand = test::changed(timed());
    const auto was = by_hand.find(change.pointer);
    nlohmann::json under;
    under[change.pointer] = was ? to_json(was->node()) : nlohmann::json();
    by_hand.set(change.pointer, change.value);
    by_hand.set("/workload/measured_under", under.dump());
    expect_equal(point_of(by_hand), set({change}));
  }
}

TEST(MeasuredUnder, OneSettingAfterAnotherInsideOrAroundItKeepsTheFirst) {
  const test::Change inside{"/platform/override/~1transport~1library", R"("nccl-2.21")"};
  const test::Change around{"/platform/override", R"({"/node/nics_at": ["switch0"]})"};
  for (const Changes& both : {Changes{inside, around}, Changes{around, inside}}) {
    Document document = test::changed(timed());
    for (const auto& [pointer, value] : both) set_after_measuring(document, pointer, value);
    EXPECT_EQ(to_json(as_measured(document).find("/platform")->node()),
              to_json(test::changed(timed()).find("/platform")->node()));
  }
}

TEST(MeasuredUnder, AnElementIsKeptWithItsArray) {
  Document document = test::changed(timed());
  document.set("/effects", R"({"straggler": [{"rank": 1, "slowdown": 2}]})");
  const auto before = to_json(document.find("/effects")->node());
  set_after_measuring(document, "/effects/straggler/-", R"({"rank": 2, "slowdown": 2})");
  set_after_measuring(document, "/effects/straggler/0/slowdown", "3");
  EXPECT_EQ(to_json(as_measured(document).find("/effects")->node()), before);
}

TEST(MeasuredUnder, AnObjectThatASettingMakesWasNotThere) {
  Document document = test::changed(timed());
  document.remove("/effects");
  const auto before = document.to_json();
  set_after_measuring(document, "/effects/input/prefetch", "3");
  set_after_measuring(document, "/effects/step_jitter", R"("1 %")");
  EXPECT_EQ(as_measured(document).to_json(), before);
}

/// What stands before it on a command line was there when it ran, what stands behind it was not.
TEST(MeasuredUnder, ARowThatIsSetIsOfTheScenarioAsItStandsThen) {
  Document document = test::changed(timed());
  set_after_measuring(document, "/platform/scale", R"({"rate": 2})");
  set_after_measuring(document, "/workload/measured", row);
  EXPECT_NEAR(point_of(document).iteration.si() / 0.4, 1, 1e-9);
  set_after_measuring(document, "/platform/scale", R"({"rate": 1})");
  EXPECT_GT(point_of(document).iteration.si(), 0.4);
}

TEST(MeasuredUnder, WhatIfsAreTheRunByHandNumberBandAndSureness) {
  const TrainingPoint point = test::explained(timed());
  const WhatIf* faster = test::find(point, "network x2");
  ASSERT_TRUE(faster != nullptr);
  EXPECT_TRUE(faster->sure) << "of a change of what was measured";
  test::expect_the_laws(timed());
  test::expect_the_laws(test::with(timed(), {{"/sweep", R"({"/platform/scale": [{"rate": 2}]})"}}));
}

TEST(MeasuredUnder, WhatSaysNothingOfARowIsRefused) {
  const auto error = [](const char* under) {
    Changes changes = timed();
    changes.push_back({"/workload/measured_under", under});
    return test::error_of(changes);
  };
  EXPECT_THAT(error(R"({"/platfrom/ranks": 8})"), HasSubstr("did you mean \"platform\"?"));
  EXPECT_THAT(error(R"({"/workload/measured/0": null})"), HasSubstr("expected a setting, not the rows themselves"));
  EXPECT_THAT(error(R"({"/platform/override/~1node~1nics_at/0": null})"), HasSubstr("expected an array as a whole"));
  EXPECT_THAT(test::error_of({{"/workload/measured_under", "{}"}}), HasSubstr("/workload/measured_under: expected"));
}

}}  // namespace farandole::measured_under_test
