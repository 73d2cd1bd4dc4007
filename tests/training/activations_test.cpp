#include <gmock/gmock.h>

#include "training/memory.hpp"
#include "workload/files.hpp"

namespace farandole::activations_test { namespace {

/// The layers of one block of a model, as a network of their own; their input is not counted.
Bytes of_block(const Model& model, const std::string& block, Recompute recompute) {
  Model alone = model;
  alone.layers.clear();
  for (const Layer& layer : model.layers) {
    if (layer.block == block) alone.layers.push_back(layer);
  }
  return activations_of_a_sample(alone, 2_B, recompute) - alone.layers.front().input_elements * 2_B;
}

Model at(const std::string& name, int length) {
  const auto document = Document::read(test::source_folder() / "models" / (name + ".json"));
  return read_model_at(document.root(), read_model(document.root(), "").variants.front().variant, length);
}

TEST(Activations, OfABlockAreThoseOfKorthikantiAndOthers) {
  // s b h (34 + 5 a s / h) bytes (arXiv:2205.05198, eq. 2).
  for (const auto& [name, width, heads] : {std::tuple{"bert_base", 768, 12}, {"bert_large", 1024, 16}}) {
    for (const int length : {128, 512}) {
      const double s = length;
      const double h = width;
      EXPECT_DOUBLE_EQ(of_block(at(name, length), "bert.encoder.layer.3", Recompute::none).si(),
                       s * h * (34 + 5 * heads * s / h))
          << name << " " << length;
    }
  }
}

TEST(Activations, OfFusedAttentionDoNotGrowWithTheSquareOfTheLength) {
  // Without dropout 32 s h, and 4 bytes a query and head; GPT-2 and MPT: no masks of 2 s h.
  const double s = 1024;
  EXPECT_DOUBLE_EQ(of_block(at("gpt2_small", 1024), "transformer.h.0", Recompute::none).si(), s * (32 * 768 + 4 * 12));
  const Bytes once = activations_of_a_sample(at("llama3_8b", 4096), 2_B, Recompute::none);
  const Bytes twice = activations_of_a_sample(at("llama3_8b", 8192), 2_B, Recompute::none);
  EXPECT_NEAR(twice / once, 2, 1e-9);
}

TEST(Activations, SelectiveKeepsOfABlockOfLlamaWhatTorchtitansPolicySaves) {
  // Input, wq, wv, attention with its statistic, w1 and w2: (4 x 4096 + 1024 + 14336) x 2 + 32 x 4 bytes a token; then
  // the rest of the model, and the loss in single precision.
  const double token = (4096 + 4096 + 1024 + 4096 + 14336 + 4096) * 2 + 32 * 4;
  const double outside = 2 * 4096 * 2;       // into the last norm and out of it
  const double loss = 128256 * (2 + 4 + 8);  // logits, logarithms and two gradients
  const double words = 2;                    // the tokens themselves
  EXPECT_DOUBLE_EQ(activations_of_a_sample(test::model("llama3_8b", "seq8192"), 2_B, Recompute::selective).si(),
                   8192 * (32 * token + outside + loss + words));
}

TEST(Activations, AttentionKeepsNoScoresOfAnyBlock) {
  // 5 a s^2 bytes a block less (arXiv:2205.05198, section 5). Of short sequences the loss is the fullest moment, when
  // no block is computed anew; of long ones the backward pass of the last block, whose scores are there again.
  for (const auto& [name, blocks, heads] : {std::tuple{"bert_base", 12, 12}, {"bert_large", 24, 16}}) {
    for (const int length : {128, 512}) {
      const auto kept = [&](Recompute recompute) {
        return activations_of_a_sample(at(name, length), 2_B, recompute).si();
      };
      const double of_a_block = 5.0 * heads * length * length;
      const double saved = kept(Recompute::none) - kept(Recompute::attention);
      EXPECT_LE(saved, blocks * of_a_block) << name << " " << length;
      EXPECT_GE(saved, (blocks - (length > 128 ? 1 : 0)) * of_a_block) << name << " " << length;
    }
  }
}

TEST(Activations, FullKeepsTheInputOfEveryBlockAndOneBlockInFull) {
  const Model model = at("gpt2_small", 1024);
  const double inputs = 12.0 * 1024 * 768 * 2;
  const double last = 2.0 * 1024 * 768 * 2 + 1024 * 2;  // into and out of the last norm, and the tokens
  const double loss = 1024 * 50257.0 * 14;
  EXPECT_DOUBLE_EQ(activations_of_a_sample(model, 2_B, Recompute::full).si(), inputs + last + loss);
}

TEST(Activations, AreFewerTheMoreIsRecomputed) {
  for (const char* name : {"llama3_8b", "gpt2_xl", "mpt_7b", "t5_large", "bert_large", "vit_l_16", "resnet50"}) {
    const Model model = test::model_file(name).variants.front();
    const Bytes none = activations_of_a_sample(model, 2_B, Recompute::none);
    const Bytes selective = activations_of_a_sample(model, 2_B, Recompute::selective);
    const Bytes full = activations_of_a_sample(model, 2_B, Recompute::full);
    EXPECT_LT(selective, none) << name;
    EXPECT_LT(full, selective) << name;
    EXPECT_GT(full, 0_B) << name;
  }
}

TEST(Activations, OfAConvolutionalNetworkAreInputsOfLayersAndOutputsInPlace) {
  // Input 10; a convolution to 20, whose normalisation needs them; its output, 20, which ReLU overwrites.
  const Layer convolution{"conv", "conv2d", {{"w", {4}}}, 8, 10, 20};
  const Layer norm{"bn", "batch_norm2d", {{"s", {2}}}, 0, 20, 20};
  const Layer relu{"relu", "relu", {}, 0, 20, 20};
  const Model model{"small", "", {convolution, norm, relu}};
  EXPECT_EQ(activations_of_a_sample(model, 4_B, Recompute::none), Bytes(4 * (10 + 20 + 20)));
}

}}  // namespace farandole::activations_test
