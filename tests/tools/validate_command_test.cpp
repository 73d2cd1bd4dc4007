// farandole validate --published on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::validate_command_test { namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ValidateCommand, SetsPublishedRunsBesidePredictionsWithTheNullModel) {
  const Workplace place;
  const Finished finished = place.farandole("validate --published --only tf-2017-dgx1 --format json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json points = json::parse(finished.out).at("points");
  EXPECT_EQ(points.size(), 8U);
  for (const json& point : points) {
    const bool is_input = point.at("ranks") == 1;
    EXPECT_EQ(point.at("counted"), !is_input);
    EXPECT_EQ(point.at("null_model_error").is_null(), is_input);
    const double ratio = point.at("predicted").get<double>() / point.at("measured").get<double>();
    EXPECT_NEAR(point.at("error").get<double>(), ratio - 1, 1e-12);
  }
}

TEST(ValidateCommand, ExitsWithThreeWhereAPublishedRunIsFurtherOffThanTolerated) {
  const Workplace place;
  EXPECT_EQ(place.farandole("validate --published --only tf-2017-dgx1 --tolerance '10 %'").status, 0);
  EXPECT_EQ(place.farandole("validate --published --only tf-2017-dgx1 --tolerance '0.1 %'").status, 3);
}

TEST(ValidateCommand, SetReplacesAValueOfEveryPublishedScenarioAlsoWhereItsObjectIsMissing) {
  const Workplace place;
  const std::string command = "validate --published --only tf-2017-dgx1 --format json --set ";
  const json spread = json::parse(place.farandole(command + "'/effects/device_spread=20 %'").out).at("points");
  EXPECT_EQ(json::parse(place.farandole(command + "'effects.device_spread=20 %'").out).at("points"), spread);
  for (const json& point : spread) {
    if (point.at("ranks") == 8) {
      EXPECT_GT(point.at("error").get<double>(), 0.1);
    }
  }
}

TEST(ValidateCommand, TakesMeasurementsOrThePublishedOnesAndNotBoth) {
  const Workplace place;
  EXPECT_EQ(place.farandole("validate --published --topology dgx1-p100").status, 2);
  EXPECT_EQ(place.farandole("validate measured.json --topology dgx1-p100 --cold").status, 2);
  EXPECT_EQ(place.farandole("validate --published measured.json").status, 2);
  EXPECT_EQ(place.farandole("validate --published --hold-out sizes").status, 2);
  const Finished neither = place.farandole("validate");
  EXPECT_EQ(neither.status, 2);
  EXPECT_THAT(neither.err, HasSubstr("--published"));
  EXPECT_THAT(place.farandole("validate measured.json").err, HasSubstr("--topology"));
}

TEST(ValidateCommand, GivesMeasurementsOfALibraryTheIntervalOfPublishedTablesWhereNothingWasCalibrated) {
  const Workplace place;
  place.write("mine.json", R"({"library": "nccl-2.21", "points": [
    {"op": "allreduce", "algorithm": "library", "ranks": 16, "nodes": 2, "bytes": 1048576, "seconds": 7e-05},
    {"op": "allreduce", "algorithm": "ring", "ranks": 16, "nodes": 2, "bytes": 1048576, "seconds": 7e-05}]})");
  const Finished finished = place.farandole("validate mine.json --topology dgx-h100 --format json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json points = json::parse(finished.out).at("points");
  EXPECT_LE(points.at(0).at("band_low"), points.at(0).at("predicted"));
  EXPECT_GE(points.at(0).at("band_high"), points.at(0).at("predicted"));
  EXPECT_TRUE(points.at(1).at("band_low").is_null());
}

TEST(ValidateCommand, CountsTheNodesThatRanksFillWhereARowDoesNotSay) {
  const Workplace place;
  place.write("mine.json", R"({"library": "nccl-2.21", "points": [
    {"op": "allreduce", "algorithm": "library", "ranks": 16, "bytes": 1048576, "seconds": 7e-05},
    {"op": "allreduce", "algorithm": "library", "ranks": 8, "bytes": 1048576, "seconds": 7e-05}]})");
  const Finished finished = place.farandole("validate mine.json --topology dgx-h100 --format json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json points = json::parse(finished.out).at("points");
  EXPECT_EQ(points.at(0).at("nodes"), 2);
  EXPECT_EQ(points.at(1).at("nodes"), 1);
}

TEST(CheckCommand, KnowsFilesOfPublishedRuns) {
  const Workplace place;
  const Finished finished =
      place.farandole("check " FARANDOLE_SOURCE_DIR "/scenarios/published/tf-2017-gce-8xk80.json");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("published, ok"));
}

}}  // namespace farandole::test::validate_command_test
