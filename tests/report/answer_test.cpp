// What a page says in its first lines.
#include "report/answer.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/points.hpp"
#include "report/series.hpp"

namespace farandole {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TrainingPoint point(const std::string& model, int ranks, double efficiency) {
  TrainingPoint made = vgg16_on_512_ranks();
  made.model = model;
  made.ranks = ranks;
  made.scaling_efficiency = efficiency;
  return made;
}

constexpr const char* rate_pointer = "/platform/override/~1node~1nic~1rate";

/// A point of a sweep over the network's rate and the algorithm.
TrainingPoint swept(const std::string& rate, const std::string& algorithm, double efficiency) {
  TrainingPoint made = point("vgg16", 128, efficiency);
  made.algorithm = algorithm;
  made.swept = {{rate_pointer, rate}, {"/collectives/allreduce", algorithm}};
  return made;
}

const Question faster{"What would 100 Gbit/s change?", {{rate_pointer, "25 Gbit/s"}}, {{rate_pointer, "100 Gbit/s"}}};

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
  EXPECT_EQ(answer(std::vector{banded}, {}).front(),
            "vgg16 scales at 68 % efficiency (80 % band 58 to 74) on 512 ranks of roce25-4xp100: 104,858 samples/s.");
  TrainingPoint other = banded;
  other.model = "resnet50";
  EXPECT_EQ(answer(std::vector{banded, other}, {}).front(),
            "On 512 ranks of roce25-4xp100, vgg16 scales at 68 % (80 % band 58 to 74) and resnet50 at 68 % (58 to 74) "
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

TEST(Answer, ToTheStudysQuestionComesFirst) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.5), swept("100 Gbit/s", "ring", 0.8),
                           swept("25 Gbit/s", "double_tree", 0.4), swept("100 Gbit/s", "double_tree", 0.5)};
  const auto said = answer(points, faster);
  EXPECT_EQ(said.at(0),
            "100 Gbit/s instead of 25 Gbit/s would take vgg16 (ring) on 128 ranks from 50 % to 80 % efficiency, "
            "104,858 to 104,858 samples/s.");
  EXPECT_EQ(
      said.at(1),
      "It changes most for vgg16 (ring), from 50 % to 80 %, and least for vgg16 (double_tree), from 40 % to 50 %.");
}

// The change is that of the efficiency; most and least go by its size, whichever way it goes.
/// Ten percent of error, of which two runs of one job share all but `same_job`.
TrainingPoint banded(TrainingPoint point, double samples_per_second, double same_job) {
  point.samples_per_second = samples_per_second;
  point.bands.emplace();
  point.bands->probability = 0.8;
  point.bands->sources = {{of_published_runs, {}, {0.9, 1.1}}};
  point.bands->same_job = same_job;
  return point;
}

TEST(Answer, SaysHowSureTheChangeIsWhereItsPointsHaveBands) {
  const std::vector points{banded(swept("25 Gbit/s", "ring", 0.6), 1000, 0.05),
                           banded(swept("100 Gbit/s", "ring", 0.9), 1500, 0.05)};
  EXPECT_THAT(answer_to(points, faster).front(),
              HasSubstr("1,000 to 1,500 samples/s: +50 % (80 % band +43 to +58), 99 % sure to be a gain."));
  const std::vector less{points[0], banded(swept("100 Gbit/s", "ring", 0.58), 970, 0.05)};
  EXPECT_THAT(answer_to(less, faster).front(),
              HasSubstr(": -3.0 % (80 % band -7.7 to +2.0), 78 % sure to be a loss."));
}

TEST(Answer, InJsonHasEveryPairWithItsDifference) {
  EXPECT_TRUE(answered({}, std::vector{vgg16_on_512_ranks()}).is_null());
  const std::vector points{banded(swept("25 Gbit/s", "ring", 0.6), 1000, 0.05), swept("25 Gbit/s", "double_tree", 0.7),
                           banded(swept("100 Gbit/s", "ring", 0.9), 1500, 0.05),
                           swept("100 Gbit/s", "double_tree", 0.8)};
  const Record record = answered(faster, points);
  EXPECT_EQ(record.at("ask"), "What would 100 Gbit/s change?");
  EXPECT_EQ(record.at("to").at(rate_pointer), "100 Gbit/s");
  EXPECT_EQ(record.at("answer"), Record(answer_to(points, faster)));
  ASSERT_EQ(record.at("pairs").size(), 2U);
  EXPECT_EQ(record.at("pairs").at(0).at("from"), 0);
  EXPECT_EQ(record.at("pairs").at(0).at("to"), 2);
  EXPECT_DOUBLE_EQ(record.at("pairs").at(0).at("throughput_ratio"), 1.5);
  EXPECT_GT(record.at("pairs").at(0).at("sure"), 0.99);
  EXPECT_EQ(record.at("pairs").at(1), (Record{{"from", 1}, {"to", 3}}));
}

