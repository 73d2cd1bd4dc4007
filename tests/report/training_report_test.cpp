#include <limits>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "report/points.hpp"
#include "report/reports.hpp"

namespace farandole::training_report_test { namespace {

std::string text(Format format, const std::vector<TrainingPoint>& points) {
  std::ostringstream out;
  write_training(out, format, heading(), points);
  return out.str();
}

TEST(TrainingTable, ShowsWhatDiffersInColumnsAndWhatIsSharedOnce) {
  TrainingPoint two_nodes = vgg16_on_512_ranks();
  two_nodes.model = "resnet50";
  two_nodes.ranks = 8;
  two_nodes.nodes = 2;
  two_nodes.samples_per_second = 1638.4;
  const std::string expected =
      heading_text() +
      "# all points: variant torchvision, platform roce25-4xp100, strategy horovod, mode "
      "synchronous, algorithm ring, precision fp32, gradient type fp32, batch per rank 64, fidelity "
      "flow\n"
      R"(
model     ranks  nodes  iteration (ms)  p95 (ms)  samples/s  efficiency (%)  collectives  gradients
vgg16       512    128         312.500   330.000  104,857.6            68.0           12     553 MB
resnet50      8      2         312.500   330.000    1,638.4            68.0           12     553 MB

Share of the iteration (%)
model     ranks  nodes  compute  exposed communication  negotiation  straggler  input  checkpoint  other
vgg16       512    128     64.0                   32.0          4.0        0.0    0.0         0.0    0.0
resnet50      8      2     64.0                   32.0          4.0        0.0    0.0         0.0    0.0

# compute of vgg16: measured
# compute of resnet50: measured
)";
  EXPECT_EQ(text(Format::table, {vgg16_on_512_ranks(), two_nodes}), expected + settings_text());
}

TEST(TrainingTable, HasTheAnswerFirstAndItsSettingsLastWithoutThoseOfTheMachinery) {
  Heading with_many = heading();
  for (const char* name : {"simgrid.network/model", "simgrid.network/optim", "transport.launch", "horovod.cycle_time",
                           "collectives.allreduce", "platform.failed"}) {
    with_many.settings[name] = "x";
  }
  const auto last_lines = [&] {
    std::ostringstream out;
    write_training(out, Format::table, with_many, std::vector{vgg16_on_512_ranks()});
    EXPECT_LT(out.str().find("iteration (ms)"), out.str().find("# Settings"));
    return out.str().substr(out.str().find("#\n# Settings"));
  };
  EXPECT_EQ(last_lines(),
            "#\n# Settings (4 more: --settings)\n#   collectives.allreduce: x\n#   cycle_time: 5 ms\n"
            "#   platform.failed: x\n#   seed: 1\n");
  with_many.lists_all_settings = true;
  EXPECT_EQ(last_lines(),
            "#\n# Settings\n#   collectives.allreduce: x\n#   cycle_time: 5 ms\n#   horovod.cycle_time: x\n"
            "#   platform.failed: x\n#   seed: 1\n#   simgrid.network/model: x\n#   simgrid.network/optim: x\n"
            "#   transport.launch: x\n");
}

TEST(TrainingTable, ShowsIterationsOfMicrosecondsInMicroseconds) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.iteration = Seconds(12.5e-6);
  point.iteration_p95 = 13_us;
  const std::string table = text(Format::table, {point, vgg16_on_512_ranks()});
  EXPECT_NE(table.find("iteration (us)     p95 (us)"), std::string::npos) << table;
  EXPECT_NE(table.find("        12.500       13.000"), std::string::npos) << table;
  EXPECT_NE(table.find("   312,500.000  330,000.000"), std::string::npos) << table;
}

