// What a validation says of differences: errors by kind of change, signs, and whether sureness is earned.

#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/pages.hpp"
#include "report/reports.hpp"
#include "report/validation_summary.hpp"

namespace farandole::validation_ratios_test { namespace {

using testing::HasSubstr;

RatioPair pair_of(const std::string& kind, double predicted, double measured, double devices = 1, double sure = 0.8) {
  RatioPair pair{"a source", kind, "ddp", "one: resnet50", "two: resnet50", predicted, measured, devices};
  pair.said = {0.8, predicted, {predicted * 0.9, predicted * 1.1}, sure};
  return pair;
}

const std::vector<RatioPair> pairs{pair_of("ranks", 0.9, 0.8, 2, 0.95), pair_of("ranks", 0.99, 0.98, 4, 0.55),
                                   pair_of("ranks", 0.9, 0.9, 2, 0.95), pair_of("network", 1.02, 0.9, 1, 0.7)};

TEST(ValidationRatios, BeginWithAllAndThenTheKindWithTheMostPairs) {
  const auto lines = by_kind(pairs);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].group, "all");
  EXPECT_EQ(lines[0].pairs, 4);
  EXPECT_EQ(lines[0].files, 2);
  EXPECT_EQ(lines[1].group, "ranks");
  EXPECT_NEAR(lines[1].median, 0.99 / 0.98 - 1, 1e-9);  // of 12.5, 1.02 and 0 %
  EXPECT_NEAR(lines[1].no_change, 2 * 0.9 - 1, 1e-9);   // of 1.6, 3.92 and 1.8 times as much
  EXPECT_NEAR(*lines[1].linear, 1 / 0.9 - 1, 1e-9);     // of 0.8, 0.98 and 0.9
  EXPECT_NEAR(lines[1].inside_band, 2.0 / 3, 1e-9);     // 0.8 is below 0.81
  EXPECT_EQ(lines[1].changes, 2);
  EXPECT_EQ(lines[1].wrong_signs, 0);
  EXPECT_FALSE(lines[2].linear);
  EXPECT_EQ(lines[2].wrong_signs, 1);
}

TEST(ValidationSummary, HasARowForEachStrategyOfRunsOnSeveralRanks) {
  std::vector<ValidationPoint> points;
  const auto add = [&](const std::string& program, int ranks, double predicted) {
    points.push_back(validation_point(Seconds(predicted), 1_s, ""));
    points.back().operation = "training";
    points.back().ranks = ranks;
    points.back().reach.emplace().program = program;
    points.back().band = Band{predicted * 0.9, predicted * 1.1};
  };
  add("ddp", 8, 1.05);
  add("ddp", 16, 1.5);
  add("fsdp", 8, 0.95);
  add("fsdp", 1, 3);  // an input
  std::map<std::string, ErrorSummary> found;
  for (const ErrorSummary& row : summarise(points)) found.emplace(row.group, row);
  ASSERT_TRUE(found.contains("strategy ddp") && found.contains("strategy fsdp"));
  EXPECT_EQ(found.at("strategy ddp").rows, 2);
  EXPECT_EQ(found.at("strategy ddp").inside_band, 0.5);
  EXPECT_EQ(found.at("strategy fsdp").rows, 1);
  EXPECT_NEAR(found.at("strategy fsdp").worst, 0.05, 1e-12);
}

TEST(ValidationRatios, SayHowMuchOfWhatIsSaidToBeSureComesOut) {
  const auto classes = by_sureness(pairs);
  ASSERT_EQ(classes.size(), 4U);
  EXPECT_EQ(classes[0].right, 1);
  EXPECT_EQ(classes[1].pairs, 1);
  EXPECT_EQ(classes[1].right, 0);
  EXPECT_EQ(classes[2].pairs, 0);
  EXPECT_EQ(classes[3].pairs, 2);
  EXPECT_EQ(classes[3].right, 2);
}

TEST(ValidationRatios, StandFirstInTheTableAndWithEveryPairInJson) {
  const RatioPairs ratios{pairs, {{"the batch is not stated", 3}}};
  std::ostringstream table;
  write_validation(table, Format::table, {"validate", {}}, {}, ratios);
  EXPECT_THAT(table.str(), HasSubstr("two published runs that differ in"));
  EXPECT_THAT(table.str(), HasSubstr("90 to 95 %"));
  EXPECT_THAT(table.str(), HasSubstr("the batch is not stated"));
  std::ostringstream json;
  write_validation(json, Format::json, {"validate", {}}, {}, ratios);
  const auto written = nlohmann::json::parse(json.str()).at("ratios");
  EXPECT_EQ(written.at("kinds").size(), 3U);
  EXPECT_EQ(written.at("pairs").size(), 4U);
  EXPECT_EQ(written.at("pairs").at(3).at("throughput_ratio_band").at(1), 1.02 * 1.1);
  EXPECT_EQ(written.at("rows_left_out").at("the batch is not stated"), 3);
}

ValidationPoint row(const std::string& operation, double predicted, const std::string& doubt) {
  ValidationPoint point = validation_point(Seconds(predicted), Seconds(1), doubt);
  point.family = "a";
  point.operation = operation;
  return point;
}

TEST(Validation, NamesEveryMissOfTrainingThatIsNotCounted) {
  const std::vector rows{row("training", 0.98, ""), row("training", 0.5, "the network is not stated"),
                         row("training", 0.95, "nearly right"), row("training", 1.7, "another program")};
  std::ostringstream json;
  write_validation(json, Format::json, {"validate", {}}, rows, {pairs, {}});
  const auto misses = nlohmann::json::parse(json.str()).at("uncounted_misses");
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_EQ(misses.at(0).at("note"), "another program");
  EXPECT_EQ(misses.at(1).at("note"), "the network is not stated");
}

TEST(Validation, APageSaysFirstHowWellDifferencesArePredicted) {
  const Page page =
      validation_page({"validate", {}}, "farandole validate", std::vector{row("training", 0.98, "")}, {pairs, {}});
  EXPECT_EQ(page.answer.front(),
            "Half of 4 ratios of two published runs that differ in one thing are predicted within 6.6 %, and 1 of 3 "
            "changes by more than 5 % with the wrong sign.");
}

TEST(Validation, OfCollectivesSizeClassesHaveSigns) {
  std::vector<ValidationPoint> collectives;
  for (const double bytes : {65536.0, 1048576.0, 16777216.0, 33554432.0}) {
    collectives.push_back(row("allreduce", 0.5, ""));
    collectives.back().bytes = Bytes(bytes);
  }
  std::ostringstream table;
  write_validation(table, Format::table, {"validate", {}}, collectives);
  for (const char* name :
       {"1. at most 64 KiB", "2. above 64 KiB to 1 MiB", "3. above 1 MiB to 16 MiB", "4. above 16 MiB"}) {
    EXPECT_THAT(table.str(), HasSubstr(name));
  }
  EXPECT_THAT(table.str(), HasSubstr("-50.0 %"));
}

}}  // namespace farandole::validation_ratios_test
