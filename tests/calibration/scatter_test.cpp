// Repeats of one setting show the noise of measurements; without any nothing is claimed.
#include "calibration/scatter.hpp"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/fit.hpp"
#include "calibration/fit_problem.hpp"
#include "calibration/lab.hpp"
#include "calibration/read_measurements.hpp"
#include "timeline/validation.hpp"

namespace farandole::scatter_test { namespace {

using test::lab;
using test::row;
using test::rows;
using test::taken;

/// Every row so many times, with normal errors: of `small` up to 64 KiB and of `large` above.
std::vector<MeasuredTime> repeated(int times, double small, double large, unsigned seed) {
  std::vector<MeasuredTime> all;
  for (int repeat = 0; repeat < times; ++repeat) {
    for (const MeasuredTime& one : rows()) all.push_back(one);
  }
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  return taken(lab("50 MB/s", "400 us"), all,
               [&](std::size_t i) { return 1 + (all[i].bytes <= 64_KiB ? small : large) * normal(random); });
}

/// s^2 nu / sigma^2 is chi^2 of nu: two standard errors s / sqrt(2 nu) hold the truth 19 times in 20.
TEST(Scatter, IsFoundWithinItsErrorBySizeClass) {
  int inside = 0;
  constexpr int tries = 200;
  for (unsigned seed = 0; seed < tries; ++seed) {
    const Scatter found = scatter_of(repeated(5, 0.05, 0.01, seed));
    ASSERT_TRUE(found.between_rows[0] && found.between_rows[1]);
    EXPECT_EQ(found.between_rows[0]->degrees, 4 * found.between_rows[0]->settings);
    const bool is_small = std::abs(found.between_rows[0]->deviation - 0.05) < 2 * found.between_rows[0]->standard_error;
    const bool is_large = std::abs(found.between_rows[1]->deviation - 0.01) < 2 * found.between_rows[1]->standard_error;
    inside += (is_small ? 1 : 0) + (is_large ? 1 : 0);
  }
  EXPECT_GT(inside, 2 * tries * 0.90);
  EXPECT_LT(inside, 2 * tries);
}

/// nu = settings x (repeats - 1).
TEST(Scatter, IsKnownTheBetterTheMoreRepeatsThereAre) {
  const auto of = [](int times) { return scatter_of(repeated(times, 0.05, 0.05, 1)).between_rows[0].value(); };
  EXPECT_NEAR(of(17).standard_error / of(17).deviation, of(2).standard_error / of(2).deviation / 4, 1e-12);
}

TEST(Scatter, IsNotClaimedWithoutRepeats) {
  const auto data = repeated(1, 0.05, 0.05, 1);
  const Scatter found = scatter_of(data);
  EXPECT_FALSE(found.shows_anything());
  for (const MeasuredTime& one : data) EXPECT_EQ(found.of(one), 0);
  EXPECT_FALSE(calibrated_file(fit(lab(), data), {"today", {}}).find("/calibration/repeats"));
}

TEST(Scatter, IsNotThatOfSettingsWhichDiffer) {
  std::vector<MeasuredTime> data;
  for (const int ranks : {2, 4, 8}) data.push_back(row("allreduce", "ring", ranks, 1_MiB));
  data.push_back(row("allgather", "ring", 2, 1_MiB));
  data.push_back(row("allreduce", "ring", 2, 2_MiB));
  for (std::size_t i = 0; i < data.size(); ++i) data[i].time = Seconds(1e-3 * static_cast<double>(i + 1));
  EXPECT_FALSE(scatter_of(data).shows_anything());
  data.push_back(data.front());
  data.back().family = "another file";
  data.back().time = data.front().time * 1.1;
  // Of 1 and 1.1: the deviation is 0.1 / sqrt 2, the mean 1.05.
  EXPECT_NEAR(scatter_of(data).between_rows[1]->deviation, 0.1 / std::sqrt(2) / 1.05, 1e-12);
  data.back().doubt = "wrong results";
  EXPECT_FALSE(scatter_of(data).shows_anything());
}

/// A mean of n repetitions scatters by what one does over the root of n.
TEST(Scatter, OfRepetitionsIsThatOfSingleOnes) {
  MeasuredTime one = row("allreduce", "ring", 4, 1_KiB);
  one.time = Seconds(1e-3);
  one.repetitions = {25, 0.10};
  const Scatter found = scatter_of(std::vector{one});
  EXPECT_DOUBLE_EQ(found.of_repetitions[0]->deviation, 0.10);
  EXPECT_DOUBLE_EQ(found.of_repetitions[0]->standard_error, 0.10 / std::sqrt(48));
  EXPECT_DOUBLE_EQ(found.of(one), 0.02);
  EXPECT_FALSE(found.of_all_sizes);
}

/// Mean ranges of 2, 5 and 10 normal values, in standard deviations: Tippett's table.
TEST(Scatter, FollowsFromLeastAndMostOfKnownNumbers) {
  EXPECT_NEAR(1 / deviation_of_range(1, 2), 1.12838, 1e-4);
  EXPECT_NEAR(1 / deviation_of_range(1, 5), 2.32593, 1e-4);
  EXPECT_NEAR(1 / deviation_of_range(1, 10), 3.07751, 1e-4);
}

TEST(Scatter, IsReadFromOurOwnPoints) {
  const auto read = read_measurements(MeasuredText{"m.json", R"({"points": [
    {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 1024, "seconds": 1e-3, "repetitions": [0.9e-3, 1e-3, 1.1e-3]},
    {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 1024, "seconds": 1e-3, "reps": 5, "min": 0.9e-3, "max": 1.1e-3},
    {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 1024, "seconds": 1e-3, "min": 0.9e-3, "max": 1.1e-3}]})"});
  EXPECT_EQ(read[0].repetitions->count, 3);
  EXPECT_NEAR(read[0].repetitions->deviation, 0.1, 1e-12);
  EXPECT_EQ(read[1].repetitions->count, 5);
  EXPECT_NEAR(read[1].repetitions->deviation, 0.2 / 2.32593, 1e-5);
  EXPECT_FALSE(read[2].repetitions) << "of how many these are least and most, it does not say";
}

/// Small sizes scatter by 20 %, large ones by 1 %: what counts by it is nearer to the truth in the mean square.
TEST(Scatter, MakesRowsThatScatterCountLess) {
  const Document file = lab();
  std::vector<Parameter> parameters;
  for (const Parameter& parameter : parameters_of(file)) {
    if (parameter.pointer == "/node/nic/host_rate" || parameter.pointer == "/transport/inter_node_latency")
      parameters.push_back(parameter);
  }
  ASSERT_EQ(parameters.size(), 2U);
  const auto squares = [&](bool by_scatter) {
    double sum = 0;
    for (unsigned seed = 0; seed < 30; ++seed) {
      const auto data = repeated(4, 0.2, 0.01, seed);
      const FitProblem problem(file, data, by_scatter ? scatter_of(data) : Scatter{});
      const double rate = best_solution(problem, parameters, {0, 0}).values[0];
      sum += std::pow(rate * 50e6 - 1, 2);
    }
    return sum;
  };
  EXPECT_LT(squares(true), 0.9 * squares(false));
}

/// Four in five of normal errors are within 1.28 standard deviations.
TEST(Scatter, IsTheLeastWidthOfBands) {
  const auto data = repeated(3, 0.05, 0.02, 4);
  const Fit found = fit(lab(), data);
  for (std::size_t c = 0; c < size_classes.size(); ++c) {
    const auto& band = found.spread.bands[0][c];
    if (!band) continue;
    EXPECT_GE(band->most, std::exp(1.28 * found.scatter.between_rows_of(c)));
    EXPECT_LE(band->least, std::exp(-1.28 * found.scatter.between_rows_of(c)));
  }
  Spread narrow;
  narrow.bands[0].assign(size_classes.size(), TimeBand{0.999, 1.001});
  narrow.bands[1].resize(size_classes.size());
  widen_by_scatter(narrow, found.scatter);
  EXPECT_NEAR(std::log(narrow.bands[0][0]->most), 1.2815515655446004 * found.scatter.between_rows_of(0), 1e-12);
  EXPECT_FALSE(narrow.bands[1][0]) << "repeats alone say nothing of another operation";
  EXPECT_TRUE(calibrated_file(found, {"today", {}}).find("/calibration/repeats/between_rows"));
}

}}  // namespace farandole::scatter_test
