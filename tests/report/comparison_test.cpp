#include <sstream>

#include <gtest/gtest.h>

#include "report/points.hpp"
#include "report/reports.hpp"

namespace farandole::comparison_test { namespace {

TrainingPoint training(const std::string& model, const std::string& fidelity, Seconds iteration) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.model = model;
  point.fidelity = fidelity;
  point.iteration = iteration;
  return point;
}

CollectivePoint collective(const std::string& fidelity, Seconds time, bool folded) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  point.fidelity = fidelity;
  point.time = time;
  point.folded = folded;
  return point;
}

std::string text(const std::vector<TrainingPoint>& points) {
  std::ostringstream out;
  write_training_comparison(out, Format::table, heading(), points);
  return out.str();
}

std::string text(const std::vector<CollectivePoint>& points) {
  std::ostringstream out;
  write_collective_comparison(out, Format::table, heading(), points);
  return out.str();
}

/// What stands between the title and the settings.
std::string after_blank_line(const std::string& table) {
  const auto start = table.find("\n\n") + 2;
  return table.substr(start, table.find("#\n# Settings") - start);
}

// difference = time / time at message - 1: 0.3 / 0.32 - 1 = -6.25 %, 0.336 / 0.32 - 1 = 5 %
TEST(TrainingComparison, SetsFidelitiesSideBySideWithTheirDistanceToMessage) {
  EXPECT_EQ(after_blank_line(text({training("vgg16", "analytic", 0.3_s), training("vgg16", "flow", 0.336_s),
                                   training("vgg16", "message", 0.32_s), training("resnet50", "analytic", 0.1_s),
                                   training("resnet50", "flow", 0.1_s), training("resnet50", "message", 0.1_s)})),
            R"(model     ranks  nodes  analytic (ms)  to message  flow (ms)  to message  message (ms)
vgg16       512    128        300.000     -6.25 %    336.000     +5.00 %       320.000
resnet50    512    128        100.000      0.00 %    100.000      0.00 %       100.000
)");
}

TEST(TrainingComparison, AnswersTheQuestionWithTheMostExactFidelity) {
  const auto of = [](const char* rate, const char* fidelity, double efficiency) {
    TrainingPoint point = training("vgg16", fidelity, 0.3_s);
    point.swept = {{"/platform/override/~1node~1nic~1rate", rate}};
    point.scaling_efficiency = efficiency;
    return point;
  };
  Heading asked = heading();
  asked.question = {"What would 100 Gbit/s change?",
                    {{"/platform/override/~1node~1nic~1rate", "25 Gbit/s"}},
                    {{"/platform/override/~1node~1nic~1rate", "100 Gbit/s"}}};
  const std::vector points{of("25 Gbit/s", "analytic", 0.7), of("100 Gbit/s", "analytic", 0.95),
                           of("25 Gbit/s", "flow", 0.6), of("100 Gbit/s", "flow", 0.9)};
  std::ostringstream out;
  write_training_comparison(out, Format::table, asked, points);
  EXPECT_NE(out.str().find("# 100 Gbit/s instead of 25 Gbit/s would take vgg16 on 512 ranks from 60 % to 90 %"),
            std::string::npos)
      << out.str();
}

TEST(TrainingComparison, LeavesOutWhatWasNotTimed) {
  EXPECT_EQ(after_blank_line(text({training("vgg16", "flow", 0.3_s), training("resnet50", "message", 0.1_s)})),
            R"(model     ranks  nodes  flow (ms)  to message  message (ms)
vgg16       512    128    300.000           -             -
resnet50    512    128          -           -       100.000
)");
}

TEST(TrainingComparison, HasNoDistancesWithoutMessage) {
  EXPECT_EQ(after_blank_line(text({training("vgg16", "analytic", 0.3_s), training("vgg16", "flow", 0.3_s)})),
            R"(model  ranks  nodes  analytic (ms)  flow (ms)
vgg16    512    128        300.000    300.000
)");
}

TEST(CollectiveComparison, IsOneRowPerSizeWhicheverWasFolded) {
  const std::string table = text({collective("flow", 500_us, true), collective("message", 400_us, false)});
  EXPECT_EQ(table, heading_text() + R"(# all points: op allreduce, algorithm ring, ranks 16

 size (B)  flow (us)  to message  message (us)
1,048,576    500.000    +25.00 %       400.000
)" + settings_text());
}

// 1.25 is within the 1.35 of flow, 1.4 is outside, and within the 1.5 of analytic; 0.8 is below the 0.85 of both.
TEST(CollectiveComparison, NamesWhatLiesFartherFromMessageThanLevelsThatAgree) {
  CollectivePoint small = collective("flow", 80_us, false);
  small.bytes = 1000_B;
  CollectivePoint small_message = collective("message", 100_us, false);
  small_message.bytes = 1000_B;
  const std::string table = text({small, small_message, collective("analytic", 560_us, true),
                                  collective("flow", 560_us, true), collective("message", 400_us, false)});
  EXPECT_NE(
      table.find("# size (B) 1,000: flow is -20.00 % from message, outside the -15 % to +35 % of levels that agree "
                 "(sim/simulate/README.md)\n"),
      std::string::npos)
      << table;
  EXPECT_NE(table.find("# size (B) 1,048,576: flow is +40.00 % from message"), std::string::npos) << table;
  EXPECT_EQ(table.find("analytic is"), std::string::npos) << table;
}

}}  // namespace farandole::comparison_test
