// LoRA and frozen parameters from a scenario's text: what is refused, and laws of whole runs.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::trained_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

using Changes = std::vector<test::Change>;

const std::string attention = R"(["q_proj", "k_proj", "v_proj", "o_proj"])";
const std::string lora16 = R"("lora": {"rank": 16, "alpha": 32, "targets": )" + attention + "}";

/// `trained`: a key of the workload and its value, or nothing.
Changes llama(const std::string& trained, const std::string& strategy, int ranks = 16) {
  return {{"/workload", R"({"model": "llama3_8b", "variant": "seq8192", "batch_per_rank": 1, "precision": "bf16",
                            "gradient_type": "bf16", "recompute": "full", "optimizer": "adam")" +
                            (trained.empty() ? "" : ", " + trained) + "}"},
          {"/platform", R"({"topology": "hgx-h100", "ranks": )" + std::to_string(ranks) + "}"},
          {"/strategy", strategy},
          {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": "analytic"})"}};
}

TrainingPoint point(const std::string& trained, const std::string& strategy) {
  return test::run(llama(trained, strategy)).points.at(0);
}

std::string error(const std::string& trained, const std::string& strategy = R"({"kind": "fsdp"})") {
  return test::error_of(llama(trained, strategy));
}

const std::vector<std::string> strategies{
    R"({"kind": "fsdp"})",
    R"({"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP"})",
    R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 8})",
    R"({"kind": "zero", "stage": 1})",
    R"({"kind": "zero", "stage": 2})",
    R"({"kind": "zero", "stage": 3})",
    R"({"kind": "fsdp", "tensor_parallel": 4, "sequence_parallel": true})",
    R"({"kind": "ddp", "tensor_parallel": 8})",
    R"({"kind": "ddp", "pipeline": 4, "accumulation": 4})",
};

TEST(TrainedScenario, SaysWhatAnAdapterCannotStandBeside) {
  EXPECT_THAT(error(R"("lora": {"rank": 8, "targets": ["q_prj"]})"),
              AllOf(HasSubstr("/workload/lora/targets/0: expected the end of a linear layer's name in llama3_8b"),
                    HasSubstr("got \"q_prj\"; did you mean \"q_proj\"?")));
  EXPECT_THAT(error(R"("lora": {"rank": 8, "targets": "attention"})"), HasSubstr("expected \"all-linear\", or a list"));
  EXPECT_THAT(error(R"("lora": {"rank": 0, "targets": "all-linear"})"), HasSubstr("/workload/lora/rank"));
  EXPECT_THAT(error(R"("lora": {"rank": 8, "alpha": 0, "targets": "all-linear"})"), HasSubstr("/workload/lora/alpha"));
  EXPECT_THAT(error(R"("lora": {"rank": 8})"), HasSubstr("expected a key \"targets\""));
  EXPECT_THAT(error(R"("lora": {"r": 8, "targets": []})"), HasSubstr("/workload/lora"));
  EXPECT_THAT(test::error_of({{"/workload/lora", R"({"rank": 8, "targets": "all-linear"})"}}),
              HasSubstr("expected a model with linear layers in blocks, got \"resnet18\""));
}

TEST(TrainedScenario, SaysWhatCannotBeFrozen) {
  EXPECT_THAT(error(R"("frozen": ["model.layer.0.*"])"),
              AllOf(HasSubstr("/workload/frozen/0"), HasSubstr("in which * is any text, got \"model.layer.0.*\"")));
  EXPECT_THAT(error(R"("frozen": ["*"])"), HasSubstr("patterns that leave something to train, got all tensors"));
  EXPECT_THAT(error(lora16 + R"(, "frozen": ["model.norm.*"])"), HasSubstr("no \"frozen\" beside \"lora\""));
  EXPECT_THAT(error(lora16, R"({"kind": "parameter_server"})"), HasSubstr("a strategy without servers"));
}

TEST(TrainedScenario, FreezingNothingChangesNoDigit) {
  for (const std::string& strategy : strategies) {
    EXPECT_EQ(point("", strategy).iteration, point(R"("frozen": [])", strategy).iteration) << strategy;
  }
}

TEST(TrainedScenario, AFrozenJobIsNeverSlowerNorTakesMoreMemory) {
  for (const std::string& strategy : strategies) {
    const TrainingPoint whole = point("", strategy);
    TrainingPoint before = whole;
    for (const char* frozen :
         {R"("frozen": ["model.embed_tokens.*"])", R"("frozen": ["model.embed_tokens.*", "*norm*"])",
          R"("frozen": ["model.embed_tokens.*", "*norm*", "*mlp*"])"}) {
      const TrainingPoint now = point(frozen, strategy);
      EXPECT_LE(now.iteration, before.iteration * (1 + 1e-9)) << strategy << frozen;
      EXPECT_LE(now.gradient_bytes, before.gradient_bytes) << strategy << frozen;
      EXPECT_LE(now.memory.total(), before.memory.total()) << strategy << frozen;
      before = now;
    }
  }
}

TEST(TrainedScenario, LoraSendsTheGradientsOfItsAdaptersWhateverTheStrategy) {
  // 13,631,488 parameters in bf16; of ranks that compute together each has the part of some matrices.
  for (const std::string& strategy : strategies) {
    const TrainingPoint lora = point(lora16, strategy);
    const bool is_part = strategy.find("tensor") != std::string::npos || strategy.find("pipeline") != std::string::npos;
    if (is_part) {
      EXPECT_LT(lora.gradient_bytes, 2_B * 13'631'488.0) << strategy;
    } else {
      EXPECT_EQ(lora.gradient_bytes, 2_B * 13'631'488.0) << strategy;
    }
    const bool adds_whole_outputs = strategy.find("\"tensor_parallel\": 8") != std::string::npos;
    if (adds_whole_outputs) continue;  // of o on each of 8 ranks, more than the products that are spared
    EXPECT_LT(lora.iteration, point("", strategy).iteration) << strategy;
  }
}

TEST(TrainedScenario, LoraGathersWhatTheWholeModelGathersAndReducesNextToNothing) {
  const std::string fsdp = R"({"kind": "fsdp"})";
  const TrainingPoint whole = point("", fsdp);
  const TrainingPoint lora = point(lora16, fsdp);
  EXPECT_NEAR(lora.exposed->allgather / whole.exposed->allgather, 1, 0.01);
  EXPECT_LT(lora.exposed->reduce_scatter, whole.exposed->reduce_scatter / 50);
  EXPECT_LT(lora.memory.gradients + lora.memory.optimizer_state, whole.memory.gradients / 50);
}

TEST(TrainedScenario, SaysHowMuchIsTrained) {
  const TrainingPoint lora = point(lora16, R"({"kind": "fsdp"})");
  EXPECT_EQ(lora.variant, "seq8192 lora16:q_proj+k_proj+v_proj+o_proj");
  EXPECT_THAT(lora.notes, testing::Contains("13,631,488 of 8,043,892,736 parameters are trained, 0.169 %"));
}

}}  // namespace farandole::trained_test
