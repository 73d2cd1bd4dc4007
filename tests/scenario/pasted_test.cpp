// Configurations of other programs in a scenario's "strategy": what they become, and what is refused by name.
#include "training/pasted/pasted.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::pasted_test { namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

using Changes = std::vector<test::Change>;

Changes llama(const std::string& strategy) {
  return {{"/workload", R"({"model": "llama3_8b", "variant": "seq8192", "batch_per_rank": 1, "precision": "bf16",
                            "recompute": "full", "optimizer": "adam"})"},
          {"/platform", R"({"topology": "hgx-h100", "ranks": 64})"},
          {"/strategy", strategy},
          {"/measure", R"({"iterations": 1, "warmup": 0, "fidelity": "analytic", "bands": false})"}};
}

Seconds iteration(const std::string& strategy) {
  return test::run(llama(strategy)).points.at(0).iteration;
}

std::string deepspeed(const std::string& zero, const std::string& more = "") {
  return R"({"kind": "zero", "deepspeed": {"zero_optimization": )" + zero + R"(, "bf16": {"enabled": true})" + more +
         "}}";
}

std::string accelerate(const std::string& keys) {
  return R"({"kind": "fsdp", "accelerate": )" + keys + "}";
}

std::string foundry(const std::string& keys) {
  return R"({"kind": "fsdp", "llm_foundry": )" + keys + "}";
}

TEST(Pasted, DeepSpeedsConfigurationIsWhatItsSettingsAre) {
  EXPECT_EQ(iteration(deepspeed(R"({"stage": 2, "overlap_comm": true, "reduce_bucket_size": 2e8,
                                   "contiguous_gradients": true})",
                                R"(, "gradient_accumulation_steps": 4, "train_micro_batch_size_per_gpu": 1,
                                   "train_batch_size": 256, "gradient_clipping": 1.0)")),
            iteration(R"({"kind": "zero", "stage": 2, "reduce_bucket_size": 200000000, "accumulation": 4})"));
  EXPECT_EQ(iteration(deepspeed(R"({"stage": 3, "mics_shard_size": 8})")),
            iteration(R"({"kind": "zero", "stage": 3, "shard_group": 8})"));
}

TEST(Pasted, DeepSpeedsOptimizerOnTheHostIsTheSettingOfThatName) {
  EXPECT_EQ(iteration(deepspeed(R"({"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memory": true}})")),
            iteration(R"({"kind": "zero", "stage": 2, "overlap_comm": false, "offload_optimizer": true})"));
}

/// overlap_comm is true by default of stage 3 only.
TEST(Pasted, DeepSpeedsDefaultsAreItsOwn) {
  EXPECT_EQ(iteration(deepspeed(R"({"stage": 2})")),
            iteration(R"({"kind": "zero", "stage": 2, "overlap_comm": false})"));
  EXPECT_EQ(iteration(deepspeed(R"({"stage": 3})")), iteration(R"({"kind": "zero", "stage": 3})"));
}

TEST(Pasted, AcceleratesConfigurationIsWhatItsSettingsAre) {
  EXPECT_EQ(
      iteration(accelerate(R"({"distributed_type": "FSDP", "mixed_precision": "bf16", "num_processes": 64,
      "num_machines": 8, "fsdp_config": {"fsdp_sharding_strategy": 4, "fsdp_backward_prefetch": "BACKWARD_PRE",
      "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP", "fsdp_use_orig_params": true}})")),
      iteration(R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 8, "reduce_dtype": "bf16"})"));
  EXPECT_EQ(iteration(accelerate(R"({"sharding_strategy": "FULL_SHARD"})")),
            iteration(R"({"kind": "fsdp", "backward_prefetch": "NO_PREFETCH"})"));
  EXPECT_EQ(iteration(accelerate(R"({"fsdp_version": 2, "fsdp_reshard_after_forward": false})")),
            iteration(R"({"kind": "fsdp", "reshard_after_forward": false})"));
}

TEST(Pasted, LlmFoundrysConfigurationIsWhatItsSettingsAre) {
  EXPECT_EQ(iteration(foundry(R"({"sharding_strategy": "SHARD_GRAD_OP", "mixed_precision": "PURE",
                                 "activation_checkpointing": true, "limit_all_gathers": false})")),
            iteration(R"({"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP", "reduce_dtype": "bf16",
                          "limit_all_gathers": false, "backward_prefetch": "BACKWARD_POST", "no_sync": false})"));
}

