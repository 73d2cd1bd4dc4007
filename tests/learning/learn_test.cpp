// Training on numbers, against plain gradient descent written out here.
#include "learning/learn.hpp"

#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "config/error.hpp"
#include "learning/problems/problems.hpp"

namespace farandole::learn_test { namespace {

Training training(const NumericProblem& problem, int workers, int batch, int passes = 1) {
  Carrier carrier([=](Operation operation) { return find_algorithm(operation, "ring")->build(Shape(workers)); });
  return {problem, 0.01, 400, workers, batch, passes, 1, Exchange(std::move(carrier), Operation::allreduce, {}, {})};
}

UpdateLog every_second(int updates) {
  UpdateLog log;
  for (int i = 0; i < updates; ++i) log.push_back({Seconds(i + 1), every_rank, i});
  return log;
}

/// w -= rate * 2/m X^T (X w - y), 400 times
Vector gradient_descent(const NumericProblem& problem) {
  Vector weights = problem.start;
  for (int epoch = 0; epoch < 400; ++epoch) {
    weights -= 0.01 * 2 / 1000 * (problem.features.transpose() * (problem.features * weights - problem.targets));
  }
  return weights;
}

double distance(const Learning& learning, const Vector& weights) {
  return (Eigen::Map<const Vector>(learning.weights.data(), weights.size()) - weights).norm();
}

TEST(Learning, InStepIsGradientDescentHoweverTheSamplesAreSharedOut) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  const Vector expected = gradient_descent(problem);
  EXPECT_LT((expected - Vector(Eigen::Vector4d(5, 3, 2, 1))).norm(), 5e-3);
  struct Way {
    int workers, batch, passes;
  };
  for (const Way& way : {Way{1, 1000, 1}, Way{1, 250, 4}, Way{4, 250, 1}, Way{2, 250, 2}, Way{5, 100, 2}}) {
    Training run = training(problem, way.workers, way.batch, way.passes);
    EXPECT_LT(distance(learn_in_step(run, every_second(400)), expected), 1e-12);
  }
}

TEST(Learning, NotesLossAndTimeAtTheEndOfEachEpoch) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  Training run = training(problem, 2, 100);  // 5 updates an epoch
  run.epochs = 3;
  const Learning learning = learn_in_step(run, every_second(15));
  ASSERT_EQ(learning.loss.size(), 3U);
  EXPECT_EQ(learning.seconds, (std::vector<Seconds>{5_s, 10_s, 15_s}));
  EXPECT_GT(learning.start_loss, learning.loss[0]);
  EXPECT_GT(learning.loss[0], learning.loss[2]);
}

/// A server that gets one push after the other, each of the newest weights, does sequential descent on the shards.
TEST(Learning, AtOnceWithoutStalenessIsSequentialDescent) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  Training run = training(problem, 4, 250);
  run.epochs = 10;
  UpdateLog log;
  Vector weights = problem.start;
  for (int i = 0; i < 40; ++i) {
    log.push_back({Seconds(i + 1), i % 4, i});
    weights -= 0.01 * problem.gradient(problem, weights, {250 * (i % 4), 250});
  }
  EXPECT_LT(distance(learn_at_once(run, log), weights), 1e-13);
}

/// Two workers that both saw the start: w = w0 - rate * (g0(w0) + g1(w0)).
TEST(Learning, AtOnceAppliesGradientsOfTheWeightsTheirWorkerSaw) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  Training run = training(problem, 2, 500);
  run.epochs = 1;
  const Learning learning = learn_at_once(run, {{1_s, 1, 0}, {2_s, 0, 0}});
  const Vector& start = problem.start;
  const Vector expected =
      start - 0.01 * (problem.gradient(problem, start, {0, 500}) + problem.gradient(problem, start, {500, 500}));
  EXPECT_LT(distance(learning, expected), 1e-13);
}

TEST(Learning, ApartWithAnAverageAfterEveryUpdateIsInStep) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  Training run = training(problem, 4, 250);
  EXPECT_LT(distance(learn_apart(run, every_second(400)), gradient_descent(problem)), 1e-12);
  run.period = 8;
  const Learning rare = learn_apart(run, every_second(400));
  EXPECT_GT(distance(rare, gradient_descent(problem)), 1e-9);
  EXPECT_LT(distance(rare, Eigen::Vector4d(5, 3, 2, 1)), 5e-3);
}

TEST(Learning, RefusesARateAtWhichTheLossOverflows) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  Training run = training(problem, 4, 250);
  run.learning_rate = 10;
  EXPECT_THROW(learn_in_step(run, every_second(400)), InputError);
}

TEST(LearningRules, AreThereForSynchronousStrategies) {
  EXPECT_NE(find_learning_rule("horovod", "synchronous"), nullptr);
  EXPECT_EQ(find_learning_rule("horovod", "asynchronous"), nullptr);
}

}}  // namespace farandole::learn_test
