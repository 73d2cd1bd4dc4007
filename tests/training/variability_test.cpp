#include "training/variability.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace farandole::variability_test { namespace {

TEST(Variability, TheOnlyDeviceIsTheMedianOne) {
  EXPECT_DOUBLE_EQ(Variability(1, 0.05, 0, 7).factors(0)[0], 1.0);
}

TEST(Variability, DevicesAreAStratifiedSampleOfTheNormalDistribution) {
  // n = 1000: mean 1, standard deviation spread, slowest at Q(999.5 / 1000) = 3.2905 deviations.
  const Eigen::ArrayXd factors = Variability(1000, 0.02, 0, 3).factors(0);
  EXPECT_NEAR(factors.mean(), 1.0, 1e-12);
  EXPECT_NEAR(std::sqrt((factors - 1).square().mean()), 0.02, 2e-4);
  EXPECT_NEAR((factors.maxCoeff() - 1) / 0.02, 3.2905, 1e-3);
}

TEST(Variability, WhichDeviceIsSlowDependsOnTheSeedButHowSlowDoesNot) {
  Eigen::ArrayXd one = Variability(64, 0.02, 0, 1).factors(0);
  Eigen::ArrayXd two = Variability(64, 0.02, 0, 2).factors(0);
  EXPECT_FALSE((one == two).all());
  std::sort(one.begin(), one.end());
  std::sort(two.begin(), two.end());
  EXPECT_TRUE((one == two).all());
}

TEST(Variability, StepsJitterIndependentlyAroundTheDevicesOwnSpeed) {
  const Variability variability(100, 0, 0.01, 5);
  double sum = 0;
  double squares = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const Eigen::ArrayXd deviation = variability.factors(iteration) - 1;
    sum += deviation.sum();
    squares += deviation.square().sum();
  }
  EXPECT_NEAR(sum / 1e4, 0, 4e-4);  // four standard errors of the mean of 10,000
  EXPECT_NEAR(std::sqrt(squares / 1e4), 0.01, 3e-4);
}

TEST(Variability, IsAFunctionOfSeedRankAndIterationAlone) {
  const Variability variability(8, 0.02, 0.01, 9);
  const Eigen::ArrayXd later = variability.factors(5);
  const Eigen::ArrayXd earlier = variability.factors(0);
  EXPECT_TRUE((Variability(8, 0.02, 0.01, 9).factors(5) == later).all());
  EXPECT_FALSE((earlier == later).all());
}

TEST(Variability, AStragglerIsSlowerByItsShare) {
  Variability variability(4, 0, 0, 1);
  variability.slow_down(2, 0.1);
  EXPECT_DOUBLE_EQ(variability.factors(0)[2], 1.1);
  EXPECT_DOUBLE_EQ(variability.factors(0)[1], 1.0);
}

}}  // namespace farandole::variability_test