TEST(Pasted, FilesAreReadAsTheyAre) {
  const std::string file = testing::TempDir() + "accelerate.yaml";
  std::ofstream(file) << "distributed_type: FSDP\ndowncast_bf16: 'no'\nfsdp_config:\n"
                         "  fsdp_sharding_strategy: FULL_SHARD  # or 1\n  fsdp_offload_params: false\n"
                         "mixed_precision: bf16\nnum_processes: 64\ntpu_env: []\n";
  EXPECT_EQ(iteration(accelerate("\"" + file + "\"")),
            iteration(R"({"kind": "fsdp", "backward_prefetch": "NO_PREFETCH", "reduce_dtype": "bf16"})"));
  std::ofstream(file) << "fsdp_config:\n  fsdp_offload_params: true\n";
  EXPECT_THAT(test::error_of(llama(accelerate("\"" + file + "\""))),
              HasSubstr("accelerate.yaml:2: /fsdp_config/fsdp_offload_params: expected no offload_params"));
}

TEST(Pasted, WhatIsNotSimulatedIsRefusedByName) {
  const auto error = [](const std::string& strategy) { return test::error_of(llama(strategy)); };
  EXPECT_THAT(error(deepspeed(R"({"stage": 2, "offload_optimizer": {"device": "nvme"}})")),
              AllOf(HasSubstr("/strategy/deepspeed/zero_optimization/offload_optimizer/device"),
                    HasSubstr("expected cpu or none: no other is simulated")));
  EXPECT_THAT(error(deepspeed(R"({"stage": 3, "offload_param": {"device": "cpu"}})")), HasSubstr("no offload_param"));
  EXPECT_THAT(error(deepspeed(R"({"stage": 3, "zero_hpz_partition_size": 8})")), HasSubstr("zero_hpz_partition_size"));
  EXPECT_THAT(error(deepspeed(R"({"stage": 3}, "amp": {"enabled": true})")), HasSubstr("no amp"));
  EXPECT_THAT(error(accelerate(R"({"fsdp_auto_wrap_policy": "SIZE_BASED_WRAP"})")),
              HasSubstr("TRANSFORMER_BASED_WRAP"));
  EXPECT_THAT(error(foundry(R"({"activation_cpu_offload": true})")), HasSubstr("no activation_cpu_offload"));
  EXPECT_EQ(error(deepspeed(R"({"stage": 2, "offload_optimizer": {"device": "none"}})")), "no error");
}

TEST(Pasted, NamesTheNearestOfKeysItDoesNotKnow) {
  const auto error = [](const std::string& strategy) { return test::error_of(llama(strategy)); };
  EXPECT_THAT(error(deepspeed(R"({"stage": 2, "overlap_com": true})")), HasSubstr("did you mean \"overlap_comm\"?"));
  EXPECT_THAT(error(accelerate(R"({"fsdp_shardin_strategy": 1})")),
              HasSubstr("did you mean \"fsdp_sharding_strategy\"?"));
  EXPECT_THAT(error(foundry(R"({"mixed_precisio": "PURE"})")), HasSubstr("did you mean \"mixed_precision\"?"));
  EXPECT_THAT(error(foundry(R"({"mixed_precision": "PUR"})")), HasSubstr("did you mean \"PURE\"?"));
}

TEST(Pasted, MustAgreeWithTheScenario) {
  const auto error = [](const std::string& strategy) { return test::error_of(llama(strategy)); };
  EXPECT_THAT(error(deepspeed(R"({"stage": 2})", R"(, "train_micro_batch_size_per_gpu": 4)")),
              HasSubstr("expected 1, the \"batch_per_rank\" of the workload, got 4"));
  EXPECT_THAT(error(deepspeed(R"({"stage": 2})", R"(, "train_batch_size": 65)")),
              HasSubstr("expected 64, the samples"));
  EXPECT_THAT(error(R"({"kind": "zero", "deepspeed": {"zero_optimization": {"stage": 2}, "fp16": {"enabled": true}}})"),
              HasSubstr("the \"precision\" of the workload"));
  EXPECT_THAT(error(accelerate(R"({"num_processes": 8, "fsdp_config": {}})")), HasSubstr("expected 64, the ranks"));
  EXPECT_THAT(error(R"({"kind": "fsdp", "deepspeed": {"zero_optimization": {"stage": 2}}})"),
              HasSubstr("\"kind\": \"zero\" beside a configuration of DeepSpeed"));
  EXPECT_THAT(error(R"({"kind": "zero", "stage": 1, "deepspeed": {"zero_optimization": {"stage": 2}}})"),
              HasSubstr("one \"stage\""));
}

TEST(Pasted, SaysWhatHasNoEffect) {
  const Document document = test::changed(llama(deepspeed(R"({"stage": 2, "contiguous_gradients": true})")));
  const Scenario scenario = read_scenario(document.root(), Catalogue());
  EXPECT_THAT(scenario.ignored, Contains("/strategy/deepspeed/zero_optimization/contiguous_gradients"));
}

}}  // namespace farandole::pasted_test
