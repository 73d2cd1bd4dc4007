#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "workload/files.hpp"
#include "workload/kernels.hpp"

namespace farandole::flops_test { namespace {

/// A decoder's numbers, as papers state them.
struct Decoder {
  std::string model;
  std::string variant;
  double weights;  // in products: all but the table of words where it is not tied, positions, norms and biases
  double blocks;
  double width;  // heads x width of a head
  double length;
};

double llama(double blocks, double width, double groups, double heads, double inner, double words) {
  return blocks * (2 * width * width * (1 + groups / heads) + 3 * width * inner) + width * words;
}

TEST(Flops, OfATokenAreSixOfAWeightAndTwelveOfABlockAHeadItsWidthAndTheLength) {
  // 6 N + 12 L H Q T (PaLM, appendix B).
  for (const Decoder& row : {Decoder{"gpt2_small", "seq1024", 12 * 12 * 768.0 * 768 + 50257 * 768.0, 12, 768, 1024},
                             Decoder{"mpt_7b", "seq2048", 32 * 12 * 4096.0 * 4096 + 50368 * 4096.0, 32, 4096, 2048},
                             Decoder{"llama2_7b", "seq4096", llama(32, 4096, 32, 32, 11008, 32000), 32, 4096, 4096},
                             Decoder{"llama3_8b", "seq8192", llama(32, 4096, 8, 32, 14336, 128256), 32, 4096, 8192},
                             Decoder{"llama2_70b", "seq4096", llama(80, 8192, 8, 64, 28672, 32000), 80, 8192, 4096}}) {
    const double token = 6 * row.weights + 12 * row.blocks * row.width * row.length;
    EXPECT_DOUBLE_EQ(model_flops(test::model(row.model, row.variant)).si() / row.length, token) << row.model;
  }
}

TEST(Flops, OfAConvolutionalNetworkAreSixOfAMultiplyAdd) {
  const Model resnet50 = test::model("resnet50");
  EXPECT_DOUBLE_EQ(model_flops(resnet50).si(), 6 * 4'089'184'256.0);
  EXPECT_EQ(hardware_flops(resnet50, Recompute::none), model_flops(resnet50));
}

TEST(Flops, DoNotDependOnWhetherAMaskIsSkippedOrAttentionIsFused) {
  // BERT's two products and ViT's one kernel: 12 H Q T a token and block, over 6 N.
  const Model bert = test::model("bert_base", "seq128");
  const Model vit = test::model("vit_b_16");
  double products = 0;
  for (const Layer& layer : bert.layers) products += layer.macs;
  EXPECT_DOUBLE_EQ(model_flops(bert).si(), 6 * products);
  EXPECT_DOUBLE_EQ(model_flops(vit).si(), 6 * vit.macs());
}

Document measured_runs() {
  return Document::read(test::source_folder() / "tests/training/measured_runs.json");
}

/// Parameters that multiply nothing: positions, norms and biases. The table of words is the output matrix.
double idle_parameters(const Model& model) {
  double idle = static_cast<double>(model.parameters());
  for (const Layer& layer : model.layers) {
    if (layer.type == "linear") idle -= layer.macs / model.sequence_length;
  }
  return idle;
}

TEST(Flops, AreThoseThatLlmFoundryCountedItsUtilisationBy) {
  // Its N are all parameters, also those that multiply nothing: ours and six a token for each of them are its MFU to
  // the digits that it prints, HFU / MFU is 4/3 but for what is outside of blocks.
  const auto runs = measured_runs().to_json();
  int rows = 0;
  for (const auto& row : runs.at("llm_foundry").at("rows")) {
    const auto file = test::source_folder() / "models" / (row[1].get<std::string>() + ".json");
    const Model model = read_model_at(Document::read(file).root(), "seq2048", row[2]);
    SCOPED_TRACE(row.dump());
    const bool fp8 = row[6] == "amp_fp8";
    const FlopPerSecond peak = test::device(row[7]).peak.at(fp8 ? Precision::fp8 : Precision::bf16);
    const double token = model_flops(model).si() / model.sequence_length;
    const double mfu = 100 * row[8].get<double>() * token / peak.si();
    const double theirs = row[9];
    EXPECT_NEAR(mfu * (1 + 6 * idle_parameters(model) / token) / theirs, 1, 0.003);
    EXPECT_NEAR(mfu / theirs, 1, 0.04);  // 125M at 65,536: positions are 29 % of its parameters
    const Recompute recompute = row[5] ? Recompute::full : Recompute::none;
    EXPECT_NEAR(hardware_flops(model, recompute) / model_flops(model), row[10].get<double>() / theirs, 0.02);
    ++rows;
  }
  EXPECT_EQ(rows, 183);
}

}}  // namespace farandole::flops_test
