// Predictions beside measurements: errors, bands, and folds that are predicted from the others alone.
#include "calibration/validation.hpp"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calibration/fit.hpp"
#include "calibration/lab.hpp"

namespace farandole::validation_test { namespace {

using test::lab;
using test::rows;
using test::taken;

TEST(Validation, TheErrorIsRelativeToTheMeasurementAndSigned) {
  const auto data = taken(lab(), rows(), [](std::size_t) { return 2.0; });
  for (const ValidationPoint& point : validate(lab(), data)) {
    EXPECT_NEAR(point.error, -0.5, 1e-12);  // predicted / measured - 1
    EXPECT_NEAR(point.predicted, point.measured / 2, 1e-12 * point.measured);
  }
}

TEST(Validation, APointSaysWhatWasMeasuredInTheOrderOfTheMeasurements) {
  auto data = taken(lab(), rows());
  data[1].family = "another";
  data[2].doubt = "too noisy";
  const auto points = validate(lab(), data);
  ASSERT_EQ(points.size(), data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    EXPECT_EQ(points[i].family, data[i].family);
    EXPECT_EQ(points[i].row, row_name(data[i]));
    EXPECT_EQ(points[i].operation, data[i].operation);
    EXPECT_EQ(points[i].ranks, data[i].ranks);
    EXPECT_EQ(points[i].bytes, data[i].bytes);
    EXPECT_EQ(points[i].measured, data[i].time.si());
    EXPECT_EQ(points[i].note, data[i].doubt.value_or(""));
    EXPECT_EQ(points[i].counted, !data[i].doubt);
  }
}

TEST(Validation, ATopologyThatWasNeverCalibratedHasNoBand) {
  for (const ValidationPoint& point : validate(lab(), taken(lab(), rows()))) EXPECT_FALSE(point.band);
}

TEST(Validation, TheBandHoldsAboutEightInTenOfFreshMeasurements) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(1.0, 0.05);
  const Document truth = lab("50 MB/s", "400 us");
  const auto fresh = [&] { return taken(truth, rows(), [&](std::size_t) { return noise(random); }); };
  auto first = fresh();
  for (int more = 0; more < 5; ++more) {
    for (MeasuredTime& row : fresh()) first.push_back(row);
  }
  const Document calibrated = calibrated_file(fit(lab(), first), {"today", {"first.json"}});
  int inside = 0;
  int all = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (const ValidationPoint& point : validate(calibrated, fresh())) {
      ASSERT_TRUE(point.band);
      inside += inside_band(point) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / all, 0.8, 0.08);
}

TEST(Validation, ACalibratedFileIsATopologyAndRemembersItsErrors) {
  const Fit found = fit(lab(), taken(lab("50 MB/s", "40 us"), rows()));
  const Document file = calibrated_file(found, {"2026-11-21", {"m.json"}});
  const Document reread = Document::parse(file.to_ordered_json().dump(2), "calibrated.json");
  EXPECT_NO_THROW(read_topology(reread.root(), "calibrated.json"));
  const auto spread = spread_in(reread);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->operations, (std::set<std::string>{"allreduce", "pingpong"}));
  EXPECT_EQ(spread->ranks, (std::set<int>{2, 4}));
  for (const MeasuredTime& row : rows()) {
    ASSERT_TRUE(spread->band_of(row));
    EXPECT_EQ(spread->band_of(row)->least, found.spread.band_of(row)->least);
    EXPECT_EQ(spread->band_of(row)->most, found.spread.band_of(row)->most);
  }
}

TEST(Validation, WhatIsHeldOutIsPredictedFromTheRest) {
  auto data = taken(lab("50 MB/s", "40 us"), rows());
  for (MeasuredTime& row : data) {
    if (row.ranks == 4) row.time = row.time * 2;  // only the fold of 4 ranks is off
  }
  for (const ValidationPoint& point : cross_validate(lab(), data, HoldOut::scales)) {
    if (point.ranks != 4) continue;
    EXPECT_NEAR(point.error, -0.5, 1e-3) << "a fit on 2 ranks cannot know of it";
  }
}

TEST(Validation, HoldingOutTheOnlyOperationLeavesNothingToFitTo) {
  std::vector<MeasuredTime> data;
  for (const MeasuredTime& row : taken(lab(), rows())) {
    if (row.operation == "allreduce") data.push_back(row);
  }
  EXPECT_THROW(cross_validate(lab(), data, HoldOut::operations), InputError);
}

}}  // namespace farandole::validation_test
