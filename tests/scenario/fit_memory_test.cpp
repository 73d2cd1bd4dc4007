// What fits into the devices' memory, and that what a refusal recommends does.
#include "scenario/fit_memory.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::fit_memory_test { namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Changes = std::vector<test::Change>;

Changes llama(const std::string& strategy, int ranks, const std::string& more) {
  return {
      {"/workload", fmt::format(R"({{"model": "llama3_8b", "variant": "seq8192", "optimizer": "adam", {}}})", more)},
      {"/platform", fmt::format(R"({{"topology": "hgx-h100", "ranks": {}}})", ranks)},
      {"/strategy", strategy},
      {"/measure", R"({"iterations": 1, "warmup": 1, "bands": false})"}};
}

const std::string bf16 = R"("batch_per_rank": 1, "precision": "bf16", "gradient_type": "bf16", "recompute": "full")";

Scenario scenario_of(const Changes& changes) {
  return read_scenario(test::changed(changes).root(), Catalogue());
}

/// Under no_sync PyTorch keeps what the passes have added up unsharded until the last of them reduces it: 2 bytes of
/// every parameter, as FSDP keeps it at the least.
TEST(FitMemory, AccumulationUnderNoSyncKeepsWholeGradients) {
  const auto gradients = [](const char* strategy) {
    const Scenario scenario = scenario_of(llama(strategy, 64, bf16));
    return memory_of(scenario).gradients / Bytes(static_cast<double>(scenario.workload.model.parameters()));
  };
  EXPECT_NEAR(gradients(R"({"kind": "fsdp"})"), 2.0 / 64, 1e-9);
  EXPECT_NEAR(gradients(R"({"kind": "fsdp", "accumulation": 4})"), 2, 1e-9);
  EXPECT_NEAR(gradients(R"({"kind": "fsdp", "accumulation": 4, "no_sync": false})"), 2.0 / 64, 1e-9);
  EXPECT_NEAR(gradients(R"({"kind": "zero", "stage": 3, "accumulation": 4})"), 2.0 / 64, 1e-9);
}

/// FSDP2's number: as many ranks as there are is true, one is false; in between gathers are from fewer neighbours, who
/// keep what was computed forward: 2 bytes of every parameter of a block, shared.
TEST(FitMemory, ReshardingToANumberOfRanksIsBetweenTrueAndFalse) {
  const auto point = [](const std::string& reshard) {
    Changes changes = llama(fmt::format(R"({{"kind": "fsdp", "reshard_after_forward": {}}})", reshard), 64, bf16);
    changes.push_back({"/platform/override", R"({"/node/nic/rate": "100 Gbit/s"})"});
    return test::run(changes).points.at(0);
  };
  const auto memory = [](const std::string& reshard) {
    return memory_of(
        scenario_of(llama(fmt::format(R"({{"kind": "fsdp", "reshard_after_forward": {}}})", reshard), 64, bf16)));
  };
  EXPECT_EQ(point("64").iteration, point("true").iteration);
  EXPECT_EQ(point("1").iteration, point("false").iteration);
  EXPECT_EQ(memory("64").total(), memory("true").total());
  EXPECT_EQ(memory("1").total(), memory("false").total());
  double blocks = 0;
  const Scenario scenario = scenario_of(llama(R"({"kind": "fsdp"})", 64, bf16));
  for (const Layer& layer : scenario.workload.model.layers) {
    if (!layer.block.empty()) blocks += static_cast<double>(layer.parameters());
  }
  Seconds before = point("false").iteration;
  for (const int ranks : {8, 32}) {
    const std::string text = std::to_string(ranks);
    EXPECT_NEAR((memory(text).gathered - memory("true").gathered).si(), 2 * blocks / ranks, 1);
    EXPECT_LE(before, point(text).iteration);
    before = point(text).iteration;
  }
  EXPECT_LT(before, point("true").iteration);
  EXPECT_LT(point("false").iteration, point("8").iteration);
  for (const char* wrong : {"0", "3", "128", "\"yes\""}) {
    EXPECT_THAT(
        test::error_of(llama(fmt::format(R"({{"kind": "fsdp", "reshard_after_forward": {}}})", wrong), 64, bf16)),
        HasSubstr("/strategy/reshard_after_forward"));
  }
}

TEST(FitMemory, SeventyBillionParametersDoNotFitIntoWholeGradients) {
  const auto error = [](const char* strategy) {
    Changes changes = llama(strategy, 64, bf16);
    changes.push_back({"/workload/model", "\"llama3_70b\""});
    return test::error_of(changes);
  };
  EXPECT_THAT(error(R"({"kind": "fsdp", "accumulation": 4})"), HasSubstr("gradients 141 GB"));
  EXPECT_EQ(error(R"({"kind": "fsdp", "accumulation": 4, "no_sync": false})"), "no error");
}

