// Configurations of other programs: the settings that they become, whatever the order of their keys.
#include "training/pasted/pasted.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

namespace farandole::pasted_test { namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// 16 ranks on two nodes, 4 samples each.
PastedInto here() {
  return {16, 2, 8, 4, 0, "bf16", "adam", true};
}

Pasted pasted(const std::string& strategy, const PastedInto& into = here()) {
  const Document document = Document::parse(strategy, "s.json");
  return unpaste(document.root(), into, read_text);
}

json settings(const std::string& strategy, const PastedInto& into = here()) {
  return to_json(pasted(strategy, into).strategy);
}

std::string refusal(const std::string& strategy, const PastedInto& into = here()) {
  try {
    pasted(strategy, into);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string deepspeed(const std::string& keys) {
  return R"({"kind": "zero", "deepspeed": {)" + keys + "}}";
}
std::string accelerate(const std::string& keys) {
  return R"({"kind": "fsdp", "accelerate": {)" + keys + "}}";
}
std::string foundry(const std::string& keys) {
  return R"({"kind": "fsdp", "llm_foundry": {)" + keys + "}}";
}

const std::string half = R"("bf16": {"enabled": true})";

/// Of 16 ranks with 4 samples in each of 3 passes a step has 192.
const std::vector<std::string> keys_of_deepspeed{R"("zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8})",
                                                 half,
                                                 R"("fp16": {"enabled": false})",
                                                 R"("communication_data_type": "fp32")",
                                                 R"("gradient_accumulation_steps": 3)",
                                                 R"("train_batch_size": 192)",
                                                 R"("train_micro_batch_size_per_gpu": 4)",
                                                 R"("optimizer": {"type": "AdamW"})"};

RC_GTEST_PROP(PastedFromDeepSpeed, MeansTheSameInAnyOrder, ()) {
  std::vector<std::string> keys = keys_of_deepspeed;
  std::mt19937 order(*rc::gen::arbitrary<unsigned>());
  std::shuffle(keys.begin(), keys.end(), order);
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  const json expected{{"kind", "zero"},        {"stage", 2},
                      {"accumulation", 3},     {"reduce_bucket_size", 500000000},
                      {"overlap_comm", false}, {"communication_data_type", "fp32"}};
  RC_ASSERT(settings(deepspeed(text)) == expected);
}

TEST(PastedFromDeepSpeed, GathersAheadInStage3UnlessItSaysNot) {
  EXPECT_EQ(settings(deepspeed(R"("zero_optimization": {"stage": 3}, )" + half)).at("overlap_comm"), true);
  EXPECT_EQ(settings(deepspeed(R"("zero_optimization": {"stage": 1}, )" + half)).at("overlap_comm"), false);
  EXPECT_EQ(
      settings(deepspeed(R"("zero_optimization": {"stage": 3, "overlap_comm": false}, )" + half)).at("overlap_comm"),
      false);
}

TEST(PastedFromDeepSpeed, TakesTheTypeOfGradientsFromItsPrecision) {
  PastedInto into = here();
  const std::string stage = R"("zero_optimization": {"stage": 2}, )";
  EXPECT_EQ(settings(deepspeed(stage + half)).at("communication_data_type"), "bf16");
  into.precision = "fp16";
  EXPECT_EQ(settings(deepspeed(stage + R"("fp16": {"enabled": true})"), into).at("communication_data_type"), "fp16");
  EXPECT_EQ(settings(deepspeed(stage + R"("fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"})"), into)
                .at("communication_data_type"),
            "fp16");
  EXPECT_THAT(refusal(deepspeed(stage + half), into), HasSubstr("expected fp16, the \"precision\" of the workload"));
  EXPECT_THAT(refusal(deepspeed(R"("zero_optimization": {"stage": 2})")), HasSubstr("\"bf16\" or \"fp16\""));
}

TEST(PastedFromDeepSpeed, ShardsInGroupsUnlessTheyAreOfMinusOne) {
  const auto group = [](const std::string& size) {
    return settings(deepspeed(R"("zero_optimization": {"stage": 3, "mics_shard_size": )" + size + "}, " + half));
  };
  EXPECT_EQ(group("8").at("shard_group"), 8);
  EXPECT_FALSE(group("-1").contains("shard_group"));
}

TEST(PastedFromDeepSpeed, HasStagesFrom1To3) {
  const auto stage = [](const std::string& number) {
    return refusal(deepspeed(R"("zero_optimization": {"stage": )" + number + "}, " + half));
  };
  for (const char* good : {"1", "2", "3"}) EXPECT_EQ(stage(good), "");
  for (const char* bad : {"0", "4"}) EXPECT_THAT(stage(bad), HasSubstr("expected 1, 2 or 3")) << bad;
  EXPECT_THAT(refusal(deepspeed(R"("zero_optimization": {}, )" + half)), HasSubstr("a \"stage\" of 1, 2 or 3"));
}

TEST(PastedFromDeepSpeed, HasTheSamplesOfAStep) {
  const auto batch = [](const std::string& more, const PastedInto& into = here()) {
    return refusal(deepspeed(R"("zero_optimization": {"stage": 2}, )" + half + ", " + more), into);
  };
  EXPECT_EQ(batch(R"("train_batch_size": 64)"), "");  // 16 ranks x 4
  EXPECT_THAT(batch(R"("train_batch_size": 63)"),
              HasSubstr("expected 64, the samples of a step: 16 ranks x 1 passes x 4"));
  EXPECT_THAT(batch(R"("train_batch_size": 64, "gradient_accumulation_steps": 2)"), HasSubstr("expected 128"));
  EXPECT_THAT(batch(R"("train_micro_batch_size_per_gpu": 5)"), HasSubstr("expected 4, the \"batch_per_rank\""));
  PastedInto of_all = here();
  of_all.batch_per_rank = 0;  // not known
  of_all.global_batch = 100;
  EXPECT_EQ(batch(R"("train_batch_size": 100, "train_micro_batch_size_per_gpu": 5)", of_all), "");
}

TEST(PastedFromDeepSpeed, HasTheOptimizerOfTheWorkload) {
  const auto optimizer = [](const std::string& theirs, const std::string& ours) {
    PastedInto into = here();
    into.optimizer = ours;
    return refusal(deepspeed(R"("zero_optimization": {"stage": 2}, "optimizer": {"type": ")" + theirs + "\"}, " + half),
                   into);
  };
  EXPECT_EQ(optimizer("FusedAdam", "adam"), "");
  EXPECT_EQ(optimizer("SGD", "sgd"), "");
  EXPECT_EQ(optimizer("SGD", "momentum"), "");
  EXPECT_EQ(optimizer("Lamb", "lamb"), "");
  EXPECT_THAT(optimizer("SGD", "adam"), HasSubstr("expected adam, the \"optimizer\" of the workload"));
  EXPECT_THAT(optimizer("Adam", "momentum"), HasSubstr("expected momentum"));
  EXPECT_THAT(optimizer("Adan", "adam"), HasSubstr("did you mean \"Adam\"?"));
}

