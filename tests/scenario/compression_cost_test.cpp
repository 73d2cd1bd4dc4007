// Compression on the machines of Agarwal et al., "On the Utility of Gradient Compression in Distributed Training
// Systems", MLSys 2022 (arXiv 2103.00543): up to 96 V100, four to a p3.8xlarge with 10 Gbit/s, PyTorch DDP, 64 samples
// each. Of more than 200 set-ups they found six in which compression was faster than without.
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::compression_cost_test { namespace {

using testing::HasSubstr;

TrainingPoint on_p3_8xlarge(const std::string& model, int ranks, const std::string& compression) {
  const std::string platform = R"({"topology": "aws-p3.16xlarge", "ranks": )" + std::to_string(ranks) +
                               R"(, "override": {"/node/devices": 4, "/node/nic/rate": "10 Gbit/s",
    "/node/fabric/nvlink/mesh": [[0, 1, 1], [0, 2, 1], [0, 3, 2], [1, 2, 2], [1, 3, 1], [2, 3, 2]]}})";
  RunOptions options;
  options.bands = false;
  return test::run({{"/workload", R"({"model": ")" + model + R"(", "batch_per_rank": 64, "precision": "fp32"})"},
                    {"/platform", platform},
                    {"/strategy", R"({"kind": "ddp", "compression": )" + compression + "}"},
                    {"/measure", R"({"iterations": 4, "warmup": 2})"}},
                   options)
      .points.front();
}

// With PyTorch of 2021: torch.topk by one block of threads, columns made orthogonal one by one.
const std::vector<std::string> as_in_2021{R"({"kind": "power_sgd", "rank": 4, "orthogonal": "gram_schmidt"})",
                                          R"({"kind": "power_sgd", "rank": 8, "orthogonal": "gram_schmidt"})",
                                          R"({"kind": "power_sgd", "rank": 16, "orthogonal": "gram_schmidt"})",
                                          R"({"kind": "top_k", "keep": "1 %", "selection": "one_block"})",
                                          R"({"kind": "top_k", "keep": "10 %", "selection": "one_block"})",
                                          R"({"kind": "top_k", "keep": "20 %", "selection": "one_block"})",
                                          R"("one_bit")"};

/// Against no compression: above 1 it is faster.
double gain(const std::string& model, int ranks, const std::string& compression) {
  const TrainingPoint plain = on_p3_8xlarge(model, ranks, R"("none")");
  const TrainingPoint point = on_p3_8xlarge(model, ranks, compression);
  std::printf("%-10s %3d V100, %-34s %7.1f ms, without %7.1f ms: %+5.1f %%; %s\n", model.c_str(), ranks,
              point.strategy_options.c_str(), 1e3 * point.iteration.si(), 1e3 * plain.iteration.si(),
              100 * (plain.iteration / point.iteration - 1), point.notes.empty() ? "" : point.notes.front().c_str());
  return plain.iteration / point.iteration;
}

TEST(CompressionCost, SelectingAndGatheringIsSlowerThanNoCompressionOn96V100) {
  for (const std::string& compression : as_in_2021) {
    if (compression.find("power_sgd") != std::string::npos) continue;
    for (const std::string model : {"resnet50", "resnet101"}) EXPECT_LT(gain(model, 96, compression), 1) << compression;
  }
}

TEST(CompressionCost, OfPowerSgdIsInWhatItGains) {
  for (const std::string model : {"resnet50", "resnet101"}) {
    double before = 2;
    for (const std::string& compression : as_in_2021) {
      if (compression.find("power_sgd") == std::string::npos) continue;
      const double now = gain(model, 96, compression);
      EXPECT_LT(now, before);  // a higher rank costs more
      before = now;
    }
  }
}

TEST(CompressionCost, IsSaidInANoteOfThePoint) {
  const TrainingPoint point = on_p3_8xlarge("resnet50", 8, as_in_2021.front());
  ASSERT_EQ(point.notes.size(), 1U);
  EXPECT_THAT(point.notes.front(), HasSubstr("compression power_sgd, rank 4: a rank sends "));
  EXPECT_THAT(point.notes.front(), HasSubstr(" instead of 102 MB in a step; encoding takes its device "));
}

TEST(CompressionCost, IsTakenFromTheDeviceThatComputes) {
  const TrainingPoint plain = on_p3_8xlarge("resnet50", 8, R"("none")");
  const TrainingPoint top =
      on_p3_8xlarge("resnet50", 8, R"({"kind": "top_k", "keep": "1 %", "selection": "one_block"})");
  EXPECT_GT(top.breakdown.compute - plain.breakdown.compute, 0.1_s);  // 25.6 million elements at 12.8 ns or so
  EXPECT_EQ(on_p3_8xlarge("resnet50", 1, R"("fp16")").breakdown.compute,
            on_p3_8xlarge("resnet50", 1, R"("none")").breakdown.compute);
}

}}  // namespace farandole::compression_cost_test
