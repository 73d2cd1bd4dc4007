// What a rank has of a transformer that several compute together.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/files.hpp"

namespace farandole::split_model_test { namespace {

using testing::HasSubstr;

double sum(const Model& model, double Layer::*part) {
  double result = 0;
  for (const Layer& layer : model.layers) result += layer.*part;
  return result;
}

std::string refusal(const std::string& model, int ranks) {
  return split_model(test::model_file(model).variants.front(), ranks, false).refusal;
}

TEST(SplitModel, DividesProductsAndKeepsNorms) {
  // Llama 3 8B: 32 blocks of two norms and one at the end, 4096 wide; all else is products and words.
  const Model whole = test::model("llama3_8b", "seq8192");
  const double norms = (32 * 2 + 1) * 4096;
  for (const int ranks : {2, 4, 8}) {
    const SplitModel split = split_model(whole, ranks, false);
    ASSERT_EQ(split.refusal, "");
    EXPECT_EQ(static_cast<double>(split.model.parameters()),
              (static_cast<double>(whole.parameters()) - norms) / ranks + norms);
    EXPECT_NEAR(split.model.macs() / (whole.macs() / ranks), 1, 1e-12);
  }
}

TEST(SplitModel, SumsAndGathersOnceInEachBranchAndForTheWords) {
  // Megatron-LM: tokens x width after each of the two branches of a block; the embedding's sum and the head's input.
  for (const auto& [name, variant, blocks, width] :
       {std::tuple{"llama3_8b", "seq8192", 32, 4096}, std::tuple{"gpt2_medium", "", 24, 1024}}) {
    const Model whole = *variant != '\0' ? test::model(name, variant) : test::model_file(name).variants.front();
    const SplitModel split = split_model(whole, 8, false);
    ASSERT_EQ(split.refusal, "");
    const double once = static_cast<double>(whole.sequence_length) * width;
    EXPECT_EQ(sum(split.model, &Layer::sums), (2 * blocks + 1) * once) << name;
    EXPECT_EQ(sum(split.model, &Layer::gathers), (2 * blocks + 1) * once) << name;
  }
}

TEST(SplitModel, FillsUpWordsThatTheRanksDoNotDivide) {
  // GPT-2 medium has 50,257 words: 6,283 on each of eight ranks.
  const SplitModel split = split_model(test::model_file("gpt2_medium").variants.front(), 8, false);
  EXPECT_EQ(split.model.layers.front().tensors.front().shape.front(), 6283);
}

TEST(SplitModel, SharesTheTokensOfTheRestWhereItIsAskedTo) {
  const Model whole = test::model("llama3_8b", "seq8192");
  const Model rest = split_model(whole, 8, false).model;
  const Model shared = split_model(whole, 8, true).model;
  for (std::size_t i = 0; i < whole.layers.size(); ++i) {
    const bool is_norm = whole.layers[i].type == "rms_norm";
    if (!is_norm && whole.layers[i].type != "add") continue;
    EXPECT_EQ(rest.layers[i].output_elements, whole.layers[i].output_elements);
    EXPECT_EQ(shared.layers[i].output_elements, whole.layers[i].output_elements / 8);
  }
  EXPECT_EQ(shared.parameters(), rest.parameters());
  EXPECT_EQ(sum(shared, &Layer::sums), sum(rest, &Layer::sums));
}

TEST(SplitModel, RefusesWhatItCannotSplit) {
  EXPECT_THAT(refusal("resnet50", 2), HasSubstr("a transformer"));
  EXPECT_THAT(refusal("llama3_8b", 16), HasSubstr("a divisor of the 8 heads of model.layers.0.self_attn.k_rotary"));
  EXPECT_THAT(refusal("gpt2_xl", 8), HasSubstr("heads"));  // 25 of them
  EXPECT_THAT(refusal("t5_base", 4), HasSubstr("read one input"));
  for (const char* model : {"llama2_7b", "mpt_7b", "bert_large", "internlm_7b", "vit_l_16"}) {
    EXPECT_EQ(refusal(model, 4), "") << model;
  }
}

}}  // namespace farandole::split_model_test
