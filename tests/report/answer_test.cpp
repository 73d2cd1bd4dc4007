// What a page says in its first lines.
#include "report/answer.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page_parts.hpp"
#include "report/points.hpp"
#include "report/reports.hpp"
#include "report/series.hpp"

namespace farandole::answer_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrainingPoint point(const std::string& model, int ranks, double efficiency) {
  TrainingPoint made = vgg16_on_512_ranks();
  made.model = model;
  made.ranks = ranks;
  made.scaling_efficiency = efficiency;
  return made;
}

TEST(Answer, SaysHowWellTheLargestRunsScale) {
  const std::vector points{point("resnet50", 4, 0.97), point("resnet50", 512, 0.9), point("vgg16", 4, 0.95),
                           point("vgg16", 512, 0.59)};
  EXPECT_EQ(answer(points, {}).front(),
            "On 512 ranks of roce25-4xp100, resnet50 scales at 90 % and vgg16 at 59 % efficiency.");
}

TEST(Answer, OfOneRunNamesItsThroughput) {
  EXPECT_EQ(answer(std::vector{vgg16_on_512_ranks()}, {}).front(),
            "vgg16 scales at 68 % efficiency on 512 ranks of roce25-4xp100: 104,858 samples/s.");
}

TEST(Answer, SaysBetweenWhichEndsAnEfficiencyLies) {
  TrainingPoint banded = vgg16_on_512_ranks();
  banded.bands = Bands{0.8, {1, 1}, {}, {}, {0.58, 0.741}, {}, {}};
  EXPECT_EQ(
      answer(std::vector{banded}, {}).front(),
      "vgg16 scales at 68 % efficiency (80 % interval 58 to 74) on 512 ranks of roce25-4xp100: 104,858 samples/s.");
  TrainingPoint other = banded;
  other.model = "resnet50";
  EXPECT_EQ(
      answer(std::vector{banded, other}, {}).front(),
      "On 512 ranks of roce25-4xp100, vgg16 scales at 68 % (80 % interval 58 to 74) and resnet50 at 68 % (58 to 74) "
      "efficiency.");
}

/// "101 %" by itself looks like a mistake.
TEST(Answer, GivesTheReasonOfAnEfficiencyAboveWhole) {
  TrainingPoint shared = point("llama3_8b", 8, 1.013);
  shared.notes = {"something else", "faster than linear scaling, since the ranks share the update"};
  const std::string reason = "llama3_8b is faster than linear scaling, since the ranks share the update.";
  EXPECT_EQ(answer(std::vector{shared}, {}).at(1), reason);
  const std::vector points{point("resnet50", 8, 0.99), shared};
  EXPECT_EQ(answer(points, {}).at(1), reason);
  shared.scaling_efficiency = 1.004;  // which the answer calls 100 %
  EXPECT_THAT(answer(std::vector{shared}, {}), testing::Not(testing::Contains(reason)));
  shared.scaling_efficiency = 1.013;
  EXPECT_EQ(answer(std::vector{shared, point("llama3_8b", 64, 0.97)}, {}).at(1),
            "llama3_8b on 8 ranks is faster than linear scaling, since the ranks share the update.");
}

TEST(Answer, NamesTheLargestLossFromTheBreakdown) {
  EXPECT_EQ(answer(std::vector{vgg16_on_512_ranks()}, {}).at(1),
            "The largest loss of vgg16 is exposed communication: 32 % of its iteration of 312 ms.");
}

TEST(Answer, NamesTheLargestMechanismAndTheBestChangeOfEachKindWhereTheyAreKnown) {
  TrainingPoint explained = vgg16_on_512_ranks();
  explained.explanation = Explanation{{{"device", 0.2_s}, {"exposed_bandwidth", 0.1_s}, {"stragglers", 0.0125_s}},
                                      {},
                                      {{"fp16 gradients", "setting", 1, 12.0, {}, 1, {}},
                                       {"double the batch", "setting", 1, 20.0, {}, 1, {}},
                                       {"latency / 2", "hardware", 1, 0.1, {}, 1, {}}}};
  EXPECT_THAT(answer(std::vector{explained}, {}),
              ElementsAre(HasSubstr("scales at 68 %"), HasSubstr("is exposed bandwidth: 32 %"),
                          "Double the batch (setting) would bring it to 88 % efficiency."));
}

TEST(Answer, NamesBestAndWorstOfMany) {
  std::vector<TrainingPoint> points;
  for (const char* model : {"a", "b", "c", "d", "e"})
    points.push_back(point(model, 64, 0.5 + 0.05 * double(points.size())));
  EXPECT_THAT(answer(points, {}).front(), HasSubstr("e scales best, at 70 % efficiency, and a worst, at 50 %."));
  EXPECT_THAT(headline_points(points, {}), ElementsAre(0, 4));
}

