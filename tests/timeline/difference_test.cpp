// By how much one uncertain point is faster than another.
#include "timeline/difference.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::difference_test { namespace {

/// A step of so many seconds, of 64 samples, on one machine by one strategy.
TrainingPoint step_of(double seconds, std::vector<BandSource> sources, double same_job = 0) {
  TrainingPoint point;
  point.model = "vgg16";
  point.platform = "cluster";
  point.strategy = "horovod";
  point.precision = "fp32";
  point.compute_source = "estimated";
  point.iteration = Seconds(seconds);
  point.samples_per_second = 64 / seconds;
  point.bands.emplace();
  point.bands->probability = 0.8;
  point.bands->sources = std::move(sources);
  point.bands->same_job = same_job;
  return point;
}

BandSource rate(double slow, double fast, const std::string& platform = "cluster") {
  return {"/node/nic/host_rate", platform, {"2 GB/s", "20 GB/s"}, {slow, fast}};
}

BandSource compute(double fast, double slow, const std::string& whose = "vgg16 on p100") {
  return {of_compute_time, whose, {}, {fast, slow}};
}

BandSource published(double fast, double slow, const std::string& job = "horovod of vgg16 on cluster") {
  return {of_published_runs, job, {}, {fast, slow}};
}

double log_low(const Difference& difference) {
  return std::log(difference.band.low / difference.throughput);
}

double log_high(const Difference& difference) {
  return std::log(difference.band.high / difference.throughput);
}

/// A point that was measured has none, and is certain.
TEST(Difference, IsUnknownWhereNeitherHasBands) {
  TrainingPoint plain = step_of(1, {});
  plain.bands.reset();
  EXPECT_FALSE(difference(plain, plain));
  for (const auto& found : {difference(plain, step_of(0.5, {published(0.7, 1.5)}, 0.2)),
                            difference(step_of(2, {published(1 / 1.5, 1 / 0.7)}, 0.2), plain)}) {
    ASSERT_TRUE(found);
    EXPECT_NEAR(log_low(*found), -std::log(1.5), 1e-12);
    EXPECT_NEAR(log_high(*found), -std::log(0.7), 1e-12);
  }
}

// log(to / from) lies within same_job of itself: Phi(1.2816 log 2 / same_job) sure.
TEST(Difference, OfTwoRunsOfOneJobIsOffByWhatTheirErrorsDifferBy) {
  const auto found = difference(step_of(1, {published(0.7, 1.5)}, 0.2), step_of(0.5, {published(0.8, 1.4)}, 0.2));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->throughput, 2, 1e-12);
  EXPECT_NEAR(log_low(*found), -0.2, 1e-12);
  EXPECT_NEAR(log_high(*found), 0.2, 1e-12);
  EXPECT_NEAR(found->sure, 0.5 * std::erfc(-std::log(2.0) * 1.2816 / 0.2 / std::sqrt(2.0)), 1e-12);
}

TEST(Difference, OfRunsByTwoStrategiesIsOffByBothErrors) {
  const TrainingPoint servers = step_of(0.5, {published(0.8, 1.4, "parameter_server of vgg16 on cluster")}, 0.2);
  const auto found = difference(step_of(1, {published(0.7, 1.5)}, 0.2), servers);
  EXPECT_NEAR(log_low(*found), -std::hypot(std::log(0.7), std::log(1.4)), 1e-12);
  EXPECT_NEAR(log_high(*found), std::hypot(std::log(1.5), std::log(0.8)), 1e-12);
}

TEST(Difference, IsNotOffByWhatDoesTheSameToBoth) {
  const auto found =
      difference(step_of(1, {rate(1.5, 0.8), compute(0.9, 1.1)}), step_of(0.9, {rate(1.5, 0.8), compute(0.9, 1.1)}));
  EXPECT_NEAR(log_low(*found), 0, 1e-12);
  EXPECT_NEAR(log_high(*found), 0, 1e-12);
  EXPECT_EQ(found->sure, 1);
}

// A slow host holds back 25 Gbit/s less than 100: log(to / from) falls by log(1.5 / 1.2) there, and rises by log(0.9 /
// 0.8) where it is fast.
TEST(Difference, PutsANumberOfOneMachineToItsEndsOnBothSidesAtOnce) {
  const auto found = difference(step_of(1, {rate(1.2, 0.9)}), step_of(0.9, {rate(1.5, 0.8)}));
  EXPECT_NEAR(log_low(*found), std::log(1.2 / 1.5), 1e-12);
  EXPECT_NEAR(log_high(*found), std::log(0.9 / 0.8), 1e-12);
}

TEST(Difference, CountsANumberByItselfThatOneSideHasSettledOrAnotherMachineHas) {
  const auto settled = difference(step_of(1, {rate(1.2, 0.9)}), step_of(0.9, {}));
  EXPECT_NEAR(log_low(*settled), std::log(0.9), 1e-12);
  EXPECT_NEAR(log_high(*settled), std::log(1.2), 1e-12);
  const TrainingPoint elsewhere = step_of(0.9, {rate(1.2, 0.9, "rented")});
  const auto two = difference(step_of(1, {rate(1.2, 0.9)}), elsewhere);
  EXPECT_NEAR(log_high(*two), std::hypot(std::log(1.2), std::log(0.9)), 1e-12);
}

TEST(Difference, SharesAnEstimateOfComputeBetweenBatchesButNotBetweenModels) {
  TrainingPoint other = step_of(0.9, {compute(0.9, 1.1)});
  other.batch_per_rank = 32;
  EXPECT_NEAR(log_high(*difference(step_of(1, {compute(0.9, 1.1)}), other)), 0, 1e-12);
  other = step_of(0.9, {compute(0.9, 1.1, "resnet50 on p100")});
  EXPECT_GT(log_high(*difference(step_of(1, {compute(0.9, 1.1)}), other)), 0.1);
}

RC_GTEST_PROP(Difference, OfTheOtherWayRoundIsItsInverse, ()) {
  const auto factor = [] { return 0.5 + *rc::gen::inRange(0, 1000) / 1000.0; };
  const auto any = [&] {
    TrainingPoint point = step_of(factor(), {published(factor(), factor())}, factor() - 0.5);
    if (*rc::gen::arbitrary<bool>()) point.bands->sources.push_back(rate(factor(), factor()));
    if (*rc::gen::arbitrary<bool>()) point.bands->sources.push_back(compute(factor(), factor()));
    if (*rc::gen::arbitrary<bool>()) point.bands->sources.front().whose = "ddp of vgg16 on cluster";
    return point;
  };
  const TrainingPoint a = any();
  const TrainingPoint b = any();
  const Difference there = *difference(a, b);
  const Difference back = *difference(b, a);
  RC_ASSERT(std::abs(there.throughput * back.throughput - 1) < 1e-12);
  RC_ASSERT(std::abs(there.band.low * back.band.high - 1) < 1e-9);
  RC_ASSERT(std::abs(there.band.high * back.band.low - 1) < 1e-9);
  RC_ASSERT(std::abs(there.sure - back.sure) < 1e-9);
  RC_ASSERT(there.sure >= 0.5 && there.sure <= 1);
}

}}  // namespace farandole::difference_test
