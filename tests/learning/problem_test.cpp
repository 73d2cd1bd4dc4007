// A problem's gradient is the slope of its loss; means over parts make up the mean over all.
#include <gtest/gtest.h>

#include "learning/numpy_random.hpp"
#include "learning/problems/problems.hpp"

namespace farandole::problem_test { namespace {

std::vector<NumericProblem> small_problems() {
  return {linear_regression(LinearRegressionSpec{60, {5, 3, 2, 1}, 0.5, 3}),
          softmax_regression(SoftmaxRegressionSpec{60, 4, 3, 1.0, 3})};
}

Vector somewhere(const NumericProblem& problem) {
  NumpyRandom random(1);
  Vector weights = problem.start;
  for (double& weight : weights) weight += random.normal();
  return weights;
}

/// (loss(w + h e_i) - loss(w - h e_i)) / 2h = gradient_i up to O(h^2)
TEST(NumericProblem, HasTheGradientThatDifferencesOfItsLossGive) {
  for (const NumericProblem& problem : small_problems()) {
    const Vector weights = somewhere(problem);
    const Vector gradient = problem.gradient(problem, weights, {10, 30});
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      const double step = 1e-5;
      const Vector offset = step * Vector::Unit(weights.size(), i);
      const double slope =
          (problem.loss(problem, weights + offset, {10, 30}) - problem.loss(problem, weights - offset, {10, 30})) /
          (2 * step);
      EXPECT_NEAR(gradient[i], slope, 1e-6 * (1 + std::abs(slope)));
    }
  }
}

/// gradient(all) = sum over parts of (samples of the part / samples) * gradient(part)
TEST(NumericProblem, IsTheWeightedMeanOfItsParts) {
  for (const NumericProblem& problem : small_problems()) {
    const Vector weights = somewhere(problem);
    const Vector parts = (15.0 / 60) * problem.gradient(problem, weights, {0, 15}) +
                         (45.0 / 60) * problem.gradient(problem, weights, {15, 45});
    EXPECT_LT((problem.gradient(problem, weights, problem.all()) - parts).norm(), 1e-12);
  }
}

/// The first four normal deviates of seed 42, with means 0 .. 3; y = X c.
TEST(LinearRegression, HasTheNotebooksSamples) {
  const NumericProblem problem = linear_regression(LinearRegressionSpec{});
  EXPECT_NEAR(problem.features(0, 0), 0.49671415, 5e-9);
  EXPECT_NEAR(problem.features(0, 3), 3 + 1.52302986, 5e-9);
  EXPECT_NEAR(problem.targets[0], 5 * 0.49671415 + 3 * 0.8617357 + 2 * 2.64768854 + 4.52302986, 1e-7);
  EXPECT_EQ(problem.features.rows(), 1000);
}

/// At w = 0 every class has probability 1 / classes: loss = log(classes).
TEST(SoftmaxRegression, BeginsKnowingNothing) {
  const NumericProblem problem = softmax_regression(SoftmaxRegressionSpec{});
  EXPECT_NEAR(problem.loss(problem, problem.start, problem.all()), std::log(10), 1e-12);
}

TEST(SoftmaxRegression, DoesNotOverflowWhereScoresAreHuge) {
  const NumericProblem problem = softmax_regression(SoftmaxRegressionSpec{50, 4, 3, 1.0, 3});
  EXPECT_TRUE(std::isfinite(problem.loss(problem, 1e4 * somewhere(problem), problem.all())));
}

}}  // namespace farandole::problem_test