TEST(Answer, OfManyThatScaleAlikeNamesNoBestAndWorst) {
  std::vector<TrainingPoint> points;
  for (const char* model : {"a", "b", "c", "d", "e"}) points.push_back(point(model, 64, 0.958));
  EXPECT_THAT(answer(points, {}).front(), HasSubstr("all 5 scale at 96 % efficiency."));
}

TEST(Answer, OfThreeThatScaleAlikeSaysItOnce) {
  const std::vector points{point("a", 64, 0.958), point("b", 64, 0.959), point("c", 64, 0.961)};
  EXPECT_THAT(answer(points, {}).front(), HasSubstr("On 64 ranks of roce25-4xp100, all 3 scale at 96 % efficiency."));
}

// 67.9 and 68.4 % are both 68 %.
TEST(Answer, NamesNoChangeThatLeavesThePercentAsItIs) {
  TrainingPoint explained = vgg16_on_512_ranks();
  explained.scaling_efficiency = 0.679;
  explained.explanation =
      Explanation{{{"device", 0.2_s}},
                  {},
                  {{"no stragglers", "operation", 1, 0.5, {}, 1, {}}, {"network x2", "hardware", 1, 20.0, {}, 1, {}}}};
  EXPECT_EQ(answer(std::vector{explained}, {}).back(), "Network x2 (hardware) would bring it to 88 % efficiency.");
}

// A change that makes a single device faster too is compared with the scaling as it was.
TEST(Answer, CallsNoEfficiencyMoreThanWhole) {
  TrainingPoint explained = vgg16_on_512_ranks();
  explained.explanation = Explanation{{{"device", 0.2_s}}, {}, {{"nothing recomputed", "setting", 1, 59.0, {}, 1, {}}}};
  EXPECT_EQ(answer(std::vector{explained}, {}).back(),
            "Nothing recomputed (setting) would bring it to 127 % of the present linear scaling.");
}

TEST(Answer, OfANumericProblemIsItsLoss) {
  TrainingPoint learned = point("linear_regression", 4, 0.007);
  learned.iteration = 12.3_us;
  learned.breakdown = {1.3_us, 11_us, 0_s, 0_s, 0_s, 0_s, 0_s};
  learned.learning = Learning{"linear_regression", {5, 3}, 9, {4, 0.5}, {1_s, 2_s}};
  const auto said = answer(std::vector{learned}, {});
  EXPECT_EQ(said.front(), "linear_regression lowers its loss from 9 to 0.5 in 2 epochs, 2 s of simulated time.");
  EXPECT_THAT(said.back(), HasSubstr("of its iteration of 12.3 us."));
}

TEST(Answer, SaysFirstThatEstimatedAndMeasuredComputeTimesAreCompared) {
  TrainingPoint estimated = point("vgg16", 512, 0.9);
  estimated.platform = "dgx-h100";
  estimated.compute_source = "estimated: 25 % of 989 TFLOP/s";
  const std::vector both{estimated, point("vgg16", 512, 0.8)};
  EXPECT_EQ(
      answer(both, {}).front(),
      "Compares estimated (dgx-h100) with measured (roce25-4xp100) compute times: a difference between them may be "
      "the estimate's.");
  auto banded = both;
  banded.front().bands = Bands{0.8, {0.75, 1.3}, {}, {}, {}, {}, {}};
  EXPECT_THAT(answer(banded, {}).front(), HasSubstr("compute times: an estimated one is truly between 25 % shorter and "
                                                    "30 % longer, with a probability of 80 %."));
  EXPECT_EQ(answer(std::vector{estimated}, {}).back(),
            "Compute times are estimated (25 % of 989 TFLOP/s), not measured.");
  estimated.platform = "roce25-4xp100";
  estimated.model = "my_model";
  EXPECT_THAT(answer(std::vector{estimated, point("vgg16", 512, 0.8)}, {}).front(),
              HasSubstr("estimated (my_model) with measured (vgg16)"));
  std::vector swapped{swept("p100", "ring", 0.9), swept("h100", "ring", 0.9)};
  swapped.back().compute_source = estimated.compute_source;
  for (TrainingPoint& one : swapped) one.swept = {{"variants", one.swept.front().value}};
  EXPECT_THAT(answer(swapped, {}).front(), HasSubstr("estimated (vgg16 (h100)) with measured (vgg16 (p100))"));
}

/// 8 nodes at 10 USD an hour for a quarter of an hour.
TrainingPoint charged(const std::string& variant, double of_a_run) {
  TrainingPoint made = point("resnet50", 64, 0.9);
  made.swept = {{"variants", variant}};
  made.cost = JobCost{};
  made.cost->currency = "USD";
  made.cost->node = Money(10) / 3600_s;
  made.cost->node_time = 8 * 900_s;
  made.cost->per_run = Money(of_a_run);
  return made;
}

