// "economics" of a scenario: what a job costs follows from how fast it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::economics_test { namespace {

using test::Change;
using test::error_of;
using test::run;
using testing::HasSubstr;

TrainingPoint point_with(const std::vector<Change>& changes) {
  return run(changes).points.front();
}

const Change spot{"/economics", R"({ "offer": "aws-p4d-spot" })"};
const Change on_demand{"/economics", R"({ "offer": "aws-p4d-on-demand" })"};
const Change a_run{"/run", R"({ "samples": 12800, "epochs": 3 })"};

TEST(Economics, ChargesEveryNodeForTheTimeOfASample) {
  // ethernet-25g has one device per node: four nodes at 32.7726 an hour.
  const TrainingPoint point = point_with({on_demand});
  ASSERT_TRUE(point.cost);
  EXPECT_NEAR(point.cost->per_sample.si(), 4 * 32.7726 / 3600 / point.samples_per_second, 1e-15);
  EXPECT_FALSE(point.cost->per_run);
}

TEST(Economics, ChargesARunForItsWholeTimeAndAMinimumAtLeast) {
  const TrainingPoint point = point_with({on_demand, a_run});
  EXPECT_NEAR(point.cost->per_epoch->si(), 4 * 32.7726 / 3600 * point.run->epoch.si(), 1e-9);
  EXPECT_NEAR(point.cost->per_run->si(), 4 * 32.7726 / 3600 * std::max(60.0, point.run->total.si()), 1e-9);
  EXPECT_NEAR(point.cost->node_time->si(), 4 * point.run->total.si(), 1e-9);
}

TEST(Economics, EnergyIsDrawTimesTimeTimesPue) {
  const TrainingPoint point = point_with({on_demand});
  const double busy = point.breakdown.compute / point.iteration;
  const double node = 1500 + 50 + 350 * busy;
  EXPECT_NEAR(point.cost->node_power.si(), node, 1e-9);
  EXPECT_NEAR(point.cost->energy_per_sample.si(), 4 * node * 1.2 / point.samples_per_second, 1e-9);
}

TEST(Economics, DevicesWithoutARankDrawWhatIsIdle) {
  // Six ranks on two nodes of four: six of eight devices compute.
  const TrainingPoint point =
      point_with({on_demand, {"/platform/topology", R"("roce25-4xp100")"}, {"/platform/ranks", "6"}});
  const double busy = point.breakdown.compute / point.iteration;
  EXPECT_NEAR(point.cost->node_power.si(), 1500 + 4 * (50 + 350 * busy * 6 / 8), 1e-9);
}

TEST(Economics, InterruptionsMakeARunLongerAndDearer) {
  const TrainingPoint point = point_with({spot, a_run});
  EXPECT_GT(point.cost->stretch, 1);
  EXPECT_NEAR(point.cost->node_time->si(), 4 * point.run->total.si() * point.cost->stretch, 1e-9);
}

TEST(Economics, SensitivityBeginsWithTheInputThatMattersMost) {
  const TrainingPoint point = point_with({spot});
  const auto& inputs = point.cost->sensitivity;
  ASSERT_GE(inputs.size(), 4U);
  EXPECT_EQ(inputs.front().input, "spot/node_price");
  const auto width = [](const CostSensitivity& input) { return std::abs((input.at_high - input.at_low).si()); };
  for (std::size_t i = 1; i < inputs.size(); ++i) EXPECT_GE(width(inputs[i - 1]), width(inputs[i]));
}

TEST(Economics, ComparesWithTheSameJobElsewhere) {
  const TrainingPoint owned = point_with(
      {{"/economics", R"({ "offer": "dgx-a100-bought", "compare_with": { "offer": "aws-p4d-on-demand" } })"}});
  ASSERT_TRUE(owned.cost->comparison);
  const TrainingPoint rented = point_with({on_demand});
  EXPECT_NEAR(owned.cost->comparison->per_sample.si(), rented.cost->per_sample.si(), 1e-15);
  ASSERT_TRUE(owned.cost->comparison->break_even_utilisation);
  // At break-even a sample costs as much here as there.
  const std::string share = std::to_string(*owned.cost->comparison->break_even_utilisation * 100) + " %";
  const TrainingPoint even = point_with(
      {{"/economics", R"({ "offer": "dgx-a100-bought", "override": { "/bought/utilisation": ")" + share + R"(" } })"}});
  EXPECT_NEAR(even.cost->per_sample / rented.cost->per_sample, 1, 1e-6);
}

/// The reserved offer's own 60 % is not the owner's: it must not matter.
TEST(Economics, UtilisationIsTheOwnersAndNotOfWhatIsComparedWith) {
  const auto compared = [](const std::string& own) {
    return *point_with({{"/economics", R"({ "offer": "dgx-h100-bought", "override": { "/bought/utilisation": ")" + own +
                                           R"(" }, "compare_with": { "offer": "lambda-h100-reserved" } })"}})
                .cost->comparison;
  };
  const auto at = [](const std::string& offer, const std::string& pointer, const std::string& share) {
    return point_with({{"/economics", R"({ "offer": ")" + offer + R"(", "override": { ")" + pointer + R"(": ")" +
                                          share + R"(" } })"}})
        .cost->per_sample;
  };
  for (const std::string share : {"30 %", "70 %", "90 %"}) {
    const CostComparison found = compared(share);
    EXPECT_NEAR(found.per_sample / at("lambda-h100-reserved", "/reserved/utilisation", share), 1, 1e-12) << share;
    const bool is_cheaper = at("dgx-h100-bought", "/bought/utilisation", share) <= found.per_sample;
    const auto from = found.break_even_utilisation;
    const double u = std::stod(share) / 100;
    EXPECT_EQ(from ? *from <= u : u <= found.pays_up_to_utilisation.value_or(0), is_cheaper) << share;
  }
  EXPECT_EQ(compared("30 %").break_even_utilisation, compared("90 %").break_even_utilisation);
  EXPECT_EQ(compared("30 %").pays_up_to_utilisation, compared("90 %").pays_up_to_utilisation);
}

TEST(Economics, TotalsOfRentCountTheTimeInUse) {
  const TrainingPoint always = point_with({on_demand});
  const TrainingPoint half = point_with({{"/economics", R"({ "offer": "aws-p4d-on-demand", "utilisation": "50 %" })"}});
  EXPECT_NEAR(half.cost->totals.back() / always.cost->totals.back(), 0.5, 1e-12);
  EXPECT_EQ(half.cost->per_sample, always.cost->per_sample);
  EXPECT_THAT(error_of({{"/economics", R"({ "offer": "dgx-a100-bought", "utilisation": "50 %" })"}}),
              HasSubstr("\"override\" changes the offer's"));
}

TEST(Economics, RefusesUnknownOffersAndSettings) {
  EXPECT_THAT(error_of({{"/economics", R"({ "offer": "aws-p4d-on-demnd" })"}}),
              HasSubstr("did you mean \"aws-p4d-on-demand\"?"));
  EXPECT_THAT(error_of({{"/economics", R"({ "offer": "aws-p4d-spot", "yaers": 3 })"}}), HasSubstr("\"years\""));
  EXPECT_THAT(error_of({{"/economics", R"({ "offer": "aws-p4d-spot", "override": { "/spot/restart": "5 kg" } })"}}),
              HasSubstr("/spot/restart"));
}

}}  // namespace farandole::economics_test