/// In whole gradients, what is recommended as accumulation took 92.7 of 85.9 GB.
TEST(FitMemory, TheAccumulationThatARefusalRecommendsFits) {
  for (const int batch : {6, 7, 8, 12}) {
    Changes changes = llama(R"({"kind": "fsdp"})", 8, bf16);
    changes.push_back({"/workload/batch_per_rank", std::to_string(batch)});
    const std::string refusal = test::error_of(changes);
    const auto at = refusal.find("accumulation, ");
    ASSERT_NE(at, std::string::npos) << refusal;
    int passes = 0;
    int samples = 0;
    ASSERT_EQ(std::sscanf(refusal.c_str() + at, "accumulation, %d passes of %d samples", &passes, &samples), 2);
    EXPECT_GE(passes * samples, batch);
    const bool reduces = refusal.find("\"no_sync\": false", at) < refusal.find(';', at);
    changes.push_back({"/workload/batch_per_rank", std::to_string(samples)});
    changes.push_back({"/strategy/accumulation", std::to_string(passes)});
    if (reduces) changes.push_back({"/strategy/no_sync", "false"});
    EXPECT_EQ(test::error_of(changes), "no error") << batch;
  }
}

/// 2 x 8192 tokens and 128,256 words: 14 bytes of each, 4, or an eighth of 14; compiled programs fuse.
TEST(FitMemory, OfALossIsAsItIsComputed) {
  const auto memory = [](const std::string& settings) {
    return test::run(llama(R"({"kind": "fsdp"})", 64,
                           R"("batch_per_rank": 2, "precision": "bf16", "recompute": "selective")" + settings))
        .points.at(0)
        .memory;
  };
  const double logits = 2 * 8192 * 128256.0;
  const MemoryUse plain = memory("");
  EXPECT_EQ(plain.spared, Bytes(2 * logits));
  EXPECT_EQ(memory(R"(, "loss": "plain", "compile": true)").total(), plain.total());
  const MemoryUse fused = memory(R"(, "loss": "fused")");
  EXPECT_NEAR((plain.total() - fused.total()).si(), 10 * logits, 1);
  EXPECT_EQ(fused.spared, 0_B);
  EXPECT_EQ(memory(R"(, "compile": true)").total(), fused.total());
  EXPECT_LT(memory(R"(, "loss": "chunked")").total(), fused.total());
}

TEST(FitMemory, ALossThatKeepsLessIsAWayOut) {
  Changes changes =
      llama(R"({"kind": "fsdp"})", 8, R"("batch_per_rank": 3, "precision": "bf16", "recompute": "selective")");
  const std::string refusal = test::error_of(changes);
  EXPECT_THAT(refusal, HasSubstr(R"("loss": "fused", 31.5 GB less)"));
  changes.push_back({"/workload/loss", R"("fused")"});
  EXPECT_EQ(test::error_of(changes), "no error");
  changes.back() = {"/workload/loss", R"("fuse")"};
  EXPECT_THAT(test::error_of(changes),
              HasSubstr("/workload/loss: expected a way to compute a loss, got \"fuse\"; did you mean"));
}

/// Such a job ran on 64 H100 of 80 GB. Transformer Engine keeps the inputs of products in fp8, others in bf16.
TEST(FitMemory, WhatFitsIfProductsKeepTheirInputsInFp8IsNotRefusedButWarnedOf) {
  const auto job = [](const char* precision) {
    return llama(R"({"kind": "zero", "stage": 1})", 64,
                 fmt::format(R"("batch_per_rank": 1, "precision": "{}", "gradient_type": "bf16")", precision));
  };
  EXPECT_THAT(test::error_of(job("bf16")), HasSubstr("got 92.5 GB"));
  const TrainingPoint point = test::run(job("fp8")).points.at(0);
  ASSERT_THAT(point.notes, SizeIs(1));
  EXPECT_THAT(point.notes[0],
              HasSubstr("may not fit: 92.5 GB and 1 GB outside the framework's allocator, of 85.9 GB; 79.4 GB at"));
  Changes larger = job("fp8");
  larger.push_back({"/workload/batch_per_rank", "2"});
  EXPECT_THAT(test::error_of(larger), HasSubstr("expected a job that fits into the 85.9 GB"));
}

}}  // namespace farandole::fit_memory_test
