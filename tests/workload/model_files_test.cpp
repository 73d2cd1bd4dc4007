#include <gmock/gmock.h>

#include "config/document.hpp"
#include "workload/files.hpp"
#include "workload/published_totals.hpp"

namespace farandole::model_files_test { namespace {

using ::testing::ElementsAre;

TEST(ModelFiles, EveryVariantHasItsPublishedParametersMultiplyAddsAndTensors) {
  for (const test::PublishedTotals& row : test::published_totals()) {
    SCOPED_TRACE(row.model + " " + row.variant);
    const Model model = test::model(row.model, row.variant);
    EXPECT_EQ(model.parameters(), row.parameters);
    EXPECT_EQ(model.macs(), row.macs);
    EXPECT_EQ(model.tensors(), row.tensors);
  }
}

TEST(ModelFiles, EveryFileLoadsIsNamedAsItsModelAndHasItsTotalsWrittenDownHere) {
  std::size_t variants = 0;
  for (const auto& file : test::json_files("models")) {
    const auto summary = read_model(Document::read(file).root(), file);
    EXPECT_EQ(summary.name, file.stem().string());
    EXPECT_EQ(summary.file, file);
    // torchvision has no network for MNIST, no regression, no language model and none of MLPerf's scientific ones.
    const Model& first = summary.variants.front();
    const bool elsewhere = first.sequence_length > 0 || first.variant.starts_with("mlperf_") ||
                           summary.name.starts_with("mnist") || summary.name.ends_with("_regression");
    EXPECT_TRUE(elsewhere || first.variant == "torchvision") << file;
    variants += summary.variants.size();
  }
  EXPECT_EQ(variants, test::published_totals().size());
}

TEST(ModelFiles, EveryFileAgreesWithItsSchema) {
  const auto schema = test::source_folder() / "sim/config/schemas/model.schema.json";
  for (const auto& file : test::json_files("models")) {
    EXPECT_NO_THROW(check_schema(Document::read(file), schema)) << file;
  }
}

/// Multiply-adds of a convolution or a fully connected layer: elements of the weights times output positions, of a
/// transposed convolution input positions. Each weight meets every position of its channel once. A product without
/// weights of its own sums its inputs' last extent for each output: scores the width of a head, the context of a word
/// all words. Of a layer of experts each output is one expert's, whose weights are [expert, output, input].
double macs_from_shapes(const Layer& layer) {
  if (layer.name.ends_with(".scores")) {
    return layer.output_elements * static_cast<double>(layer.input_shape.back() / layer.output_shape.front());
  }
  const bool weighted = !layer.tensors.empty() && layer.tensors.front().shape.size() > 1;
  if (!weighted) return layer.output_elements * static_cast<double>(layer.input_shape.back());
  const Tensor& weights = layer.tensors.front();
  if (layer.experts > 0) return layer.output_elements * static_cast<double>(weights.shape.back());
  const double places = layer.type.starts_with("conv_transpose") ? layer.input_elements : layer.output_elements;
  return static_cast<double>(weights.elements()) * places / static_cast<double>(weights.shape.front());
}

/// Both products of fused attention, or half of them where it skips what a causal mask hides.
bool fits_attention(const Layer& layer) {
  const double product = layer.output_elements * static_cast<double>(layer.input_shape.at(1));
  return layer.macs == product || layer.macs == 2 * product;
}

bool is_product(const Layer& layer) {
  return layer.type == "linear" || layer.type == "matmul" || layer.type.starts_with("conv2d") ||
         layer.type.starts_with("conv3d") || layer.type.starts_with("conv_transpose");
}

TEST(ModelFiles, MultiplyAddsFollowFromTheShapesOfEveryLayer) {
  for (const auto& file : test::json_files("models")) {
    for (const Model& model : read_model(Document::read(file).root(), file).variants) {
      for (const Layer& layer : model.layers) {
        SCOPED_TRACE(model.name + " " + layer.name);
        if (layer.type == "attention") {
          EXPECT_TRUE(fits_attention(layer));
        } else {
          EXPECT_EQ(layer.macs, is_product(layer) ? macs_from_shapes(layer) : 0);
        }
      }
    }
  }
}

TEST(ModelFiles, TheFirstFullyConnectedLayerOfVgg16HoldsMostOfItsParameters) {
  const Model vgg16 = test::model("vgg16");
  const auto fc6 =
      std::find_if(vgg16.layers.begin(), vgg16.layers.end(), [](const Layer& layer) { return layer.type == "linear"; });
  ASSERT_NE(fc6, vgg16.layers.end());
  EXPECT_EQ(fc6->tensors.front().elements(), 102'760'448);  // 4096 x 512 x 7 x 7
  EXPECT_EQ(fc6->parameters(), 102'760'448 + 4096);
}

TEST(ModelFiles, TheResNetOfTfCnnBenchmarksHasItsStrideInTheFirstConvolutionOfAStage) {
  const auto find = [](const Model& model, const std::string& name) {
    return *std::find_if(model.layers.begin(), model.layers.end(), [&](const Layer& l) { return l.name == name; });
  };
  const Model ours = test::model("resnet50", "tf_cnn_benchmarks");
  const Model torchvision = test::model("resnet50");
  EXPECT_EQ(find(ours, "layer2.0.conv1").macs * 4, find(torchvision, "layer2.0.conv1").macs);
  EXPECT_EQ(find(ours, "layer2.0.conv2").macs, find(torchvision, "layer2.0.conv2").macs);
  EXPECT_EQ(find(ours, "layer2.0.conv2").input_elements, 128 * 28 * 28);
  EXPECT_EQ(find(ours, "layer2.0.relu").output_elements, 128 * 28 * 28);
}

TEST(ModelFiles, TensorsAreListedInTheOrderOfTheFramework) {
  const Model resnet18 = test::model("resnet18");
  std::vector<std::string> first;
  for (const Layer& layer : resnet18.layers) {
    for (const Tensor& tensor : layer.tensors) {
      if (first.size() < 4) first.push_back(tensor.name);
    }
  }
  EXPECT_THAT(first, ElementsAre("conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight"));
  EXPECT_EQ(resnet18.layers.back().tensors.back().name, "fc.bias");
}

}}  // namespace farandole::model_files_test
