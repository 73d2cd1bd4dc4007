// A Hugging Face config.json is a model: its parameters are those that the model's page states, to the last, and where
// the same model its layers are the same.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "config/data_folder.hpp"
#include "config/text.hpp"
#include "workload/files.hpp"
#include "workload/model.hpp"

namespace farandole::huggingface_config_test { namespace {

using test::source_folder;
using Json = nlohmann::ordered_json;

Json known_models() {
  return Json::parse(read_text(source_folder() / "tests/workload/data/huggingface_configs.json")).at("models");
}

Json config_of(const std::string& name) {
  for (const Json& model : known_models()) {
    if (model.at("name") == name) return model.at("config");
  }
  throw std::runtime_error("no configuration of " + name);
}

Document converted(const Json& config, const std::string& file = "some/my-model/config.json") {
  return model_of_huggingface_config(Document::parse(config.dump(), file));
}

TEST(HuggingFaceConfigs, GiveTheParametersThatAreStated) {
  for (const Json& model : known_models()) {
    const Document document = converted(model.at("config"));
    const Model read = read_model(document.root(), "config.json").variants.front();
    const auto stated = model.at("parameters").get<std::int64_t>();
    EXPECT_EQ(read.parameters(), stated - model.value("without_gradient", 0)) << model.at("name");
  }
}

/// What layers are apart from their names.
std::vector<std::string> shapes(const Model& model) {
  std::vector<std::string> all;
  for (const Layer& layer : model.layers) {
    std::string text = layer.type;
    for (const Tensor& tensor : layer.tensors) text += " " + std::to_string(tensor.elements());
    all.push_back(text + " " + std::to_string(layer.macs) + " " + std::to_string(layer.input_elements) + " " +
                  std::to_string(layer.output_elements) + " " + std::to_string(layer.dispatched) + " " +
                  std::to_string(layer.combined) + " " + std::to_string(layer.experts));
  }
  return all;
}

TEST(HuggingFaceConfigs, GiveTheLayersThatTheLibraryHasOfTheSameModel) {
  const std::vector<std::pair<std::string, std::string>> both{
      {"meta-llama/Meta-Llama-3-8B", "llama3_8b"}, {"meta-llama/Llama-2-7b-hf", "llama2_7b"},
      {"meta-llama/Llama-2-70b-hf", "llama2_70b"}, {"mistralai/Mixtral-8x7B-v0.1", "mixtral_8x7b"},
      {"meta-llama/Llama-3.2-1B", "llama3_2_1b"},  {"meta-llama/Llama-3.2-3B", "llama3_2_3b"},
      {"mistralai/Mistral-7B-v0.1", "mistral_7b"}, {"Qwen/Qwen2.5-7B", "qwen2_5_7b"},
      {"openai-community/gpt2", "gpt2_small"},     {"openai-community/gpt2-xl", "gpt2_xl"}};
  for (const auto& [name, file] : both) {
    const Document ours = Document::read(source_folder() / "models" / (file + ".json"));
    const Model library = read_model(ours.root(), file).variants.front();
    const Document document = converted(config_of(name));
    const Model first = read_model(document.root(), "config.json").variants.front();
    const Model read = read_model_at(document.root(), first.variant, library.sequence_length);
    EXPECT_EQ(shapes(read), shapes(library)) << name;
  }
}

TEST(HuggingFaceConfigs, AreSequencesOf4096TokensOrOfAllPositions) {
  const auto length = [](const std::string& name) {
    return read_model(converted(config_of(name)).root(), "").variants.front().sequence_length;
  };
  EXPECT_EQ(length("meta-llama/Llama-3.2-1B"), 4096);
  EXPECT_EQ(length("openai-community/gpt2"), 1024);
  EXPECT_EQ(length("google/vit-base-patch16-224"), 0);
}

TEST(HuggingFaceConfigs, AreNamedByTheirFolderOrTheirFile) {
  const Json config = config_of("openai-community/gpt2");
  EXPECT_EQ(read_model(converted(config, "some/my-model/config.json").root(), "").name, "my_model");
  EXPECT_EQ(read_model(converted(config, "some/Qwen2.5-0.5B.json").root(), "").name, "qwen2_5_0_5b");
  EXPECT_EQ(read_model(converted(config, "some/7b.json").root(), "").name, "gpt2_7b");
}

void expect_refused(const Json& config, const std::string& what) {
  try {
    converted(config);
    ADD_FAILURE() << "not refused: " << what;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(what));
  }
}

TEST(HuggingFaceConfigs, OfUnknownTypesAreRefusedWithTheNearestKnown) {
  Json config = config_of("meta-llama/Llama-3.2-1B");
  config["model_type"] = "lama";
  expect_refused(config, R"(did you mean "llama"?)");
  config["model_type"] = 7;
  expect_refused(config, "/model_type");
}

TEST(HuggingFaceConfigs, WithoutAShapeAreRefusedAtItsKey) {
  Json config = config_of("meta-llama/Llama-3.2-1B");
  config.erase("hidden_size");
  expect_refused(config, "hidden_size");
  config["hidden_size"] = 0;
  expect_refused(config, "/hidden_size");
  config["hidden_size"] = 100;  // not a multiple of 32 heads
  config.erase("head_dim");
  expect_refused(config, "/num_attention_heads");
}

TEST(HuggingFaceConfigs, HaveTheActivationOfTheirTypeWhereTheySayNone) {
  const auto has = [](Json config, const char* activation) {
    config.erase("hidden_act");
    const Document document = converted(config);
    const Model read = read_model(document.root(), "").variants.front();
    return std::ranges::count(read.layers, std::string(activation), &Layer::type) > 0;
  };
  EXPECT_TRUE(has(config_of("meta-llama/Llama-3.2-1B"), "silu"));
  EXPECT_FALSE(has(config_of("meta-llama/Llama-3.2-1B"), "gelu"));
  EXPECT_TRUE(has(config_of("google-bert/bert-base-uncased"), "gelu"));
}

TEST(HuggingFaceConfigs, WithExpertsInSomeBlocksAreRefusedAtTheKey) {
  Json config = config_of("Qwen/Qwen3-30B-A3B");
  config["mlp_only_layers"] = {0, 1};
  expect_refused(config, "/mlp_only_layers");
  config = config_of("Qwen/Qwen3-30B-A3B");
  config["decoder_sparse_step"] = 2;
  expect_refused(config, "/decoder_sparse_step");
  config = config_of("deepseek-ai/DeepSeek-V3");
  config["moe_layer_freq"] = 2;
  expect_refused(config, "/moe_layer_freq");
}

TEST(HuggingFaceConfigs, OfSizesThatNoModelHasAreRefused) {
  Json config = config_of("meta-llama/Llama-3.2-1B");
  config["hidden_size"] = 2'000'000'000;
  expect_refused(config, "/hidden_size");
  Json image = config_of("google/vit-base-patch16-224");
  image["image_size"] = 1'000'000;
  image["patch_size"] = 1;
  const Document document = converted(image);
  EXPECT_THROW(read_model(document.root(), "config.json"), InputError);
}

TEST(HuggingFaceConfigs, AreToldFromModelsByWhatTheySay) {
  EXPECT_TRUE(is_huggingface_config(Document::parse(config_of("openai-community/gpt2").dump(), "")));
  EXPECT_FALSE(is_huggingface_config(Document::read(source_folder() / "models/gpt2_small.json")));
}

}}  // namespace farandole::huggingface_config_test