TEST(Answer, ComparesNoTwoFidelities) {
  TrainingPoint elsewhere = swept("100 Gbit/s", "ring", 0.9);
  elsewhere.fidelity = "analytic";
  EXPECT_TRUE(compared_pairs(std::vector{swept("25 Gbit/s", "ring", 0.6), elsewhere}, faster).empty());
}

TEST(Answer, OrdersChangesByTheirSizeAndCallsALossALoss) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.960), swept("100 Gbit/s", "ring", 0.9604),
                           swept("25 Gbit/s", "double_tree", 0.93), swept("100 Gbit/s", "double_tree", 0.91)};
  const auto said = answer(points, faster);
  EXPECT_EQ(said.at(0),
            "100 Gbit/s instead of 25 Gbit/s changes nothing for vgg16 (ring) on 128 ranks: 96 % efficiency, "
            "104,858 samples/s.");
  EXPECT_EQ(said.at(1),
            "It changes most for vgg16 (double_tree), a loss from 93 % to 91 %, and least for vgg16 (ring), where "
            "nothing changes (96 %).");
}

TEST(Answer, SaysThatADowngradeLowers) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.93), swept("100 Gbit/s", "ring", 0.91)};
  EXPECT_EQ(answer(points, faster).front(),
            "100 Gbit/s instead of 25 Gbit/s would lower vgg16 on 128 ranks from 93 % to 91 % efficiency, "
            "104,858 to 104,858 samples/s.");
}

TEST(Answer, NamesTheThroughputThatChangesWhereTheEfficiencyDoesNot) {
  std::vector points{swept("25 Gbit/s", "ring", 0.93), swept("100 Gbit/s", "ring", 0.93)};
  points.back().samples_per_second *= 2;
  EXPECT_EQ(answer(points, faster).front(),
            "100 Gbit/s instead of 25 Gbit/s leaves vgg16 on 128 ranks at 93 % efficiency, 104,858 to 209,715 "
            "samples/s.");
}

TEST(Answer, SaysThatNothingChangesWhereNoPairChangesByHalfAPoint) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.96), swept("100 Gbit/s", "ring", 0.963),
                           swept("25 Gbit/s", "double_tree", 0.93), swept("100 Gbit/s", "double_tree", 0.926)};
  EXPECT_EQ(answer(points, faster).at(1),
            "Nothing changes for any of the 2 compared: less than half a percentage point each.");
}

// A change that is worth saying is told by two different numbers.
RC_GTEST_PROP(Answer, NeverNamesAChangeFromANumberToTheSameNumber, ()) {
  const double before = *rc::gen::inRange(100, 1000) / 1000.0;
  const double after = *rc::gen::inRange(100, 1000) / 1000.0;
  const std::string said =
      answer(std::vector{swept("25 Gbit/s", "ring", before), swept("100 Gbit/s", "ring", after)}, faster).front();
  const auto from = said.find("from ");
  RC_ASSERT((from != std::string::npos) == (std::abs(after - before) >= 0.005));
  if (from == std::string::npos) return;
  const auto to = said.find(" to ", from);
  const auto of = said.find(" of linear", to);
  RC_ASSERT(said.substr(from + 5, to - from - 5) != said.substr(to + 4, of - to - 4));
  RC_ASSERT((said.find("lower") != std::string::npos) == (after < before));
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
  EXPECT_EQ(said.at(0), "Cheapest is resnet50 (in a block), 20 USD a run; dearest resnet50 (on demand), 22 USD.");
  EXPECT_EQ(said.at(1), "With the minimum that is charged, a single run is 1,920 USD for resnet50 (in a block).");
}

TEST(Answer, WithoutAPairSaysNothingOfTheQuestion) {
  EXPECT_THAT(answer(std::vector{swept("25 Gbit/s", "ring", 0.5)}, faster).front(), HasSubstr("scales at 50 %"));
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

}  // namespace
}  // namespace farandole
