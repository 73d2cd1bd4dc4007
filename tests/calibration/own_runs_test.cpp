// A user's own runs of training: which of them settle what a device takes, and what the others took.
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "calibration/posterior.hpp"

namespace farandole::test::own_runs_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const char* const mine = R"({"name": "mine", "workload": {"model": "vgg16", "batch_per_rank": 32},
  "platform": {"topology": "ethernet-25g", "ranks": 2}, "strategy": {"kind": "ddp"}})";

Document scenario() {
  return Document::parse(mine, "mine.json");
}

std::vector<TrainingRow> rows_of(const std::string& table, int devices_per_node = 4) {
  return table_runs("runs.csv", table, scenario(), devices_per_node, "family");
}

std::string refusal(const std::string& table) {
  try {
    rows_of(table);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

nlohmann::json at(const TrainingRow& row, const std::string& pointer) {
  const auto value = row.scenario.find(pointer);
  return value ? to_json(value->node()) : nlohmann::json();
}

std::vector<double> steps_of(const std::vector<TrainingRow>& rows) {
  std::vector<double> steps;
  for (const TrainingRow& row : rows) steps.push_back(row.step.si());
  return steps;
}

/// A step of r ranks with b samples each, of which s go through per second, takes r b / s.
TEST(OwnRuns, TakeTheSamplesOfAStepOverTheirRate) {
  const auto rows = rows_of("ranks,batch_per_rank,samples_per_second\n1,64,100\n2,64,160\n8,64,512\n");
  EXPECT_THAT(steps_of(rows), ElementsAre(2 * 64 / 160.0, 8 * 64 / 512.0));
  EXPECT_EQ(at(rows[0], "/platform/ranks"), 2);
  EXPECT_EQ(at(rows[1], "/platform/ranks"), 8);
  EXPECT_EQ(at(rows[1], "/workload/batch_per_rank"), 64);
  EXPECT_EQ(rows[1].place.line, 4);
  EXPECT_EQ(rows[1].place.source, "runs.csv");
  EXPECT_EQ(rows[1].family, "family");
}

TEST(OwnRuns, WithoutABatchHaveTheScenarios) {
  EXPECT_THAT(steps_of(rows_of("ranks,samples_per_second\n1,100\n2,160\n")), ElementsAre(2 * 32 / 160.0));
}

TEST(OwnRuns, MaySayHowLongAStepTook) {
  EXPECT_THAT(steps_of(rows_of("ranks,iteration_seconds\n1,0.25\n2,0.5\n")), ElementsAre(0.5));
}

TEST(OwnRuns, OfSeveralPassesToAStepHaveTheirSamplesTogether) {
  const auto rows = rows_of("ranks,accumulation,samples_per_second\n1,3,100\n2,3,160\n");
  EXPECT_THAT(steps_of(rows), ElementsAre(2 * 32 * 3 / 160.0));
  EXPECT_EQ(at(rows[0], "/strategy/accumulation"), 3);
}

TEST(OwnRuns, OnSoManyNodesAreOnAllTheirDevices) {
  const auto rows = rows_of("nodes,samples_per_second\n1,100\n2,160\n", 4);
  EXPECT_THAT(steps_of(rows), ElementsAre(2 * 4 * 32 / 160.0));
  EXPECT_EQ(at(rows[0], "/platform/ranks"), 8);
}

TEST(OwnRuns, OnTheFewestRanksOfABatchSettleWhatADeviceTakes) {
  const auto rows = rows_of(
      "ranks,batch_per_rank,samples_per_second\n4,64,300\n2,64,160\n2,64,161\n8,128,900\n1,128,150\n2,256,170\n");
  EXPECT_THAT(steps_of(rows), ElementsAre(4 * 64 / 300.0, 8 * 128 / 900.0, 2 * 256 / 170.0));
  const nlohmann::json anchors = at(rows[0], "/workload/measured");
  ASSERT_EQ(anchors.size(), 3);  // the batch of 256 was run on one number of ranks only
  EXPECT_EQ(anchors[0].at("samples_per_second"), 160);
  EXPECT_EQ(anchors[1].at("samples_per_second"), 161);
  EXPECT_EQ(anchors[2].at("batch_per_rank"), 128);
  EXPECT_EQ(at(rows[2], "/workload/measured"), anchors);
}

TEST(OwnRuns, OfEachSettingAreSettledByTheirOwn) {
  const auto rows = rows_of(
      "model,ranks,samples_per_second,/strategy/bucket_cap\n"
      "vgg16,1,100,\nresnet50,1,200,1 MiB\nvgg16,2,160,\nresnet50,4,700,1 MiB\n");
  ASSERT_EQ(rows.size(), 2);
  const bool is_first = at(rows[0], "/workload/model") == "resnet50";
  const TrainingRow& resnet = rows[is_first ? 0 : 1];
  const TrainingRow& vgg = rows[is_first ? 1 : 0];
  EXPECT_EQ(at(resnet, "/workload/model"), "resnet50");
  EXPECT_EQ(at(resnet, "/strategy/bucket_cap"), "1 MiB");
  EXPECT_EQ(at(resnet, "/workload/measured").at(0).at("samples_per_second"), 200);
  EXPECT_EQ(at(vgg, "/workload/measured").at(0).at("samples_per_second"), 100);
  EXPECT_FALSE(vgg.scenario.find("/strategy/bucket_cap"));
}

TEST(OwnRuns, MayHaveQuotesAndBlanksAroundTheirCells) {
  const auto rows = rows_of("\"ranks\" , \"samples_per_second\"\r\n 1 ,\t100\r\n\"2\", 160.5 \r\n");
  EXPECT_THAT(steps_of(rows), ElementsAre(2 * 32 / 160.5));
}

TEST(OwnRuns, AreRefusedWhereTheySayNothing) {
  const std::string good = "ranks,samples_per_second\n1,100\n";
  EXPECT_THAT(refusal("ranks,ranks,samples_per_second\n1,1,100\n2,2,160\n"),
              HasSubstr("runs.csv:1: expected every column once"));
  EXPECT_THAT(refusal("ranks,batch,samples_per_second\n1,1,1\n"), HasSubstr("did you mean \"batch_per_rank\""));
  EXPECT_THAT(refusal("ranks,sample_per_second\n1,1\n"), HasSubstr("did you mean \"samples_per_second\""));
  EXPECT_THAT(refusal("ranks,precison,samples_per_second\n1,1,1\n"), HasSubstr("did you mean \"precision\""));
  EXPECT_THAT(refusal(good + "2\n"), StartsWith("runs.csv:3: expected 2 cells, as the first line has columns, got 1"));
  EXPECT_THAT(refusal("ranks,samples_per_second\n"), StartsWith("runs.csv:1: expected at least one run below"));
  EXPECT_THAT(refusal(good + "1,101\n"), HasSubstr("at least two numbers of ranks"));
  EXPECT_THAT(refusal(good + "1,101\n"), HasSubstr("1 ranks, batch 32 alone"));
  EXPECT_THAT(refusal(good + "2,0\n"), HasSubstr("a number above 0"));
  EXPECT_THAT(refusal(good + "2,\n"), HasSubstr("either \"samples_per_second\" or \"iteration_seconds\""));
  EXPECT_THAT(refusal("ranks,samples_per_second,iteration_seconds\n1,1,1\n2,1,1\n"), HasSubstr("either"));
  EXPECT_THAT(refusal(good + "0,160\n"), StartsWith("runs.csv:3: "));
  EXPECT_THAT(refusal("ranks,samples_per_second,/workload/model/name\n1,1,1\n2,2,1\n"),
              StartsWith("runs.csv:2: /workload/model/name: expected an object"));
}

TEST(OwnRuns, AreATableWhereTheFirstLineHasColumnsOfRuns) {
  EXPECT_TRUE(is_run_table("ranks,samples_per_second\n1,2\n"));
  EXPECT_TRUE(is_run_table("iteration_seconds , nodes\n1,2\n"));
  EXPECT_FALSE(is_run_table("ranks\n1\n"));
  EXPECT_FALSE(is_run_table("size,time\n1,2\n"));
  EXPECT_FALSE(is_run_table(R"({"a": 1, ranks, 2})"));
  EXPECT_FALSE(is_run_table("[1,ranks]"));
  EXPECT_FALSE(is_run_table(""));
}

TEST(OwnRuns, OfAScenarioAreThoseThatItHasMeasured) {
  Document document = scenario();
  document.set("/workload/measured",
               R"([{"ranks": 1, "samples_per_second": 100}, {"nodes": 2, "iteration_seconds": 0.75}])");
  document.set("/sweep", R"({"/platform/ranks": [1, 2]})");
  const auto rows = own_runs(document, 8, "mine");
  EXPECT_THAT(steps_of(rows), ElementsAre(0.75));
  EXPECT_EQ(at(rows[0], "/platform/ranks"), 16);
  EXPECT_FALSE(rows[0].scenario.find("/sweep"));  // of the scenario, not of this run
  EXPECT_EQ(at(rows[0], "/workload/measured").size(), 1);
  EXPECT_THROW(own_runs(scenario(), 8, "mine"), InputError);
  document.set("/workload/measured", "[]");
  EXPECT_THROW(own_runs(document, 8, "mine"), InputError);
}

/// Of n runs on different numbers of ranks, in any order, one settles and n - 1 are rows; steps are r b a / s.
RC_GTEST_PROP(OwnRunsOfOneBatch, AreAllPredictedFromTheOneOnTheFewestRanks, ()) {
  const auto ranks = *rc::gen::suchThat(rc::gen::unique<std::vector<int>>(rc::gen::inRange(1, 2000)),
                                        [](const std::vector<int>& all) { return all.size() > 1; });
  const int batch = *rc::gen::inRange(1, 512);
  const int passes = *rc::gen::inRange(1, 9);
  std::string table = "accumulation,batch_per_rank,ranks,samples_per_second\n";
  for (const int r : ranks) table += fmt::format("{},{},{},{}\n", passes, batch, r, 90.5 + r);
  const auto rows = rows_of(table);
  RC_ASSERT(rows.size() == ranks.size() - 1);
  const int fewest = *std::ranges::min_element(ranks);
  auto row = rows.begin();
  for (const int r : ranks) {
    if (r == fewest) continue;
    RC_ASSERT(std::abs(row->step.si() / (static_cast<double>(r) * batch * passes / (90.5 + r)) - 1) < 1e-12);
    RC_ASSERT(at(*row, "/platform/ranks") == r);
    RC_ASSERT(at(*row, "/workload/measured").at(0).at("ranks") == fewest);
    ++row;
  }
}

}}  // namespace farandole::test::own_runs_test
