// Models at other lengths of their sequences, and layers that repeat in blocks.
#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/files.hpp"

namespace farandole::sequence_test { namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Model at(const std::string& name, int length) {
  const auto document = Document::read(test::source_folder() / "models" / (name + ".json"));
  return read_model_at(document.root(), read_model(document.root(), "").variants.front().variant, length);
}

TEST(Sequence, MptOfAnyLengthHasTheParametersThatWerePublishedForIt) {
  // Its table of positions is as long as a sequence: "parameters" of llm-foundry's table (published_totals.hpp).
  for (const auto& [name, length, parameters] : {std::tuple{"mpt_125m", 65536, 174'070'272},
                                                 {"mpt_350m", 32768, 387'442'688},
                                                 {"mpt_760m", 8192, 769'907'712},
                                                 {"mpt_1b", 16384, 1'345'310'720}}) {
    EXPECT_EQ(at(name, length).parameters(), parameters) << name;
  }
  EXPECT_EQ(at("mpt_7b", 65536).parameters(), 6'918'905'856);
  EXPECT_EQ(at("mpt_13b", 4096).parameters(), 12'864'440'320);
  EXPECT_EQ(at("mpt_30b", 8192).parameters(), 30'019'254'272);
}

TEST(Sequence, AModelAtTheLengthOfAnotherOfItsVariantsIsThatVariant) {
  for (const char* name : {"mpt_125m", "mpt_7b", "mpt_70b"}) {
    const Model stated = test::model(name, "seq512");
    const Model stretched = at(name, 512);
    EXPECT_EQ(stretched.variant, "seq512");
    EXPECT_EQ(stretched.sequence_length, 512);
    EXPECT_EQ(stretched.parameters(), stated.parameters());
    EXPECT_EQ(stretched.macs(), stated.macs());
    for (std::size_t i = 0; i < stated.layers.size(); ++i) {
      EXPECT_EQ(stretched.layers[i].input_elements, stated.layers[i].input_elements);
      EXPECT_EQ(stretched.layers[i].output_shape, stated.layers[i].output_shape);
      EXPECT_EQ(stretched.layers[i].macs, stated.layers[i].macs);
    }
  }
}

TEST(Sequence, AttentionGrowsWithTheSquareOfTheLengthAndAllElseWithTheLength) {
  for (const char* name : {"llama3_8b", "gpt2_xl", "bert_base"}) {
    const Model once = at(name, 256);
    const Model twice = at(name, 512);
    for (std::size_t i = 0; i < once.layers.size(); ++i) {
      const Layer& layer = once.layers[i];
      if (layer.block.empty() || layer.macs == 0) continue;
      const bool squares = layer.type == "attention" || layer.type == "matmul";
      EXPECT_EQ(twice.layers[i].macs, (squares ? 4 : 2) * layer.macs) << layer.name;
      EXPECT_EQ(twice.layers[i].parameters(), layer.parameters()) << layer.name;
    }
  }
}

/// A variant with `layers` whose totals are those of one matrix of 2 x 2 on 8 tokens.
auto reading(const std::string& layers, const std::string& more = R"("sequence_length": 8,)") {
  return [=] {
    const std::string text = R"({"name": "own", "summary": "s", "variants": [{"name": "only", "summary": "s",
      "source": "here", )" + more +
                             R"( "input": [16], "parameters": 4, "tensors": 1, "macs": 32, "layers": )" + layers +
                             "}]}";
    const auto document = Document::parse(text, "own.json");
    return read_model(document.root(), "own.json");
  };
}

TEST(Sequence, ExtentsAndWorkFollowWhatTheVariantStates) {
  const Model model = reading(R"([{"name": "fc", "type": "linear", "macs": {"sequence": 4}, "input": ["sequence", 2],
    "output": ["sequence", 2], "tensors": [{"name": "fc.weight", "shape": [2, 2]}]}])")()
                          .variants.front();
  EXPECT_EQ(model.layers.front().input_elements, 16);
  EXPECT_EQ(model.macs(), 32);
}

TEST(Sequence, ALengthWithoutASequenceIsRefused) {
  const std::string layers = R"([{"name": "fc", "type": "linear", "macs": 32, "input": ["sequence", 2],
    "output": [16], "tensors": [{"name": "fc.weight", "shape": [2, 2]}]}])";
  EXPECT_THAT(reading(layers, ""),
              ThrowsMessage<InputError>(
                  HasSubstr("/input/0: expected a whole number in a variant without a \"sequence_length\"")));
  EXPECT_THAT(
      reading(R"([{"name": "fc", "type": "linear", "macs": {"sequence^3": 4}, "input": [16], "output": [16]}])"),
      ThrowsMessage<InputError>(HasSubstr("got \"sequence^3\"; did you mean \"sequence^2\"?")));
  EXPECT_THAT(reading("[]", R"("longest_sequence": 8,)"),
              ThrowsMessage<InputError>(HasSubstr("/longest_sequence: expected a variant with a \"sequence_length\"")));
}

TEST(Blocks, RepeatTheirLayersUnderNumberedNames) {
  const Model gpt2 = test::model("gpt2_small", "seq1024");
  EXPECT_EQ(gpt2.layers[2].name, "transformer.h.0.ln_1");
  EXPECT_EQ(gpt2.layers[2].block, "transformer.h.0");
  EXPECT_EQ(gpt2.layers[12].tensors.front().name, "transformer.h.1.ln_1.weight");
  EXPECT_EQ(gpt2.layers.size(), 2 + 12 * 10 + 3);
}

TEST(Blocks, ThatRepeatNeedAPlaceForTheirNumber) {
  const auto block = [](const std::string& head) {
    return reading("[{" + head + R"( "layers": [{"name": "fc", "type": "relu", "input": [16], "output": [16]}]}])");
  };
  EXPECT_THAT(block(R"("block": "h", "times": 2,)"), ThrowsMessage<InputError>(HasSubstr("expected a name with {}")));
  EXPECT_THAT(block(R"("block": "h.{}", "times": 1001,)"),
              ThrowsMessage<InputError>(HasSubstr("/times: expected an integer from 1 to 1,000")));
  EXPECT_THAT(block(R"("block": "h.{}", "time": 2,)"), ThrowsMessage<InputError>(HasSubstr("did you mean \"times\"?")));
  EXPECT_THAT(reading(R"([{"block": "h", "layers": []}])"), ThrowsMessage<InputError>(HasSubstr("at least one layer")));
}

}}  // namespace farandole::sequence_test
