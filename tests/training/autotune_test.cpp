// The autotuner: its Gaussian process, its search, and the order in which it tries values.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "training/autotune/autotuner.hpp"

namespace farandole::autotune_test { namespace {

using Vector = Eigen::VectorXd;

Vector at(std::initializer_list<double> values) {
  return Vector::Map(values.begin(), static_cast<Eigen::Index>(values.size()));
}

TEST(Minimise, FindsTheBottomOfACurvedValley) {
  // Rosenbrock: (1 - x)^2 + 100 (y - x^2)^2 is least at (1, 1).
  const auto valley = [](const Vector& v) { return std::pow(1 - v[0], 2) + 100 * std::pow(v[1] - v[0] * v[0], 2); };
  const Minimum found = minimise(valley, at({-1.2, 1}));
  EXPECT_NEAR(found.at[0], 1, 1e-3);
  EXPECT_NEAR(found.at[1], 1, 1e-3);
}

TEST(Minimise, StaysWithinBoundsGivenAsInfinity) {
  const auto slope = [](const Vector& v) { return v[0] < 2 ? std::numeric_limits<double>::infinity() : v[0]; };
  const Minimum found = minimise(slope, at({5}));
  EXPECT_GE(found.at[0], 2);
  EXPECT_NEAR(found.at[0], 2, 1e-3);
}

TEST(GaussianProcess, BelievesSamplesNearThemAndNothingFarFromThem) {
  // Posterior of one sample y at x, variance f^2 and noise s: at x mean f^2 y / (f^2 + s^2), far away 0.
  GaussianProcess process(0.1);
  process.fit((Eigen::MatrixXd(3, 1) << 0, 1, 2).finished(), at({1, -1, 1}));
  const auto near = process.predict((Eigen::MatrixXd(1, 1) << 1).finished());
  EXPECT_NEAR(near.mean[0], -1, 0.1);
  EXPECT_LT(near.deviation[0], 0.2);
  const auto far = process.predict((Eigen::MatrixXd(1, 1) << 1000).finished());
  EXPECT_NEAR(far.mean[0], 0, 1e-9);
  EXPECT_NEAR(far.deviation[0], std::abs(process.height()), 1e-6);
}

TEST(GaussianProcess, OfOneSampleIsTheTextbooksFormula) {
  // With one sample of value 0 the likeliest height is none; of value y the mean at its place is k y / (k + s^2).
  GaussianProcess process(0.5);
  process.fit((Eigen::MatrixXd(1, 1) << 3).finished(), at({2}));
  const double variance = process.height() * process.height();
  EXPECT_NEAR(process.predict((Eigen::MatrixXd(1, 1) << 3).finished()).mean[0], variance * 2 / (variance + 0.25), 1e-9);
  // d/dv of v: y^2 = v + s^2 at the likeliest.
  EXPECT_NEAR(variance, 4 - 0.25, 1e-2);
}

TEST(BayesianOptimization, ClimbsASmoothHill) {
  // -(x - 20)^2 - (y - 30)^2 over [0, 64] x [1, 100], from the four corners of a small square.
  BayesianOptimization search({{0, 64}, {1, 100}}, 0.1, 7);
  const auto hill = [](const Vector& v) { return -std::pow(v[0] - 20, 2) - std::pow(v[1] - 30, 2); };
  double best = -1e9;
  for (const auto& place : {at({4, 5}), at({32, 50}), at({16, 25}), at({8, 10})}) search.add(place, hill(place));
  for (int i = 0; i < 20; ++i) {
    const Vector place = search.next();
    EXPECT_TRUE(place[0] >= 0 && place[0] <= 64 && place[1] >= 1 && place[1] <= 100);
    search.add(place, hill(place));
    best = std::max(best, hill(place));
  }
  EXPECT_GT(best, hill(at({16, 25})));
}

/// Feeds passes of one tensor, a step each, whose speed depends on what is in use, until it is over.
struct Trainer {
  Trainer(const AutotuneSettings& settings, const Tunable& tunable, std::function<double(const TuningSample&)> speed)
      : tuner(settings, tunable, {false, false, true, 3_ms, 100_B}, 1), bytes_per_second(std::move(speed)) {}

