// What a validation of training says first.
#include "report/validation_headline.hpp"

#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/pages.hpp"
#include "report/reports.hpp"

namespace farandole::validation_headline_test { namespace {

using testing::HasSubstr;

/// A step of a second: what was predicted of it, and what linear scaling says.
ValidationPoint row(const std::string& family, int nodes, double predicted, double linear) {
  ValidationPoint point = validation_point(Seconds(predicted), Seconds(1), "");
  point.family = family;
  point.row = "resnet50";
  point.operation = "training";
  point.ranks = 8 * nodes;
  point.nodes = nodes;
  point.null_model = linear - 1;
  return point;
}

const std::vector<ValidationPoint>& rows() {
  static const std::vector<ValidationPoint> all = [] {
    std::vector<ValidationPoint> made{row("a", 2, 0.98, 0.95), row("a", 4, 0.94, 0.85), row("a", 8, 1.08, 0.7),
                                      row("b", 2, 0.99, 0.9),  row("a", 1, 0.97, 0.96), row("c", 4, 0.5, 0.4)};
    made.back().counted = false;
    made.back().note = "the network is not stated";
    return made;
  }();
  return all;
}

TEST(Headline, BeginsWithTheHardRowsOfSeveralNodesAndKeepsOneNodeApart) {
  const auto lines = headlines(rows());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].group, "several nodes, hard rows");
  EXPECT_EQ(lines[0].rows, 3);  // linear scaling misses by 15, 30 and 10 %
  EXPECT_NEAR(lines[0].median, 0.06, 1e-9);
  EXPECT_NEAR(lines[0].bias, -0.01, 1e-9);  // of -6, +8 and -1 %
  EXPECT_NEAR(*lines[0].linear, 0.15, 1e-9);
  EXPECT_NEAR(*lines[0].skill(), 0.06 / 0.15, 1e-9);
  EXPECT_EQ(lines[1].rows, 4);
  EXPECT_EQ(lines[2].group, "one node");
  EXPECT_EQ(lines[2].rows, 1);
}

// "a" on several nodes exceeds linear scaling by 50, 150 and 300 ms; each gets the median of the two others: 225, 175
// and 100 ms, so that it is missed by +17.5, +2.5 and -20 %. "b" has no others: -10 %.
TEST(Headline, TheConstantIsThatOfTheOtherRowsOfTheFamily) {
  const auto lines = headlines(rows());
  EXPECT_NEAR(*lines[1].plus_constant, (0.175 + 0.1) / 2, 1e-9);
  EXPECT_NEAR(*lines[1].skill_against_constant(), 0.04 / 0.1375, 1e-9);  // sizes 1, 2, 6 and 8 %
}

TEST(Headline, CountsTheRowsInsideTheirBands) {
  auto banded = rows();
  banded[0].band = Band{0.9, 1.1};
  banded[1].band = Band{0.9, 0.99};
  const auto lines = headlines(banded);
  EXPECT_NEAR(*lines[1].inside_band, 0.5, 1e-9);
  EXPECT_NEAR(*lines[1].band_width, (0.2 / 0.98 + 0.09 / 0.94) / 2, 1e-9);
  EXPECT_FALSE(lines[2].inside_band);
}

TEST(Headline, NamesEveryMissThatIsNotCounted) {
  const auto misses = uncounted_misses(rows());
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_NEAR(misses.front()->error, -0.5, 1e-9);
  std::ostringstream table;
  write_validation(table, Format::table, {"validate", {}}, rows());
  EXPECT_LT(table.str().find("several nodes, hard rows"), table.str().find("the network is not stated"));
  std::ostringstream json;
  write_validation(json, Format::json, {"validate", {}}, rows());
  const auto document = nlohmann::json::parse(json.str());
  EXPECT_EQ(document.at("headline").size(), 3U);
  EXPECT_EQ(document.at("uncounted_misses").at(0).at("note"), "the network is not stated");
}

TEST(Headline, IsWhatAPageOfAValidationSaysFirst) {
  EXPECT_EQ(
      validation_page({"validate", {}}, "farandole validate", rows()).answer.front(),
      "Of 3 steps on several nodes that linear scaling misses by 10 % or more (by 15.0 % in the median), half are "
      "predicted within 6.0 %, nine of ten within 7.6 %.");
}

TEST(Headline, OfCollectivesThereIsNoneAndTheirSizeClassesHaveSigns) {
  std::vector<ValidationPoint> collectives;
  for (const double bytes : {65536.0, 1048576.0, 16777216.0, 33554432.0}) {
    ValidationPoint point = validation_point(Seconds(0.5), Seconds(1), "");
    point.operation = "allreduce";
    point.bytes = Bytes(bytes);
    collectives.push_back(point);
  }
  EXPECT_TRUE(headlines(collectives).empty());
  std::ostringstream table;
  write_validation(table, Format::table, {"validate", {}}, collectives);
  for (const char* name :
       {"1. at most 64 KiB", "2. above 64 KiB to 1 MiB", "3. above 1 MiB to 16 MiB", "4. above 16 MiB"}) {
    EXPECT_THAT(table.str(), HasSubstr(name));
  }
  EXPECT_THAT(table.str(), HasSubstr("-50.0 %"));
}

}}  // namespace farandole::validation_headline_test
