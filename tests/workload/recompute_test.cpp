#include "workload/recompute.hpp"

#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/compute_time.hpp"
#include "workload/files.hpp"

namespace farandole::recompute_test { namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> kept_in(const Model& model, Recompute recompute, const std::string& block) {
  const std::vector<bool> again = recomputed(model, recompute);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (model.layers[i].block == block && !again[i]) names.push_back(model.layers[i].name.substr(block.size() + 1));
  }
  return names;
}

TEST(Recompute, SelectiveKeepsAttentionAndEveryOtherProductOfABlockAndCountsAnewInEach) {
  // wq, wk, wv, wo, w1, w3, w2 in torchtitan's words: the first, third, fifth and seventh.
  const Model llama = test::model("llama3_8b", "seq8192");
  for (const char* block : {"model.layers.0", "model.layers.31"}) {
    EXPECT_THAT(
        kept_in(llama, Recompute::selective, block),
        ElementsAre("self_attn.q_proj", "self_attn.v_proj", "self_attn.flash", "mlp.gate_proj", "mlp.down_proj"));
  }
  EXPECT_THAT(kept_in(llama, Recompute::full, "model.layers.7"), ElementsAre());
}

TEST(Recompute, LayersOutsideOfBlocksAreNeverComputedAnew) {
  for (const char* name : {"llama3_8b", "gpt2_small", "t5_base", "bert_base", "vit_b_16", "resnet50"}) {
    const Model model = test::model_file(name).variants.front();
    ASSERT_TRUE(has_blocks(model)) << name;
    const std::vector<bool> again = recomputed(model, Recompute::full);
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i], !model.layers[i].block.empty());
    const std::vector<bool> none = recomputed(model, Recompute::none);
    EXPECT_THAT(none, ::testing::Each(false));
  }
}

TEST(Recompute, BlocksAreKnownByTheNamesThatFrameworksGiveToMembersOfAList) {
  const Model resnet50 = test::model("resnet50");
  EXPECT_EQ(resnet50.layers.front().block, "");     // conv1
  EXPECT_EQ(resnet50.layers[4].block, "layer1.0");  // layer1.0.conv1
  EXPECT_FALSE(has_blocks(test::model("vgg16")));   // features.0 is a layer itself
  EXPECT_FALSE(has_blocks(test::model("inception_v3")));
}

TEST(Recompute, FullCostsTheForwardPassOfTheBlocksOnceMore) {
  const Model model = test::model("mpt_1b", "seq2048");
  const Device device = test::device("a100");
  const auto times = [&](Recompute recompute) {
    return compute_times(model, device, {Precision::bf16, 4, "", std::nullopt, {{4, 1_s}}, recompute});
  };
  const ComputeTimes none = times(Recompute::none);
  Seconds forward;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (!model.layers[i].block.empty()) forward += none.forward[i];
  }
  EXPECT_NEAR(none.total().si(), 1, 1e-12);
  EXPECT_NEAR(times(Recompute::full).total().si(), 1 + forward.si(), 1e-12);
  // A block's forward pass is a third of it, nearly.
  EXPECT_NEAR(times(Recompute::full).total().si(), 1.3, 0.05);
  EXPECT_GT(times(Recompute::selective).total(), none.total());
  EXPECT_LT(times(Recompute::selective).total(), times(Recompute::full).total());
}

TEST(Recompute, RefusesAnotherWord) {
  const auto document = Document::parse(R"("selectiv")", "own.json");
  EXPECT_THAT([&] { read_recompute(document.root()); },
              ThrowsMessage<InputError>(HasSubstr("expected what is recomputed, got \"selectiv\"; did you mean")));
}

}}  // namespace farandole::recompute_test
