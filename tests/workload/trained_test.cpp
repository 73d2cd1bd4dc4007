// Which parameters are trained, and what that leaves of the passes of a model.
#include "workload/trained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/compute_time.hpp"
#include "workload/files.hpp"
#include "workload/kernels.hpp"

namespace farandole::trained_test { namespace {

using testing::Each;
using testing::ElementsAre;

const std::vector<std::string> attention{"q_proj", "k_proj", "v_proj", "o_proj"};

Model llama() {
  return test::model("llama3_8b", "seq8192");
}

Model llama2_70b() {
  return test::model("llama2_70b", "seq4096");
}

/// A device without launches, where a pass is its products at one rate.
Device ideal() {
  Device device;
  device.name = "ideal";
  device.peak = {{Precision::bf16, 100_TFLOPps}};
  device.memory_bandwidth = BytesPerSecond::infinity();
  device.assumed_efficiency = 1;
  return device;
}

ComputeTimes times(const Model& model) {
  return compute_times(model, ideal(), {Precision::bf16, 1, "", {}});
}

Seconds sum(const std::vector<Seconds>& all) {
  Seconds result;
  for (const Seconds time : all) result += time;
  return result;
}

TEST(Trained, AdaptersHaveAsManyParametersAsPeftPrints) {
  // model.print_trainable_parameters(): "trainable params: 4,194,304 || all params: 6,742,609,920".
  struct Row {
    const char* model;
    const char* variant;
    Lora lora;
    std::int64_t trained;
    std::int64_t all;
  };
  for (const Row& row : {Row{"llama2_7b", "seq4096", {8, {"q_proj", "v_proj"}}, 4'194'304, 6'742'609'920},
                         Row{"llama3_8b", "seq8192", {16, attention}, 13'631'488, 8'043'892'736},
                         Row{"llama3_8b", "seq8192", {16, {}}, 41'943'040, 8'072'204'288}}) {
    const Model adapted = with_lora(test::model(row.model, row.variant), row.lora);
    EXPECT_EQ(adapted.trainable_parameters(), row.trained) << row.model;
    EXPECT_EQ(adapted.parameters(), row.all) << row.model;
  }
}

TEST(Trained, AdaptersAddRankTimesInputsAndOutputsOfEachTarget) {
  // Llama 2 70B, q and o 8192 to 8192, k and v 8192 to 1024, in 80 blocks.
  const Model whole = llama2_70b();
  for (const int rank : {1, 16, 64}) {
    const Model adapted = with_lora(whole, {rank, attention});
    EXPECT_EQ(adapted.trainable_parameters(), 80LL * rank * (2 * (8192 + 8192) + 2 * (8192 + 1024)));
    EXPECT_EQ(adapted.parameters() - whole.parameters(), adapted.trainable_parameters());
    EXPECT_EQ(adapted.trainable_tensors(), 80 * 4 * 2);
    EXPECT_DOUBLE_EQ(adapted.macs() - whole.macs(), 4096.0 * static_cast<double>(adapted.trainable_parameters()));
  }
}

TEST(Trained, TargetsAreTheLinearLayersOfBlocks) {
  EXPECT_THAT(lora_targets(llama()),
              ElementsAre("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"));
  EXPECT_THAT(lora_targets(test::model("resnet50")), ElementsAre());
  EXPECT_THAT(lora_targets(test::model_file("mixtral_8x7b").variants.front()),
              testing::Not(testing::Contains(testing::HasSubstr("w1"))));
}

TEST(Trained, AStarIsAnyText) {
  EXPECT_TRUE(matches("model.layers.*.weight", "model.layers.7.mlp.up_proj.weight"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*norm*", "model.norm.weight"));
  EXPECT_TRUE(matches("a*b*c", "abbbc"));
  EXPECT_FALSE(matches("a*b*c", "acb"));
  EXPECT_FALSE(matches("ab*ba", "aba"));
  EXPECT_FALSE(matches("model.norm", "model.norm.weight"));
}

TEST(Trained, FreezingNothingChangesNothing) {
  const Model whole = llama();
  Model same = with_frozen(whole, {});
  EXPECT_EQ(same.first_backward(), 0U);
  EXPECT_EQ(times(same).backward, times(whole).backward);
  EXPECT_EQ(times(same).update, times(whole).update);
  EXPECT_EQ(model_flops(same), model_flops(whole));
}

TEST(Trained, TheBackwardPassOfAFrozenPrefixTakesNothing) {
  const Model whole = llama();
  const Model head = with_frozen(whole, {"model.*"});
  const ComputeTimes of_head = times(head);
  const std::size_t first = head.first_backward();
  EXPECT_EQ(head.layers[first].name, "lm_head");
  EXPECT_THAT(
      std::vector<Seconds>(of_head.backward.begin(), of_head.backward.begin() + static_cast<std::ptrdiff_t>(first)),
      Each(Seconds(0)));
  EXPECT_EQ(of_head.forward, times(whole).forward);
  EXPECT_EQ(of_head.backward[first], of_head.forward[first]);  // the gradient by its weights alone
}

TEST(Trained, FrozenProductsTakeOneProductBackwardAndOthersTwo) {
  const Model adapted = with_lora(llama(), {16, attention});
  const ComputeTimes of_adapted = times(adapted);
  for (std::size_t i = adapted.first_backward() + 1; i < adapted.layers.size(); ++i) {
    if (adapted.layers[i].macs == 0) continue;
    EXPECT_DOUBLE_EQ(of_adapted.backward[i] / of_adapted.forward[i], adapted.layers[i].frozen ? 1 : 2);
  }
  EXPECT_EQ(adapted.layers[adapted.first_backward()].name, "model.layers.0.self_attn.q_proj.lora_A");
}

TEST(Trained, ALoraStepLiesBetweenAForwardPassAndAWholeStep) {
  const Model whole = llama();
  const ComputeTimes all = times(whole);
  const ComputeTimes lora = times(with_lora(whole, {16, attention}));
  EXPECT_GT(lora.passes(), 2 * sum(all.forward) * 0.99);
  EXPECT_LT(lora.total(), all.total());
}

TEST(Trained, AnUpdateIsOfWhatIsTrained) {
  Device device = ideal();
  device.memory_bandwidth = BytesPerSecond(1e12);
  const Model adapted = with_lora(llama(), {16, attention});
  EXPECT_DOUBLE_EQ(compute_times(adapted, device, {Precision::bf16, 1, "", {}}).update.si(),
                   5 * 4 * 13'631'488.0 / 1e12);
}

TEST(Trained, EveryMoreThatIsFrozenTakesNoLonger) {
  std::vector<std::string> patterns;
  Seconds before = times(llama()).total();
  for (int block = 0; block < 32; ++block) {
    patterns.push_back("model.layers." + std::to_string(31 - block) + ".*");
    const Seconds now = times(with_frozen(llama(), patterns)).total();
    EXPECT_LT(now, before);
    before = now;
  }
}

TEST(Trained, FlopsAreFourOfAFrozenWeightAndSixOfATrainedOne) {
  // Of a token, with 12 H Q T of attention in each block; before the first adapter are only words and a norm.
  const Model whole = llama2_70b();
  const Model adapted = with_lora(whole, {16, attention});
  const double frozen = (whole.macs() - 80 * 8192.0 * 4096 * 4096) / 4096;  // weights in products
  const auto trained = static_cast<double>(adapted.trainable_parameters());
  const double token = 4 * frozen + 6 * trained + 12 * 80 * 8192.0 * 4096;
  EXPECT_NEAR(model_flops(adapted).si() / 4096 / token, 1, 1e-12);
}

TEST(Trained, ATiedHeadIsFrozenWithItsWords) {
  const Model gpt = test::model_file("gpt2_small").variants.front();
  const Model frozen = with_frozen(gpt, {"transformer.wte.weight"});
  const auto head = [](const Model& model) {
    return *std::ranges::find_if(model.layers, [](const Layer& l) { return l.block.empty() && l.macs > 0; });
  };
  EXPECT_TRUE(head(frozen).frozen);
  EXPECT_FALSE(head(with_frozen(gpt, {"transformer.wpe.weight"})).frozen);
}

TEST(Trained, MatricesOfRanksThatComputeTogetherAreSplitAsTheirLayersAre) {
  // q, k and v by outputs, and B with them; o by inputs, and A with it.
  const Model adapted = with_lora(llama(), {16, attention});
  const SplitModel split = split_model(adapted, 4, true);
  ASSERT_EQ(split.refusal, "");
  const double block = 16 * (4096 + 4096 / 4.0) + 2 * 16 * (4096 + 1024 / 4.0) + 16 * (4096 / 4.0 + 4096);
  EXPECT_EQ(static_cast<double>(split.model.trainable_parameters()), 32 * block);
  const SplitModel plain = split_model(llama(), 4, true);
  double more = 0;
  for (const Layer& layer : split.model.layers) more += layer.sums + layer.gathers;
  for (const Layer& layer : plain.model.layers) more -= layer.sums + layer.gathers;
  EXPECT_EQ(more, 32 * 4 * 16.0 * 8192);  // of each adapter, what is between A and B
}

TEST(Trained, StagesBehindAnAdapterHandGradientsBack) {
  const StagedModel staged = stage_model(with_lora(llama(), {16, attention}), 4, {});
  ASSERT_EQ(staged.refusal, "");
  EXPECT_GT(staged.stages.front().first_backward(), 0U);
  EXPECT_EQ(staged.stages.at(1).first_backward(), 0U);
  EXPECT_THAT(stage_model(with_frozen(llama(), {"model.*"}), 4, {}).refusal, testing::HasSubstr("trains something"));
}

}}  // namespace farandole::trained_test
