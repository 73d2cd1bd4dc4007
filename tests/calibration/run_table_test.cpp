// Tables of training runs: what they are of, and what no machine could have run.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "calibration/posterior.hpp"

namespace farandole::run_table_test { namespace {

using testing::HasSubstr;

std::vector<TrainingRow> runs_of(const std::string& table) {
  const Document scenario =
      Document::parse(R"({"workload": {"model": "resnet50"}, "platform": {"ranks": 4}})", "s.json");
  return table_runs("runs.csv", table, scenario, 4, "runs");
}

std::string refusal(const std::string& table) {
  try {
    runs_of(table);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

// 8 ranks of 64 images at 1,024 images per second: half a second. The run on the fewest ranks is where it starts from.
TEST(RunTable, CountsRanksByNodesAndStepsByImages) {
  const auto runs = runs_of("nodes,batch_per_rank,samples_per_second\n1,64,600\n2,64,1024\n");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_DOUBLE_EQ(runs[0].step.si(), 0.5);
  EXPECT_EQ(read<int>(*runs[0].scenario.find("/platform/ranks")), 8);
  EXPECT_EQ(runs[0].place.line, 3);
}

/// As spreadsheets write them: quotes around what they like, and commas inside.
TEST(RunTable, HasCellsInQuotes) {
  const auto runs = runs_of(
      "\"ranks\", \"batch_per_rank\",iteration_seconds,/name\r\n4,64,0.25,\"a, b\"\r\n\"8\",64 ,\"0.5\",\"a, b\"\r\n");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_DOUBLE_EQ(runs[0].step.si(), 0.5);
  EXPECT_EQ(read<std::string>(*runs[0].scenario.find("/name")), "a, b");
}

TEST(RunTable, WithMoreNodesThanAnyMachineHasIsRefusedAtItsLine) {
  EXPECT_THAT(refusal("nodes,iteration_seconds\n1,0.5\n2147483647,0.6\n"),
              HasSubstr("runs.csv:3: /nodes: expected an integer from 1 to 1,048,576, got 2147483647"));
}

// 500 runs predicted from 500 others are 250,000 that scenarios list; of 64 MiB they would fill the memory.
TEST(RunTable, HasAtMostAThousandRunsOfOneSetting) {
  std::string table = "ranks,batch_per_rank,iteration_seconds\n";
  for (int batch = 1; batch <= 500; ++batch) table += fmt::format("4,{0},0.5\n8,{0},0.6\n", batch);
  EXPECT_EQ(runs_of(table).size(), 500U);
  EXPECT_THAT(refusal(table + "16,500,0.7\n"),
              HasSubstr("runs.csv:1002: /: expected at most 1000 runs of one setting"));
}

}}  // namespace farandole::run_table_test