/// What is off is as if it were not there, whatever "off" is written as.
TEST(PastedKeys, OfWhatIsNotSimulatedMayBeOff) {
  const auto amp = [](const std::string& value) {
    return refusal(deepspeed(R"("zero_optimization": {"stage": 2}, "amp": )" + value + ", " + half));
  };
  for (const char* off : {"null", "false", "0", "\"\"", "\"none\"", "\"None\"", "[]", "{}", R"({"enabled": false})",
                          R"({"device": "none", "pin_memory": true})", "\"auto\""}) {
    EXPECT_EQ(amp(off), "") << off;
  }
  for (const char* on : {"true", "1", "\"on\"", "[1]", R"({"enabled": true})", R"({"opt_level": false})"}) {
    EXPECT_THAT(amp(on), HasSubstr("no amp, which is not simulated")) << on;
  }
}

TEST(PastedKeys, AreNamedWhereTheyHaveNoEffect) {
  EXPECT_THAT(
      pasted(deepspeed(R"("zero_optimization": {"stage": 2, "contiguous_gradients": true}, "seed": 1, )" + half))
          .ignored,
      ElementsAre("/deepspeed/zero_optimization/contiguous_gradients", "/deepspeed/seed"));
}

TEST(PastedKeys, ThatCountAreWholeNumbers) {
  const auto bucket = [](const std::string& value) {
    return refusal(deepspeed(R"("zero_optimization": {"stage": 2, "reduce_bucket_size": )" + value + "}, " + half));
  };
  EXPECT_EQ(bucket("1e15"), "");
  EXPECT_EQ(bucket("0.0"), "");
  EXPECT_THAT(bucket("1.5e0"), HasSubstr("a whole number"));
  EXPECT_THAT(bucket("-1.0"), HasSubstr("a whole number"));
  EXPECT_THAT(bucket("2e15"), HasSubstr("a whole number"));
}

