// Numeric problems of scenarios: every synchronous way gives the same weights, the others theirs, and all of them time.
#include <gmock/gmock.h>

#include "scenario/scenario_kit.hpp"
#include "support/source_folder.hpp"

namespace farandole::learning_test { namespace {

using testing::HasSubstr;

const std::filesystem::path scenarios = test::source_folder() / "scenarios";

std::vector<TrainingPoint> points_of(const std::string& name) {
  return run_document(Document::read(scenarios / (name + ".json")), Catalogue(), {}).points;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b.at(i)));
  return largest;
}

/// The slowest direction of the loss shrinks by 1 - 2 * 0.01 per epoch: 0.98^400 = 3e-4 of the start is left.
TEST(LinearRegressionScenarios, RecoverTheCoefficientsAlikeInEverySynchronousWay) {
  const std::vector<double> expected = points_of("linear-regression-gradient-descent").at(0).learning->weights;
  EXPECT_LT(largest_difference(expected, {5, 3, 2, 1}), 5e-3);
  for (const char* way :
       {"linear-regression-accumulation", "linear-regression-allgather", "linear-regression-plain-ring",
        "linear-regression-parameter-server", "linear-regression-ring"}) {
    const Learning learning = *points_of(way).at(0).learning;
    EXPECT_LT(largest_difference(learning.weights, expected), 1e-12) << way;
    EXPECT_EQ(learning.loss.size(), 400U);
    EXPECT_EQ(learning.seconds.size(), 400U);
    EXPECT_TRUE(std::ranges::is_sorted(learning.seconds));
  }
}

/// Whoever keeps which part of the weights: gathered and reduced by the schedules, they are those of gradient descent.
/// ZeRO's are gathered in bf16, whose rounding is 2^-9 of a weight.
TEST(LinearRegressionScenarios, ReachTheSameWeightsFromShards) {
  const std::vector<double> expected = points_of("linear-regression-gradient-descent").at(0).learning->weights;
  const auto points = points_of("linear-regression-sharded");
  ASSERT_EQ(points.size(), 5U);
  for (const TrainingPoint& point : points) {
    const bool is_short = point.strategy == "zero";
    EXPECT_LT(largest_difference(point.learning->weights, expected), is_short ? 5 * 0x1p-8 : 1e-12) << point.strategy;
    EXPECT_TRUE(std::ranges::is_sorted(point.learning->seconds));
  }
  EXPECT_GT(largest_difference(points.back().learning->weights, expected), 1e-9);
}

TEST(LinearRegressionScenarios, TakeOtherWaysWhereRanksAverageRarelyOrSendFewerBits) {
  for (const char* way : {"linear-regression-local-sgd", "linear-regression-compression"}) {
    const auto points = points_of(way);
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_GT(largest_difference(points[i].learning->weights, points[0].learning->weights), 1e-9) << way << i;
      EXPECT_LT(points[i].learning->loss.back(), 0.01 * points[i].learning->start_loss) << way << i;
    }
  }
}

/// One worker is far from the server. Who waits for it takes its time for every epoch; who does not applies gradients
/// of weights that are by then old, one at a time, each with the full learning rate.
TEST(LinearRegressionScenarios, EndSoonerAndElsewhereWhereServersDoNotWait) {
  const auto points = points_of("linear-regression-staleness");
  const Learning& waiting = *points.at(0).learning;
  EXPECT_LT(largest_difference(waiting.weights, points_of("linear-regression-ring").at(0).learning->weights), 1e-12);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].mean_staleness, 0);
    EXPECT_LT(points[i].learning->seconds.back(), waiting.seconds.back());
    EXPECT_GT(largest_difference(points[i].learning->weights, waiting.weights), 1e-6);
    EXPECT_LT(largest_difference(points[i].learning->weights, {5, 3, 2, 1}), 5e-3);
  }
}

/// What was left out is not lost with error feedback: it ends nearer to the coefficients than without.
TEST(LinearRegressionScenarios, EndNearerWithErrorFeedback) {
  const auto points = points_of("linear-regression-compression");
  EXPECT_LT(points.at(4).learning->loss.back(), points.at(5).learning->loss.back());
  EXPECT_LT(points.at(6).learning->loss.back(), points.at(7).learning->loss.back());
}

TEST(SoftmaxRegressionScenario, LearnsLessInAnEpochOfLargerBatchesButEndsItSooner) {
  const auto points = points_of("softmax-regression-batch");
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].batch_per_rank, points[i - 1].batch_per_rank);
    EXPECT_GT(points[i].learning->loss.front(), points[i - 1].learning->loss.front());
    EXPECT_LT(points[i].learning->seconds.front(), points[i - 1].learning->seconds.front());
  }
}

TEST(LearningSection, IsTimedFromTheFirstIterationOn) {
  const auto points = test::run({{"/learning", R"({"problem": "linear_regression", "epochs": 3})"},
                                 {"/effects", R"({"device_spread": "0 %", "step_jitter": "0 %"})"}})
                          .points;
  const Learning& learning = *points.at(0).learning;
  const double updates = std::floor(1000.0 / (32 * 4));
  EXPECT_NEAR(learning.seconds.at(2).si(), 3 * updates * points.at(0).iteration.si(),
              0.1 * learning.seconds.at(2).si());
}

TEST(LearningSection, RefusesWhatCannotBeTrained) {
  EXPECT_THAT(test::error_of({{"/learning", R"({"problem": "linear_regresion"})"}}),
              HasSubstr("/learning/problem: expected a numeric problem"));
  EXPECT_THAT(test::error_of({{"/learning", R"({"problem": "linear_regression", "samples": 100})"}}),
              HasSubstr("at least the 128 samples of one update: 4 ranks x 32 a batch x 1 passes, got 100"));
  EXPECT_THAT(test::error_of({{"/learning", R"({"problem": "linear_regression", "learning_rate": 0})"}}),
              HasSubstr("/learning/learning_rate: expected a rate above 0"));
  EXPECT_THAT(test::error_of({{"/learning", R"({"problem": "linear_regression", "classes": 3})"}}),
              HasSubstr("classes"));
  EXPECT_THAT(test::error_of({{"/learning", R"({"problem": "linear_regression", "learning_rate": 99, "epochs": 99})"}}),
              HasSubstr("does not diverge"));
}

}}  // namespace farandole::learning_test
