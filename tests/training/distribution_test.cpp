#include "training/effects/distribution.hpp"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace farandole::distribution_test { namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
  double least = 1e300;
};

/// The quantile function at the midpoints of n equal probabilities.
Moments moments_of(const Distribution& distribution) {
  constexpr int n = 200'000;
  double sum = 0;
  double squares = 0;
  Moments moments;
  for (int i = 0; i < n; ++i) {
    const double x = distribution.factor((i + 0.5) / n);
    sum += x;
    squares += x * x;
    moments.least = std::min(moments.least, x);
  }
  moments.mean = sum / n;
  moments.deviation = std::sqrt(squares / n - moments.mean * moments.mean);
  return moments;
}

TEST(Distribution, EveryKindHasMeanOneAndItsDeviationAndStaysPositive) {
  for (const DistributionKind& kind : distribution_kinds()) {
    const double deviation = std::min(kind.most_deviation, 0.19);
    const Moments moments = moments_of({kind.name, deviation});
    EXPECT_NEAR(moments.mean, 1, 1e-4) << kind.name;
    EXPECT_NEAR(moments.deviation, deviation, 0.005 * deviation + 1e-12) << kind.name;
    EXPECT_GT(moments.least, 0) << kind.name;
  }
}

TEST(Distribution, FactorsGrowWithTheProbability) {
  for (const DistributionKind& kind : distribution_kinds()) {
    const Distribution distribution{kind.name, std::min(kind.most_deviation, 0.5)};
    for (int i = 1; i < 99; ++i) {
      EXPECT_LE(distribution.factor(i / 100.0), distribution.factor((i + 1) / 100.0)) << kind.name;
    }
  }
}

TEST(Distribution, TheSumOfManyDrawsVariesByOneOverTheRootOfTheirNumber) {
  // deviation(sum of k) / mean(sum of k) = d sqrt(k) / k
  EXPECT_DOUBLE_EQ((Distribution{"gamma", 0.6}).of_sum(9).deviation, 0.2);
}

TEST(Distribution, WithoutDeviationIsAlwaysOne) {
  EXPECT_EQ((Distribution{"lognormal", 0}).factor(0.999), 1);
}

TEST(Distribution, RefusesAKindThatIsNotInTheTable) {
  EXPECT_THROW(distribution_kind("cauchy"), std::invalid_argument);
}

}}  // namespace farandole::distribution_test