TEST(PastedKeys, StandOnceAndBesideTheirStrategy) {
  EXPECT_THAT(refusal(R"({"kind": "fsdp", "deepspeed": {"zero_optimization": {"stage": 2}}})"),
              HasSubstr("\"kind\": \"zero\" beside a configuration of DeepSpeed"));
  EXPECT_THAT(refusal(R"({"kind": "zero", "stage": 1, "deepspeed": {"zero_optimization": {"stage": 2}}})"),
              HasSubstr("one \"stage\""));
  EXPECT_EQ(settings(R"({"kind": "ddp", "accumulation": 2})"), (json{{"kind", "ddp"}, {"accumulation", 2}}));
}

/// torch.distributed.fsdp.ShardingStrategy counts from 1.
TEST(PastedFromAccelerate, MayNumberItsShardingStrategies) {
  const auto sharding = [](const std::string& number) {
    return settings(accelerate(R"("fsdp_sharding_strategy": )" + number)).at("sharding_strategy");
  };
  EXPECT_EQ(sharding("1"), "FULL_SHARD");
  EXPECT_EQ(sharding("2"), "SHARD_GRAD_OP");
  EXPECT_EQ(sharding("3"), "NO_SHARD");
  EXPECT_EQ(sharding("4"), "HYBRID_SHARD");
  EXPECT_EQ(sharding("5"), "_HYBRID_SHARD_ZERO2");
  EXPECT_EQ(sharding("\"full_shard\""), "FULL_SHARD");
  for (const char* none : {"0", "6"})
    EXPECT_THAT(refusal(accelerate(R"("fsdp_sharding_strategy": )" + std::string(none))), HasSubstr("1 to 5"));
}

TEST(PastedFromAccelerate, KeepsAModelInANodeWhereItIsHybrid) {
  EXPECT_EQ(settings(accelerate(R"("sharding_strategy": "HYBRID_SHARD")")).at("shard_group"), 8);
  EXPECT_FALSE(settings(accelerate(R"("sharding_strategy": "FULL_SHARD")")).contains("shard_group"));
  EXPECT_FALSE(settings(accelerate("")).contains("shard_group"));
}

TEST(PastedFromAccelerate, HasTheDefaultsOfItsVersionAndTheTypesOfAWholeFile) {
  EXPECT_EQ(settings(accelerate("")), (json{{"kind", "fsdp"}, {"backward_prefetch", "NO_PREFETCH"}}));
  EXPECT_EQ(settings(accelerate(R"("fsdp_version": 2)")).at("backward_prefetch"), "BACKWARD_PRE");
  EXPECT_EQ(settings(accelerate(R"("fsdp_config": {"fsdp_version": 2})")).at("backward_prefetch"), "BACKWARD_PRE");
  EXPECT_EQ(settings(accelerate(R"("fsdp_config": {})")).at("reduce_dtype"), "fp32");
  const json mixed = settings(accelerate(R"("fsdp_config": {}, "mixed_precision": "bf16")"));
  EXPECT_EQ(mixed.at("param_dtype"), "bf16");
  EXPECT_EQ(mixed.at("reduce_dtype"), "bf16");
}