TEST(TrainingTable, SaysInItsFirstLineThatItComparesEstimatedWithMeasuredComputeTimes) {
  TrainingPoint estimated = vgg16_on_512_ranks();
  estimated.platform = "dgx-h100";
  estimated.compute_source = "estimated: 25 % of 989 TFLOP/s";
  TrainingPoint measured = vgg16_on_512_ranks();
  measured.compute_source = "measured: 909 samples/s, nvidia";
  EXPECT_TRUE(text(Format::table, {estimated, measured})
                  .starts_with("# Compares estimated (dgx-h100) with measured (roce25-4xp100) compute times: "));
  EXPECT_TRUE(text(Format::table, {measured, measured}).starts_with("# farandole "));
  EXPECT_TRUE(text(Format::table, {estimated, estimated}).starts_with("# farandole "));
  std::ostringstream compared;
  write_training_comparison(compared, Format::table, heading(), std::vector{estimated, measured});
  EXPECT_TRUE(compared.str().starts_with("# Compares estimated (dgx-h100)")) << compared.str();
}

TrainingPoint banded() {
  TrainingPoint point = vgg16_on_512_ranks();
  point.compute_source = "estimated: kernels of pascal";
  point.bands = Bands{0.8, {0.75, 1.25}, {0.25, 0.375}, {87381.3, 131072}, {0.6, 0.75}, Interval{100, 200}, {}};
  return point;
}

TEST(TrainingTable, HasTheEndsBetweenWhichPointsOfEstimatedComputeLie) {
  const std::string table = text(Format::table, {banded(), vgg16_on_512_ranks()});
  const auto at = table.find("80 % interval, from uncertain compute times and errors on published runs\n");
  ASSERT_NE(at, std::string::npos) << table;
  EXPECT_NE(table.find("250.000 .. 375.000  87,381.3 .. 131,072.0    60.0 .. 75.0", at), std::string::npos) << table;
  EXPECT_NE(table.find("                  -                      -               -", at), std::string::npos) << table;
  EXPECT_EQ(text(Format::table, {vgg16_on_512_ranks()}).find("80 % interval"), std::string::npos);
}

TEST(TrainingCsv, HasAColumnForEachEndOfABand) {
  const std::string table = text(Format::csv, {banded()});
  EXPECT_NE(table.find("bands_iteration_seconds_low,bands_iteration_seconds_high"), std::string::npos) << table;
  EXPECT_NE(table.find(",0.25,0.375,"), std::string::npos) << table;
}

TEST(TrainingTable, HasNoSizeInPowersOf1024) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.gradient_bytes = 10395_KiB;
  point.memory.activations = 11291124_KiB;
  point.memory.device = 40_GiB;
  point.explanation = Explanation{{{"device", 0.2_s}}, {}, {}};
  const std::string table = text(Format::table, {point});
  EXPECT_EQ(table.find("iB"), std::string::npos) << table;
  EXPECT_NE(table.find("11.6 GB of 42.9 GB per device (activations 11.6 GB)\n"), std::string::npos) << table;
}

TEST(TrainingReport, SaysWhichOperationsAreExposedInEveryFormat) {
  TrainingPoint point = vgg16_on_512_ranks();  // 0.1 s of 0.3125 s are exposed
  EXPECT_EQ(text(Format::json, {point}).find("\"exposed\""), std::string::npos);
  point.exposed = ExposedCommunication{Seconds(0.0625), Seconds(0.03125), Seconds(0.00625)};
  EXPECT_NE(text(Format::csv, {point}).find("exposed_allgather,exposed_reduce_scatter,exposed_allreduce"),
            std::string::npos);
  EXPECT_NE(text(Format::csv, {point}).find(",0.0625,0.03125,0.00625,"), std::string::npos);
  EXPECT_NE(text(Format::json, {point}).find("\"reduce_scatter\": 0.03125"), std::string::npos);
  EXPECT_EQ(text(Format::table, {point}).find("by operation"), std::string::npos);
  point.explanation = Explanation{{{"device", 0.2_s}}, {}, {}};
  const std::string table = text(Format::table, {point});
  EXPECT_NE(table.find("what the device waits for, by operation"), std::string::npos) << table;
  EXPECT_NE(table.find("allgather        62.500                20.0"), std::string::npos) << table;
}

