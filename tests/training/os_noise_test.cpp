#include <gtest/gtest.h>

#include "training/effects/distribution.hpp"
#include "training/variability.hpp"

namespace farandole::os_noise_test { namespace {

TEST(OsNoise, InterruptsOncePerPeriodAtAPhaseOfItsOwn) {
  // 10 s of compute, a period of 4 s: 2 or 3 hits of 0.5 s; floor(2.5 + u).
  const OsNoise noise{4_s, 0.5_s, {}};
  EXPECT_EQ(noise.added(10_s, 0.1, 0.5), 1_s);
  EXPECT_EQ(noise.added(10_s, 0.9, 0.5), 1.5_s);
}

TEST(OsNoise, CostsItsShareOfTimeInTheMean) {
  // Mean over ranks and iterations: compute x length / period = 0.1 s x 1 ms / 20 ms = 5 %.
  Variability variability(500, 0, 0, 1);
  variability.disturb({20_ms, 1_ms, {"exponential", 1}}, 0.1_s);
  double sum = 0;
  for (int iteration = 0; iteration < 40; ++iteration) sum += variability.factors(iteration).mean();
  EXPECT_NEAR(sum / 40, 1.05, 0.0006);  // four standard errors of 20,000 draws of deviation 2.2 %
}

TEST(OsNoise, RareNoiseSparesOneRankAndHitsThousands) {
  // One hit per second in 10 ms of compute: of one rank 1 in 100 iterations suffers; of 2,000 ranks one always does.
  const OsNoise noise{1_s, 1_ms, {}};
  Variability alone(1, 0, 0, 1);
  Variability many(2000, 0, 0, 1);
  alone.disturb(noise, 10_ms);
  many.disturb(noise, 10_ms);
  int hits_alone = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    hits_alone += alone.factors(iteration).maxCoeff() > 1 ? 1 : 0;
    EXPECT_DOUBLE_EQ(many.factors(iteration).maxCoeff(), 1.1);
  }
  EXPECT_LT(hits_alone, 10);
}

TEST(Variability, JitterMayHaveAnyDistribution) {
  const Variability variability(20'000, 0, Distribution{"lognormal", 0.3}, 3);
  const Eigen::ArrayXd factors = variability.factors(0);
  EXPECT_NEAR(factors.mean(), 1, 0.01);
  EXPECT_GT(factors.maxCoeff(), 2.5);  // exp(0.29 z) is skewed: 1 + 4 deviations is 2.2
  EXPECT_GT(factors.minCoeff(), 0);
}

}}  // namespace farandole::os_noise_test
