#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/points.hpp"
#include "report/reports.hpp"

namespace farandole::csv_test { namespace {

using Cells = std::vector<std::string>;

/// A reader of RFC 4180 written for these tests alone: it shares nothing with the writer.
std::vector<Cells> parse_csv(const std::string& text) {
  std::vector<Cells> lines;
  Cells line{""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      line.back() += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      line.emplace_back();
    } else if (!quoted && text[i] == '\n') {
      lines.push_back(std::exchange(line, Cells{""}));
    } else {
      line.back() += text[i];
    }
  }
  return lines;
}

std::string training_text(const std::vector<TrainingPoint>& points) {
  std::ostringstream out;
  write_training(out, Format::csv, heading(), points);
  return out.str();
}

TEST(TrainingCsv, FlattensTheBreakdown) {
  EXPECT_EQ(
      training_text({vgg16_on_512_ranks()}),
      "model,variant,ranks,nodes,platform,strategy,mode,algorithm,fidelity,iteration_seconds,"
      "iteration_seconds_p50,iteration_seconds_p95,samples_per_second,scaling_efficiency,breakdown_compute,"
      "breakdown_exposed_communication,breakdown_negotiation,breakdown_straggler,breakdown_input,"
      "breakdown_checkpoint,breakdown_other,batch_per_rank,precision,gradient_type,compute_source,"
      "compute_source_detail,collectives_per_iteration,strategy_options,gradient_bytes,folded,mean_staleness,"
      "memory_parameters,memory_"
      "gradients,memory_"
      "optimizer_state,"
      "memory_activations,memory_fusion_buffers,memory_server_shard,memory_gathered,memory_total,memory_device,memory_"
      "outside,memory_spared,"
      "recompute,tflops_per_device\n"
      "vgg16,torchvision,512,128,roce25-4xp100,horovod,synchronous,ring,flow,0.3125,0.31,0.33,104857.6,0.68,"
      "0.2,0.1,0.0125,0.0,0.0,0.0,0.0,64,fp32,fp32,measured,measured,12,,553430976,true,0.0,0,0,0,0,0,0,0,0,0,0,0,"
      "none,0.0\n");
}

TEST(TrainingCsv, OfNoPointsIsItsHeader) {
  const auto lines = parse_csv(training_text({}));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].front(), "model");
}

TEST(CollectiveCsv, HasALinePerPoint) {
  std::ostringstream out;
  write_collective(out, Format::csv, heading(), std::vector{allreduce_of_a_mebibyte(), allreduce_of_a_mebibyte()});
  const std::string line = "allreduce,ring,16,1048576,0.0005,2097152000.0,3932160000.0,flow,true,0\n";
  EXPECT_EQ(out.str(), "op,algorithm,ranks,bytes,seconds,algorithm_bandwidth,bus_bandwidth,fidelity,folded,servers\n" +
                           line + line);
}

TEST(TrainingCsv, OfAComparisonListsThePointsAsThePlainReportDoes) {
  std::ostringstream out;
  write_training_comparison(out, Format::csv, heading(), std::vector{vgg16_on_512_ranks()});
  EXPECT_EQ(out.str(), training_text({vgg16_on_512_ranks()}));
}

RC_GTEST_PROP(TrainingCsv, ReadsBackToTheSameNames, ()) {
  const auto awkward = rc::gen::container<std::string>(rc::gen::elementOf(std::string("a,\"\n\r ;'")));
  TrainingPoint point = vgg16_on_512_ranks();
  point.model = *awkward;
  point.platform = *awkward;
  const auto lines = parse_csv(training_text({point}));
  RC_ASSERT(lines.size() == 2U);
  RC_ASSERT(lines[1].size() == lines[0].size());
  const auto shown = [](const std::string& text) { return text.starts_with('\r') ? "'" + text : text; };
  RC_ASSERT(lines[1][0] == shown(point.model));
  RC_ASSERT(lines[1][4] == shown(point.platform));
}

// A spreadsheet takes a cell that begins with one of these for a formula: owasp.org/www-community/attacks/CSV_Injection
RC_GTEST_PROP(TrainingCsv, HasNoTextThatASpreadsheetWouldCalculate, ()) {
  TrainingPoint point = vgg16_on_512_ranks();
  const std::string start(1, *rc::gen::elementOf(std::string("=+-@\t\r")));
  const std::string rest = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("cmd|'/C 1\"!A,\n(")));
  point.variant = start + rest + "!";  // no number, which is left alone
  point.mean_staleness = -2.5;         // a number is no text
  const auto lines = parse_csv(training_text({point}));
  RC_ASSERT(lines[1][1] == "'" + point.variant);
  RC_ASSERT(std::ranges::find(lines[1], "-2.5") != lines[1].end());
}

TEST(TrainingCsv, LeavesATextAloneThatIsANumberAndNotOneBehindASpace) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.variant = "\r4";
  EXPECT_EQ(parse_csv(training_text({point}))[1][1], "'\r4");
  point.variant = "-4";
  EXPECT_EQ(parse_csv(training_text({point}))[1][1], "-4");
}

TEST(TrainingCsv, HasARowForEveryPointThatFailed) {
  Heading with_failure = heading();
  with_failure.failed = {{"/platform/ranks 4", "its process was ended by signal 9 (Killed)"}};
  std::ostringstream out;
  write_training(out, Format::csv, with_failure, std::vector{vgg16_on_512_ranks()});
  const auto lines = parse_csv(out.str());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].back(), "failed");
  EXPECT_EQ(lines[1].back(), "");
  EXPECT_EQ(lines[2].back(), "/platform/ranks 4: its process was ended by signal 9 (Killed)");
  EXPECT_EQ(lines[2].front(), "");
}

}}  // namespace farandole::csv_test