TEST(PastedFromAccelerate, IsOfSoManyProcessesAndMachines) {
  EXPECT_EQ(refusal(accelerate(R"("fsdp_config": {}, "num_processes": 16, "num_machines": 2)")), "");
  EXPECT_THAT(refusal(accelerate(R"("fsdp_config": {}, "num_processes": 15)")), HasSubstr("expected 16, the ranks"));
  EXPECT_THAT(refusal(accelerate(R"("fsdp_config": {}, "num_machines": 1)")), HasSubstr("expected 2, the nodes"));
  EXPECT_THAT(refusal(accelerate(R"("fsdp_config": {}, "distributed_type": "DEEPSPEED")")), HasSubstr("expected FSDP"));
}

/// r ranks in d copies of the model keep it together by r / d.
TEST(PastedFromLlmFoundry, ShardsAmongTheRanksOfACopy) {
  const auto group = [](const std::string& keys) { return settings(foundry(keys)).value("shard_group", json()); };
  EXPECT_EQ(group(R"("data_parallel_replicate_degree": 4)"), 4);
  EXPECT_EQ(group(R"("data_parallel_replicate_degree": 1)"), json());
  EXPECT_EQ(group(R"("data_parallel_shard_degree": 8)"), 8);
  EXPECT_EQ(group(R"("data_parallel_shard_degree": 16)"), json());
  EXPECT_EQ(group(R"("data_parallel_shard_degree": -1)"), json());
  for (const char* degree : {"0", "3"}) {
    EXPECT_THAT(refusal(foundry(R"("data_parallel_replicate_degree": )" + std::string(degree))),
                HasSubstr("a divisor of the 16 ranks"));
  }
}

TEST(PastedFromLlmFoundry, HasTheTypesOfItsMixedPrecision) {
  const auto types = [](const std::string& name) {
    const json found = settings(foundry(R"("mixed_precision": ")" + name + "\""));
    return std::pair(found.at("param_dtype").get<std::string>(), found.at("reduce_dtype").get<std::string>());
  };
  EXPECT_EQ(types("FULL"), std::pair(std::string("fp32"), std::string("fp32")));
  EXPECT_EQ(types("DEFAULT"), std::pair(std::string("bf16"), std::string("fp32")));
  EXPECT_EQ(types("PURE"), std::pair(std::string("bf16"), std::string("bf16")));
  PastedInto single = here();
  single.precision = "fp32";
  EXPECT_THAT(refusal(foundry(R"("mixed_precision": "PURE")"), single), HasSubstr("bf16 or fp16"));
}

TEST(PastedFromPyTorch, ComputesAgainWhereTheWorkloadDoes) {
  PastedInto once = here();
  once.recomputes = false;
  EXPECT_EQ(refusal(foundry(R"("activation_checkpointing": true)")), "");
  EXPECT_EQ(refusal(foundry(R"("activation_checkpointing": false)"), once), "");
  EXPECT_THAT(refusal(foundry(R"("activation_checkpointing": true)"), once),
              HasSubstr("\"recompute\" in the workload"));
}

TEST(PastedFromPyTorch, PrefetchesAsItIsNamedInAnyCase) {
  const auto prefetch = [](const std::string& value) {
    return settings(foundry(R"("backward_prefetch": )" + value)).at("backward_prefetch");
  };
  EXPECT_EQ(prefetch("\"backward_pre\""), "BACKWARD_PRE");
  EXPECT_EQ(prefetch("\"BACKWARD_POST\""), "BACKWARD_POST");
  EXPECT_EQ(prefetch("\"none\""), "NO_PREFETCH");
  EXPECT_EQ(prefetch("null"), "NO_PREFETCH");
  EXPECT_THAT(refusal(foundry(R"("backward_prefetch": "BACKWARD")")), HasSubstr("a way to prefetch"));
}

}}  // namespace farandole::pasted_test