// Compared at the price of the time used: 8 x 0.25 h x 10 USD/h = 20 USD, whatever the minimum.
TEST(Answer, ComparesCostsAtThePriceOfTheTimeUsedAndNamesAMinimumBesideThem) {
  std::vector points{charged("on demand", 20), charged("in a block", 1920)};
  points.front().cost->node = Money(11) / 3600_s;
  points.front().cost->per_run = Money(22);
  const auto said = answer(points, {});
  EXPECT_EQ(said.at(0),
            "Cheapest is resnet50 (in a block), 20 USD a run; most expensive resnet50 (on demand), 22 USD.");
  EXPECT_EQ(said.at(1), "With the minimum that is charged, a single run is 1,920 USD for resnet50 (in a block).");
}

/// The headline and the table have the same words, and they are true of every utilisation, not of the owner's alone.
TEST(Answer, SaysWhenItPaysInTheWordsOfTheTable) {
  const auto said = [](std::optional<double> from, std::optional<double> up_to) {
    std::vector points{charged("bought", 20), charged("rented", 30)};
    points.back().cost->node = Money(11) / 3600_s;
    points.front().cost->comparison = CostComparison{"reserved", "b", Money(1), from, up_to};
    const Series series = series_of(points);
    Record data;
    const auto section = cost_section(points, series, data);
    const std::string cell = section->grids.front().rows.front().back().text;
    const std::string words = when_it_pays(*points.front().cost->comparison);
    EXPECT_EQ(cell, words + ", against reserved");
    const std::string headline = from || up_to ? "resnet50 (bought) beats reserved " + words + "." : "";
    EXPECT_EQ(cost_sentences(points, series).at(2), headline);
    std::ostringstream text;
    write_costs(text, {}, points);
    EXPECT_THAT(text.str(), HasSubstr("it pays " + words + "\n"));
    return words;
  };
  EXPECT_EQ(said(0.31, {}), "above 31 % utilisation");
  EXPECT_EQ(said(0.0, {}), "at every utilisation");
  EXPECT_EQ(said({}, 0.67), "up to 67 % utilisation");
  EXPECT_EQ(said({}, {}), "at no utilisation");
}

TEST(Answer, OfNothingSaysSo) {
  EXPECT_THAT(answer({}, {}), ElementsAre("No point was run."));
}

TEST(Series, RunAlongRanksWhereTheyDiffer) {
  const Series series = series_of(std::vector{point("a", 1, 1), point("a", 4, 1), point("b", 4, 1)});
  EXPECT_EQ(series.axis, "ranks");
  EXPECT_THAT(series.name, ElementsAre("a", "a", "b"));
  EXPECT_THAT(series.along, ElementsAre("1", "4", "4"));
}

TEST(Series, RunAlongTheSweptNumberOtherwise) {
  const Series series = series_of(std::vector{swept("25 Gbit/s", "ring", 1), swept("100 Gbit/s", "ring", 1)});
  EXPECT_EQ(series.axis, "node nic rate");
  EXPECT_EQ(series.subject, "vgg16");
  EXPECT_THAT(series.name, ElementsAre("vgg16", "vgg16"));
}

TEST(Series, AreBarsWhereNothingIsANumber) {
  const Series series = series_of(std::vector{swept("25 Gbit/s", "ring", 1), swept("25 Gbit/s", "double_tree", 1)});
  EXPECT_EQ(series.axis, "");
  EXPECT_THAT(series.name, ElementsAre("ring", "double_tree"));
}

TEST(Series, AreBarsWhereNamesOfVariantsBeginWithANumber) {
  const std::vector points{charged("8 DGX A100 bought", 20), charged("64 GPUs by the hour", 30)};
  const Series series = series_of(points);
  EXPECT_EQ(series.axis, "");
  EXPECT_EQ(title(series, 0), "resnet50 (8 DGX A100 bought)");
}

TEST(Answer, GivesASmallRateWithItsDecimals) {
  TrainingPoint slow = point("a", 8, 1);
  slow.samples_per_second = 5.279;
  EXPECT_THAT(answer(std::vector{slow}, {}).front(), HasSubstr("5.28 samples/s"));
  slow.samples_per_second = 5279.4;
  EXPECT_THAT(answer(std::vector{slow}, {}).front(), HasSubstr("5,279 samples/s"));
}

TEST(Series, SaysWhatTheNumberInATitleIsOf) {
  TrainingPoint small = point("a", 8, 1);
  TrainingPoint large = small;
  small.batch_per_rank = 4;
  large.batch_per_rank = 16;
  EXPECT_EQ(title(series_of(std::vector{small, large}), 1), "a (batch per rank 16)");
}

}}  // namespace farandole::answer_test
