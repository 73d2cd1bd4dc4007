#include "training/effects/failures.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace farandole {
namespace {

template <class Run>
Seconds mean_total(int seeds, Run run) {
  Seconds sum;
  for (int seed = 0; seed < seeds; ++seed) sum += run(static_cast<std::uint64_t>(seed)).total;
  return sum / seeds;
}

TEST(Failures, RestartedRunsTakeWhatDalysFormulaExpects) {
  // T = (work / tau) M e^(R/M) (e^((tau + C)/M) - 1): 100 segments of 100 s, C = 5 s, R = 20 s, M = 300 s.
  const RestartPlan plan{10'000_s, 100_s, 5_s, 20_s, 300_s};
  const double expected = 100 * 300 * std::exp(20 / 300.0) * (std::exp(105 / 300.0) - 1);
  EXPECT_NEAR(expected_time(plan).si(), expected, 1e-6);
  const Seconds mean = mean_total(3000, [&](std::uint64_t seed) { return restart_run(plan, seed); });
  EXPECT_NEAR(mean.si() / expected, 1, 0.01);
}

TEST(Failures, WithoutFailuresOnlyCheckpointsCost) {
  const Survival run = restart_run({1000_s, 100_s, 2_s, 30_s, Seconds(1e15)}, 1);
  EXPECT_NEAR(run.total.si(), 1000 + 10 * 2, 1e-9);
  EXPECT_EQ(run.failures, 0);
}

TEST(Failures, DalysIntervalIsBetterThanHalfAndTwiceIt) {
  RestartPlan plan{100'000_s, best_interval(10_s, 5000_s), 10_s, 60_s, 5000_s};
  EXPECT_NEAR(plan.interval.si(), std::sqrt(2 * 10.0 * 5000), 10);  // Young's, to first order
  const Seconds best = expected_time(plan);
  plan.interval *= 2;
  EXPECT_LT(best, expected_time(plan));
  plan.interval /= 4;
  EXPECT_LT(best, expected_time(plan));
}

TEST(Failures, ThePartsOfARunSumToIt) {
  const Survival run = restart_run({10'000_s, 100_s, 5_s, 20_s, 300_s}, 7);
  EXPECT_NEAR(run.total.si(), (10'000_s + run.lost + run.recovering + run.checkpointing).si(), 1e-6);
  EXPECT_GT(run.failures, 0);
}

ElasticPlan elastic_plan() {
  ElasticPlan plan;
  plan.work = 100'000_s;
  plan.commit_interval = 10_s;
  plan.reset = 5_s;
  plan.repair = 1000_s;
  plan.node_mtbf = 1'000'000_s;
  plan.nodes = 10;
  plan.relative_rate = [](int nodes) { return nodes / 10.0; };
  return plan;
}

TEST(Failures, ElasticTrainingLosesANodesShareWhileItIsRepaired) {
  // A failure every M/n = 1e5 s costs about: half a commit interval, two resets, a tenth of the rate for 1000 s
  //   T ~ work + (T / 1e5)(5 + 10 + 0.1 x 1000), so 0.115 % more.
  const ElasticPlan plan = elastic_plan();
  const Seconds mean = mean_total(2000, [&](std::uint64_t seed) { return elastic_run(plan, seed); });
  EXPECT_NEAR(mean.si() / 1e5, 1.00115, 0.0001);
}

TEST(Failures, ElasticTrainingWithoutFailuresTakesTheWork) {
  ElasticPlan plan = elastic_plan();
  plan.node_mtbf = Seconds(1e18);
  EXPECT_DOUBLE_EQ(elastic_run(plan, 3).total.si(), 1e5);
}

TEST(Failures, BelowTheLeastNumberOfNodesTheJobWaits) {
  ElasticPlan plan = elastic_plan();
  plan.least_nodes = 10;
  plan.node_mtbf = 100'000_s;
  const Survival run = elastic_run(plan, 1);
  EXPECT_GT(run.failures, 0);
  EXPECT_GE(run.recovering, run.failures * plan.repair);
  EXPECT_NEAR(run.total.si(), (plan.work + run.lost + run.recovering).si(), 1e-6);
}

}  // namespace
}  // namespace farandole
