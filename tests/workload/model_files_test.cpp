#include <set>

#include <gmock/gmock.h>

#include "config/schema.hpp"
#include "workload/files.hpp"

namespace farandole {
namespace {

using ::testing::ElementsAre;

/// Totals as published: torchvision 0.14.1, and tf_cnn_benchmarks with 1001 classes.
struct Published {
  std::string model;
  std::string variant;
  std::int64_t parameters;
  double macs;
  int tensors;
};

std::vector<Published> published() {
  return {
      {"resnet18", "torchvision", 11'689'512, 1'814'073'344, 62},
      {"resnet34", "torchvision", 21'797'672, 3'663'761'408, 110},
      {"resnet50", "torchvision", 25'557'032, 4'089'184'256, 161},
      {"resnet50", "tf_cnn_benchmarks", 25'559'081, 3'857'975'296, 161},
      {"resnet101", "torchvision", 44'549'160, 7'801'405'440, 314},
      {"resnet101", "tf_cnn_benchmarks", 44'551'209, 7'570'196'480, 314},
      {"resnet152", "torchvision", 60'192'808, 11'513'626'624, 467},
      {"resnet152", "tf_cnn_benchmarks", 60'194'857, 11'282'417'664, 467},
      {"vgg11", "torchvision", 132'863'336, 7'609'090'048, 22},
      {"vgg11", "tf_cnn_benchmarks", 132'867'433, 7'609'094'144, 22},
      {"vgg16", "torchvision", 138'357'544, 15'470'264'320, 32},
      {"vgg16", "tf_cnn_benchmarks", 138'361'641, 15'470'268'416, 32},
      {"vgg19", "torchvision", 143'667'240, 19'632'062'464, 38},
      {"vgg19", "tf_cnn_benchmarks", 143'671'337, 19'632'066'560, 38},
      {"inception_v3", "torchvision", 27'161'264, 5'718'899'296, 292},
      {"inception_v3", "tf_cnn_benchmarks", 23'819'401, 5'713'218'144, 190},
      {"alexnet", "torchvision", 61'100'840, 714'188'480, 16},
      {"alexnet", "tf_cnn_benchmarks", 61'104'937, 714'192'576, 16},
      {"densenet121", "torchvision", 7'978'856, 2'834'161'664, 364},
      {"mobilenet_v2", "torchvision", 3'504'872, 300'774'272, 158},
      {"bert_large", "seq128", 336'226'108, 40'107'124'736, 398},
      {"bert_large", "seq512", 336'226'108, 170'089'023'488, 398},
      {"mpt_125m", "seq2048", 125'311'488, 291'822'895'104, 148},
      {"mpt_125m", "seq512", 124'131'840, 65'707'966'464, 148},
      {"mpt_1b", "seq2048", 1'315'950'592, 2'891'318'296'576, 292},
      {"mpt_1b", "seq512", 1'312'804'864, 684'174'868'480, 292},
      {"mpt_3b", "seq2048", 2'651'837'440, 5'761'631'518'720, 388},
      {"mpt_3b", "seq512", 2'647'905'280, 1'375'983'370'240, 388},
      {"mpt_7b", "seq2048", 6'658'859'008, 14'166'412'754'944, 388},
      {"mpt_7b", "seq512", 6'652'567'552, 3'438'523'973'632, 388},
      {"resnext101_32x4d", "torchvision", 44'177'704, 7'969'996'800, 314},
      {"mnist_mlp", "lecun1998", 238'510, 238'200, 4},
      {"mnist_mlp", "keras", 101'770, 101'632, 4},
      {"mnist_cnn", "horovod_pytorch", 21'840, 480'500, 8},
      {"mnist_cnn", "horovod_keras", 1'199'882, 11'992'448, 8},
      {"linear_regression", "notebook", 4, 4, 1},
      {"softmax_regression", "linear", 170, 160, 2},
  };
}

TEST(ModelFiles, EveryVariantHasItsPublishedParametersMultiplyAddsAndTensors) {
  for (const Published& row : published()) {
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
    // torchvision has no network for MNIST, no regression and no language model.
    const bool speaks = summary.name.starts_with("bert") || summary.name.starts_with("mpt");
    if (!speaks && !summary.name.starts_with("mnist") && !summary.name.ends_with("_regression")) {
      EXPECT_EQ(summary.variants.front().variant, "torchvision") << file;
    }
    variants += summary.variants.size();
  }
  EXPECT_EQ(variants, published().size());
}

TEST(ModelFiles, EveryFileAgreesWithItsSchema) {
  const auto schema = test::repository() / "sim/config/schemas/model.schema.json";
  for (const auto& file : test::json_files("models")) {
    EXPECT_NO_THROW(check_schema(Document::read(file), schema)) << file;
  }
}

/// Multiply-adds of a convolution or a fully connected layer: elements of the weights times output positions. Each
/// weight meets every output position of its channel once. A product without weights of its own sums its inputs' last
/// extent for each output: BERT's scores the width of a head, the context of a word all words, fused attention both for
/// half of the words, those before.
double macs_from_shapes(const Layer& layer) {
  if (layer.name.ends_with("attention.scores")) {
    return layer.output_elements * static_cast<double>(layer.input_shape.back() / layer.output_shape.front());
  }
  if (layer.type == "attention") return layer.output_elements * static_cast<double>(layer.output_shape.at(1));
  const bool weighted = !layer.tensors.empty() && layer.tensors.front().shape.size() > 1;
  if (!weighted) return layer.output_elements * static_cast<double>(layer.input_shape.back());
  const Tensor& weights = layer.tensors.front();
  const auto positions = layer.output_elements / static_cast<double>(weights.shape.front());
  return static_cast<double>(weights.elements()) * positions;
}

TEST(ModelFiles, MultiplyAddsFollowFromTheShapesOfEveryLayer) {
  const std::set<std::string> products{"conv2d", "linear", "matmul", "attention"};
  for (const auto& file : test::json_files("models")) {
    for (const Model& model : read_model(Document::read(file).root(), file).variants) {
      for (const Layer& layer : model.layers) {
        EXPECT_EQ(layer.macs, products.contains(layer.type) ? macs_from_shapes(layer) : 0) << file << " " << layer.name;
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

}  // namespace
}  // namespace farandole