  int run() {
    int steps = 0;
    const std::array tensors{0};
    for (Seconds now; !tuner.tuning().is_over && steps < 1'000'000; ++steps) {
      now += Seconds(1000 / bytes_per_second(tuner.values()));
      tuner.observe(tensors, 1000_B, now);
    }
    return steps;
  }
  Autotuner tuner;
  std::function<double(const TuningSample&)> bytes_per_second;
};

double mebibytes(const TuningSample& sample) {
  return sample.fusion_threshold.si() / 1048576;
}

TEST(Autotuner, TriesHorovodsFourPointsFirstAndMaxSamplesPlusOneInAll) {
  Trainer trainer({1, 10, 6, 0.8}, {true, true}, [](const TuningSample&) { return 1e9; });
  // A sample is the median of five scores of ten steps; one more step sees the eleventh pass of a tensor.
  EXPECT_EQ(trainer.run(), (1 + 7) * (5 * 10 + 1));
  const Tuning& tuning = trainer.tuner.tuning();
  ASSERT_EQ(tuning.samples.size(), 7U);
  const std::array<std::pair<double, double>, 4> first{{{4, 5}, {32, 50}, {16, 25}, {8, 10}}};
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_DOUBLE_EQ(mebibytes(tuning.samples[i]), first[i].first);
    EXPECT_DOUBLE_EQ(tuning.samples[i].cycle_time.si(), first[i].second * 1e-3);
  }
  EXPECT_NEAR(tuning.samples.front().score, 1e9 / 1e6, 1e-6);
}

TEST(Autotuner, KeepsTheBestItHasTried) {
  // Fastest at 40 MiB and 20 ms.
  const auto speed = [](const TuningSample& s) {
    return 1e9 / (1 + std::pow(mebibytes(s) / 40 - 1, 2) + std::pow(s.cycle_time.si() / 20e-3 - 1, 2));
  };
  Trainer trainer({0, 10, 20, 0.8}, {true, true}, speed);
  trainer.run();
  const Tuning& tuning = trainer.tuner.tuning();
  double best = 0;
  for (const TuningSample& sample : tuning.samples) best = std::max(best, sample.score);
  EXPECT_DOUBLE_EQ(tuning.best.score, best);
  EXPECT_NEAR(speed(tuning.best) / 1e6 / best, 1, 1e-9);
  EXPECT_GT(speed(tuning.best), speed({false, false, true, 25_ms, 16_MiB, 0}));  // better than any of the four
}

TEST(Autotuner, ThrowsASwitchAndBeginsAnew) {
  // Twice as fast with the switch: 2 x (20 + 1) samples, of which the best has it on.
  Trainer trainer({0, 1, 20, 0.8}, {true, true, true},
                  [](const TuningSample& s) { return s.hierarchical_allreduce ? 2e9 : 1e9; });
  trainer.run();
  const Tuning& tuning = trainer.tuner.tuning();
  ASSERT_EQ(tuning.samples.size(), 42U);
  for (std::size_t i = 0; i < 42; ++i) EXPECT_EQ(tuning.samples[i].hierarchical_allreduce, i >= 21) << i;
  EXPECT_TRUE(tuning.best.hierarchical_allreduce);
  EXPECT_DOUBLE_EQ(mebibytes(tuning.samples[21]), 4);
}

TEST(Autotuner, LeavesAloneWhatIsSet) {
  Trainer trainer({0, 1, 5, 0.8}, {false, true}, [](const TuningSample&) { return 1e9; });
  trainer.run();
  for (const TuningSample& sample : trainer.tuner.tuning().samples) EXPECT_EQ(sample.fusion_threshold, 100_B);
  Trainer nothing({0, 1, 5, 0.8}, {false, false}, [](const TuningSample&) { return 1e9; });
  nothing.run();
  EXPECT_EQ(nothing.tuner.tuning().samples.size(), 1U);
  EXPECT_EQ(nothing.tuner.values().cycle_time, 3_ms);
}

RC_GTEST_PROP(Autotuner, NeverEndsWorseThanWhatItTried, ()) {
  const double best_threshold = *rc::gen::inRange(1, 64);
  const double best_cycle = *rc::gen::inRange(1, 100);
  const auto speed = [&](const TuningSample& s) {
    return 1e9 / (1 + std::abs(mebibytes(s) - best_threshold) / 8 + std::abs(s.cycle_time.si() * 1e3 - best_cycle) / 8);
  };
  Trainer trainer({0, 1, 8, 0.8}, {true, true}, speed);
  trainer.run();
  for (const TuningSample& sample : trainer.tuner.tuning().samples) {
    RC_ASSERT(speed(trainer.tuner.values()) >= speed(sample) * (1 - 1e-9));
  }
}

}}  // namespace farandole::autotune_test
