#include "training/effects/failures.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace farandole::failures_test { namespace {

Survival restart_run(const RestartPlan& plan, std::uint64_t seed) {
  EventsLeft events;
  return restart_run(plan, seed, events);
}

Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed) {
  EventsLeft events;
  return elastic_run(plan, seed, events);
}

template <class Run>
Seconds mean_total(int seeds, Run run) {
  Seconds sum;
  for (int seed = 0; seed < seeds; ++seed) sum += run(static_cast<std::uint64_t>(seed)).total;
  return sum / seeds;
}

/// 100 segments of 100 s, C = 5 s, R = 20 s, M = 300 s.
const RestartPlan plain{10'000_s, 100_s, 5_s, 20_s, 300_s};

TEST(Failures, RestartedRunsTakeWhatDalysFormulaExpects) {
  // T = (work / tau) M e^(R/M) (e^((tau + C)/M) - 1)
  const double expected = 100 * 300 * std::exp(20 / 300.0) * (std::exp(105 / 300.0) - 1);
  EXPECT_NEAR(expected_run(plain).total.si(), expected, 1e-6);
}

/// Sums and squares of what many seeded runs come to.
struct Estimate {
  double mean = 0;
  double error = 0;  // of the mean: one standard deviation
};

template <class Part>
Estimate estimate(const RestartPlan& plan, Part part, int seeds = 4000) {
  double sum = 0;
  double squares = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const double value = part(restart_run(plan, static_cast<std::uint64_t>(seed)));
    sum += value;
    squares += value * value;
  }
  const double mean = sum / seeds;
  return {mean, std::sqrt((squares / seeds - mean * mean) / seeds)};
}

