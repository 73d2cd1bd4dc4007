// By how much one uncertain point is faster than another.
#include "timeline/difference.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::difference_test { namespace {

/// A step of so many seconds, of 64 samples, on one machine by one strategy.
TrainingPoint step_of(double seconds, std::vector<BandSource> sources, ComparedSettings compared = {}) {
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
  point.compared = std::move(compared);
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

/// What two points may differ in, each with a spread of its own.
ComparedSettings with(const std::string& network, const std::string& precision, double of_network = 0.1,
                      double of_precision = 0.3) {
  return {{"network", network, of_network}, {"precision", precision, of_precision}};
}

/// Of Student's distribution with two degrees of freedom, eight in ten of which lie within `width`.
double probability_of_sign(double gain, double width) {
  const double units = gain / width * 1.8856;
  return 0.5 + units / (2 * std::sqrt(2 + units * units));
}

TEST(Difference, IsUnknownWhereNeitherHasBands) {
  TrainingPoint plain = step_of(1, {}, with("slow", "fp32"));
  plain.bands.reset();
  EXPECT_FALSE(difference(plain, plain));
  const auto found = difference(plain, step_of(0.9, {published(0.7, 1.5)}, with("fast", "fp32")));
  ASSERT_TRUE(found);  // one that was measured errs in what is changed, and in nothing else
  EXPECT_NEAR(log_high(*found), 0.1, 1e-12);
}

TEST(Difference, IsOffByTheSpreadOfWhatChangesAndOfNothingElse) {
  const TrainingPoint slow = step_of(1, {published(0.7, 1.5)}, with("slow", "fp32"));
  const auto network = difference(slow, step_of(0.98, {published(0.8, 1.4)}, with("fast", "fp32", 0.2)));
  EXPECT_NEAR(log_low(*network), -0.2, 1e-12);  // the larger of both, whatever precision errs by
  EXPECT_NEAR(log_high(*network), 0.2, 1e-12);
  EXPECT_NEAR(network->sure, probability_of_sign(-std::log(0.98), 0.2), 1e-12);
  const auto both = difference(slow, step_of(0.5, {}, with("fast", "fp16")));
  EXPECT_NEAR(log_high(*both), std::hypot(0.1, 0.3), 1e-12);
}

TEST(Difference, OfAChangeOfNothingIsOneAndNotUncertain) {
  const TrainingPoint point =
      step_of(1, {published(0.7, 1.5), compute(0.8, 1.3), rate(1.5, 0.8)}, with("slow", "fp32"));
  const auto found = difference(point, point);
  EXPECT_EQ(found->throughput, 1);
  EXPECT_EQ(found->band.low, 1);
  EXPECT_EQ(found->band.high, 1);
  EXPECT_EQ(found->sure, 0.5);
}

// As errors of published pairs do: so many doublings, so many squares.
TEST(Difference, GrowsWithTheRootOfTheDoublingsOfRanks) {
  TrainingPoint few = step_of(1, {}, {{"ranks", "8", 0.03}});
  few.ranks = 8;
  for (const auto& [ranks, times] : {std::pair{16, 1.0}, {32, std::sqrt(2.0)}, {128, 2.0}}) {
    TrainingPoint many = step_of(1.1, {}, {{"ranks", std::to_string(ranks), 0.03}});
    many.ranks = ranks;
    EXPECT_NEAR(log_high(*difference(few, many)), 0.03 * times, 1e-12) << ranks;
  }
}

TEST(Difference, IsNotOffByWhatDoesTheSameToBoth) {
  const auto found =
      difference(step_of(1, {rate(1.5, 0.8), compute(0.9, 1.1)}), step_of(0.9, {rate(1.5, 0.8), compute(0.9, 1.1)}));
  EXPECT_NEAR(log_low(*found), 0, 1e-12);
  EXPECT_NEAR(log_high(*found), 0, 1e-12);
  EXPECT_EQ(found->sure, 0.95);
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

// The spread of another device is that of ratios, in which what both estimates have in common is not.
TEST(Difference, SharesAnEstimateOfComputeBetweenDevicesButNotBetweenModels) {
  const TrainingPoint here = step_of(1, {compute(0.9, 1.1)}, {{"device", "h100", 0.05}});
  const TrainingPoint there = step_of(0.9, {compute(0.8, 1.3, "vgg16 on h200")}, {{"device", "h200", 0.05}});
  EXPECT_NEAR(log_high(*difference(here, there)), 0.05, 1e-12);
  TrainingPoint other = there;
  other.model = "resnet50";
  EXPECT_GT(log_high(*difference(here, other)), 0.2);
  other = there;
  other.compute_source = "measured";
  EXPECT_GT(log_high(*difference(here, other)), 0.2);
}

RC_GTEST_PROP(Difference, IsTheSurerTheMoreIsGainedAndNeverSurerThanNineteenOfTwenty, ()) {
  const auto drawn = [](int least, int most) { return *rc::gen::inRange(least, most) / 1000.0; };
  const double apart = drawn(0, 500);
  const double less = drawn(0, 3000);
  const double more = less + drawn(0, 3000);
  const TrainingPoint base = step_of(1, {}, {{"network", "slow", apart}});
  const auto sure = [&](double gain) {
    return difference(base, step_of(std::exp(-gain), {}, {{"network", "fast", apart}}))->sure;
  };
  RC_ASSERT(sure(less) <= sure(more));
  RC_ASSERT(sure(more) <= 0.95);
  RC_ASSERT(std::abs(sure(more) - sure(-more)) < 1e-12);
}

RC_GTEST_PROP(Difference, OfTheOtherWayRoundIsItsInverse, ()) {
  const auto factor = [] { return 0.5 + *rc::gen::inRange(0, 1000) / 1000.0; };
  const auto any = [&] {
    TrainingPoint point = step_of(factor(), {published(factor(), factor())}, with("slow", "fp32", factor() - 0.5));
    if (*rc::gen::arbitrary<bool>()) point.compared.front().value = "fast";
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
  RC_ASSERT(there.sure >= 0.5 && there.sure <= 0.95);
}

}}  // namespace farandole::difference_test