TEST(TrainingTable, GivesAColumnToAPropertyInWhichPointsDiffer) {
  TrainingPoint at_message = vgg16_on_512_ranks();
  at_message.fidelity = "message";
  const std::string table = text(Format::table, {vgg16_on_512_ranks(), at_message});
  EXPECT_NE(table.find("nodes  fidelity  iteration"), std::string::npos) << table;
  EXPECT_NE(table.find("128  message "), std::string::npos) << table;
}

TEST(TrainingTable, ShowsNoSharesOfAnIterationWithoutLength) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.breakdown = {};
  EXPECT_NE(text(Format::table, {point}).find("128        -                      -"), std::string::npos);
}

TEST(TrainingTable, ShowsTheLossOfTheFirstEpochsAndTheLastAgainstTime) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.learning = Learning{"linear_regression", {5, 3}, 9, {4, 3, 2, 1}, {1_s, 2_s, 3_s, 4_s}};
  const std::string expected = R"(
Loss against simulated time
model  ranks  nodes  epoch  simulated time  loss
vgg16    512    128      0            0 ns     9
vgg16    512    128      1             1 s     4
vgg16    512    128      2             2 s     3
vgg16    512    128      4             4 s     1
# weights (vgg16, 512, 128): 5, 3
)";
  EXPECT_NE(text(Format::table, {point}).find(expected), std::string::npos) << text(Format::table, {point});
}

TEST(TrainingJson, HasLearningOnlyWhereSomethingWasLearned) {
  TrainingPoint point = vgg16_on_512_ranks();
  EXPECT_EQ(text(Format::json, {point}).find("\"learning\""), std::string::npos);
  point.learning = Learning{"linear_regression", {5, 3}, 9, {4}, {1_s}};
  const std::string json = text(Format::json, {point});
  for (const char* key : {"\"learning\"", "\"weights\"", "\"loss\"", "\"seconds\"", "\"start_loss\""}) {
    EXPECT_NE(json.find(key), std::string::npos) << key;
  }
}

TEST(TrainingTable, OfNoPointsIsItsHeadings) {
  const std::string table = text(Format::table, {});
  EXPECT_EQ(table.find("all points"), std::string::npos);
  EXPECT_NE(table.find("model  ranks  nodes  iteration (ms)"), std::string::npos) << table;
}

TEST(TrainingTable, LetsNoNameBreakALineOrSteerATerminal) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.model = "a\nb\x1b[2J";
  point.platform = "c\rd";
  const std::string table = text(Format::table, {point});
  EXPECT_NE(table.find("a?b?[2J"), std::string::npos) << table;
  EXPECT_NE(table.find("platform c?d"), std::string::npos) << table;
}

TEST(TrainingReport, RefusesNumbersThatAreNotFiniteAndWritesNothing) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.scaling_efficiency = std::numeric_limits<double>::quiet_NaN();
  for (const Format format : {Format::table, Format::json, Format::csv}) {
    std::ostringstream out;
    EXPECT_THROW(write_training(out, format, heading(), std::vector{point}), std::logic_error);
    EXPECT_EQ(out.str(), "");
  }
}

TEST(TrainingReport, IsTheSameTextForTheSamePoints) {
  for (const Format format : {Format::table, Format::json, Format::csv}) {
    EXPECT_EQ(text(format, {vgg16_on_512_ranks()}), text(format, {vgg16_on_512_ranks()}));
  }
}

TEST(TrainingTable, SaysAboveWhichPointsFailedAndWhy) {
  Heading with_failure = heading();
  with_failure.failed = {{"/platform/ranks 4", "killed"}};
  std::ostringstream out;
  write_training(out, Format::table, with_failure, std::vector{vgg16_on_512_ranks()});
  EXPECT_NE(out.str().find("# failed: /platform/ranks 4: killed\n"), std::string::npos);
  std::ostringstream empty;
  write_training(empty, Format::table, with_failure, {});
  EXPECT_NE(empty.str().find("# failed: "), std::string::npos);
}

}}  // namespace farandole::training_report_test