std::vector<RestartPlan> plans() {
  std::vector<RestartPlan> all{plain};
  all.push_back({1050_s, 100_s, 5_s, 20_s, 300_s});    // the last segment is shorter
  all.push_back({800_s, 10'000_s, 0_s, 20_s, 300_s});  // no checkpoint at all
  RestartPlan background = plain;
  background.checkpoint = 2_s;
  background.background = 60_s;
  all.push_back(background);
  background.background = 150_s;  // checkpoints wait for the one before
  all.push_back(background);
  background.work = 1030_s;
  all.push_back(background);
  RestartPlan repaired = plain;
  repaired.repair = 400_s;
  all.push_back(repaired);
  return all;
}

TEST(Failures, EveryPartOfARunIsInTheMeanWhatIsExpected) {
  // Four standard deviations of 4,000 seeded runs of the renewal process, for each part of the time.
  for (const RestartPlan& plan : plans()) {
    const Survival expected = expected_run(plan);
    const auto agrees = [&](double Survival::*part) {
      const Estimate found = estimate(plan, [&](const Survival& run) { return run.*part; });
      EXPECT_NEAR(found.mean, expected.*part, 4 * found.error + 1e-6);
    };
    const auto times = [&](Seconds Survival::*part) {
      const Estimate found = estimate(plan, [&](const Survival& run) { return (run.*part).si(); });
      EXPECT_NEAR(found.mean, (expected.*part).si(), 4 * found.error + 1e-6);
    };
    times(&Survival::total);
    times(&Survival::lost);
    times(&Survival::recovering);
    times(&Survival::checkpointing);
    times(&Survival::standby);
    agrees(&Survival::failures);
  }
}

TEST(Failures, WaitingForANodeIsErlangsLoss) {
  // Three nodes spare, D / M = 2: B(4, 2) = (2^4/4!) / sum of 2^k/k! for k to 4 = 2/21 of a long run.
  RestartPlan plan = plain;
  plan.work = 1'000'000_s;
  plan.repair = 600_s;
  plan.spares = 3;
  const Survival expected = expected_run(plan);
  EXPECT_NEAR(expected.standby / expected.total, 2.0 / 21, 1e-12);
  const Estimate found = estimate(
      plan, [](const Survival& run) { return run.standby / run.total; }, 200);
  EXPECT_NEAR(found.mean, 2.0 / 21, 4 * found.error + 1e-3);  // a run begins with all nodes whole
}

/// Of a long run.
double goodput(const RestartPlan& plan) {
  return plan.work / expected_run(plan).total;
}

TEST(Failures, WithoutFailuresAndWithFreeCheckpointsNothingIsLost) {
  EXPECT_NEAR(goodput({1e6 * 1_s, 100_s, 0_s, 600_s, Seconds(1e15)}), 1, 1e-9);
}

TEST(Failures, GoodputGrowsWithTheMtbfAndWithTheRateOfWriting) {
  // A job of 1,000 to 100,000 devices, 8 on a node that fails every 6,334 h (16,384 GPUs of Llama 3: 419 unexpected
  // interruptions in 54 days), that checkpoints at its best interval: of a checkpoint of 1 TB at 10 GB/s and more.
  for (const bool in_background : {false, true}) {
    double before = 1;
    for (const int devices : {1'000, 4'000, 16'000, 64'000, 100'000}) {
      double slower = 0;
      for (const double rate : {10e9, 100e9, 1000e9, 4000e9}) {
        RestartPlan plan{30 * 86'400_s, 0_s, 1e12 / rate * 1_s, 300_s, 6334 * 3600_s / (devices / 8.0)};
        if (in_background) plan.background = std::exchange(plan.checkpoint, 1_s);
        plan.interval = best_interval(plan);
        EXPECT_GT(goodput(plan), slower);
        slower = goodput(plan);
      }
      EXPECT_LT(slower, before);
      before = slower;
    }
    EXPECT_GT(before, 0.5);
  }
}

TEST(Failures, TheBestIntervalIsAMinimumAndNearYoungsAndDalys) {
  // Young: sqrt(2 C M). Daly: sqrt(2 C M) (1 + (C/2M)^(1/2)/3 + (C/2M)/9) - C.
  for (const double cost : {1e-3, 1.0, 10.0, 100.0, 1000.0}) {
    RestartPlan plan{1e7 * 1_s, 1_s, cost * 1_s, 60_s, 5000_s};
    const double young = std::sqrt(2 * cost * 5000);
    const double ratio = std::sqrt(cost / 10'000);
    const double best = best_interval(plan).si();
    EXPECT_NEAR(best / (young * (1 + ratio / 3 + ratio * ratio / 9) - cost), 1, 2e-3);
    EXPECT_NEAR(best / young, 1, ratio);
    const auto time = [&](double interval) {  // per second of work
      plan.interval = interval * 1_s;
      plan.work = 1000 * plan.interval;
      return expected_run(plan).total / plan.work;
    };
    for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) EXPECT_LT(time(best), time(factor * best));
  }
}

TEST(Failures, InTheBackgroundTheBestIntervalIsAtLeastTheTimeOfWriting) {
  RestartPlan plan{100'000_s, 1_s, 1_s, 60_s, 5000_s, 300_s};
  EXPECT_EQ(best_interval(plan), 300_s);  // sqrt(2 x 1 x 5000) is 100
  plan.background = 20_s;
  const RestartPlan waiting{100'000_s, 1_s, 1_s, 60_s, 5000_s};
  EXPECT_EQ(best_interval(plan), best_interval(waiting));
}

TEST(Failures, WithoutFailuresOnlyCheckpointsCost) {
  const Survival run = restart_run({1000_s, 100_s, 2_s, 30_s, Seconds(1e15)}, 1);
  EXPECT_NEAR(run.total.si(), 1000 + 10 * 2, 1e-9);
  EXPECT_EQ(run.failures, 0);
}

TEST(Failures, ThePartsOfARunSumToIt) {
  const Survival run = restart_run({10'000_s, 100_s, 5_s, 20_s, 300_s}, 7);
  EXPECT_NEAR(run.total.si(), (10'000_s + run.lost + run.recovering + run.checkpointing).si(), 1e-6);
  EXPECT_GT(run.failures, 0);
  const Survival mean = expected_run(plain);
  EXPECT_NEAR(mean.total.si(), (10'000_s + mean.lost + mean.recovering + mean.checkpointing).si(), 1e-6);
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

}}  // namespace farandole::failures_test
