// Kernels timed through the shim of tests/cuda_shim, whose clock goes on by the work that a call asks for.
#include "backend/compute_bench.hpp"

#include <filesystem>

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "config/document.hpp"
#include "support/source_folder.hpp"
#include "workload/kernels.hpp"

namespace farandole::compute_bench_test { namespace {

constexpr double launch = 4e-6;
constexpr double bandwidth = 1e12;

Model model_named(const std::string& name) {
  const std::filesystem::path file = test::source_folder() / "models" / (name + ".json");
  return read_model(Document::read(file).root(), file).variants.front();
}

TimedModel timed(const Model& model, Precision precision, int batch) {
  return time_kernels(model, {{precision}, {batch}, 1, 3}).models.at(0);
}

/// What the shim has not got back; it is the library under all three names.
std::size_t left_allocated() {
  void* library = dlopen("libcudart.so", RTLD_NOW);
  return reinterpret_cast<std::size_t (*)()>(dlsym(library, "cuda_shim_allocated"))();
}

class KernelsOf : public testing::TestWithParam<const char*> {};

// A pass over arithmetic is 2 x multiply-adds x batch; forward one, backward two, one of the first layer with weights.
// Attention in one kernel is two products, each with a launch of its own.
TEST_P(KernelsOf, AreTheWorkThatTheModelFileStates) {
  const Model model = model_named(GetParam());
  constexpr int batch = 2;
  const TimedModel times = timed(model, Precision::fp16, batch);
  ASSERT_EQ(times.layers.size(), model.layers.size());
  bool first = true;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const TimedLayer& time = times.layers[i];
    EXPECT_EQ(time.name, layer.name);
    const bool is_first = first && !layer.tensors.empty();
    if (layer.macs > 0) {
      const double calls = layer.type == "attention" ? 2 : 1;
      const double pass = calls * launch + 2 * layer.macs * batch / 100e12;
      EXPECT_NEAR(time.forward.si(), pass, 1e-6 * pass) << layer.name;
      EXPECT_NEAR(time.backward.si(), (is_first ? 1 : 2) * pass, 1e-6 * pass) << layer.name;
      EXPECT_EQ(time.by, is_convolution(layer) ? "cuDNN" : "cuBLAS") << layer.name;
    } else if (time.by == "copy") {
      const Movement moved = movement_of(layer);
      EXPECT_NEAR(time.forward.si(), launch + moved.forward * batch * 2 / bandwidth, 1e-9) << layer.name;
    }
    first = first && layer.tensors.empty();
  }
  EXPECT_EQ(left_allocated(), 0U);
}

INSTANTIATE_TEST_SUITE_P(AllKindsOfLayers, KernelsOf,
                         testing::Values("resnet50", "inception_v3", "alexnet", "mobilenet_v2", "resnext101_32x4d",
                                         "bert_large", "gpt2_small", "t5_base", "vit_b_16", "mnist_cnn", "ssd300_vgg16",
                                         "cosmoflow", "deepcam", "unet3d", "densenet121", "efficientnet_b0"));

TEST(ComputeBench, UpdatesEveryTensorInOneCopyOfFiveElements) {
  const Model model = model_named("mnist_cnn");
  double expected = 0;
  for (const Layer& layer : model.layers) {
    for (const Tensor& tensor : layer.tensors) {
      expected += launch + 20 * static_cast<double>(tensor.elements()) / bandwidth;
    }
  }
  EXPECT_NEAR(timed(model, Precision::fp16, 1).update.si(), expected, 1e-9);
}

TEST(ComputeBench, AsksForTheUnitsOfEachPrecision) {
  Model model = model_named("resnet50");
  model.layers.resize(1);  // a convolution
  const double work = 2 * model.layers[0].macs;
  for (const auto& [precision, rate] : {std::pair(Precision::fp32, 10e12), std::pair(Precision::tf32, 50e12),
                                        std::pair(Precision::fp16, 100e12), std::pair(Precision::bf16, 100e12)}) {
    EXPECT_NEAR(timed(model, precision, 1).layers[0].forward.si(), launch + work / rate, 1e-9) << name(precision);
  }
  EXPECT_FALSE(can_time(Precision::fp8));
}

TEST(ComputeBench, SaysWhichDeviceAndLibrariesThereAre) {
  EXPECT_EQ(missing_for_compute(), "");
  const GpuDescription gpu = gpu_of_this_machine();
  EXPECT_EQ(gpu.name, "Shim GPU");
  EXPECT_EQ(gpu.compute_capability, 90);
  EXPECT_EQ(gpu.multiprocessors, 132);
  EXPECT_EQ(gpu.memory, 140_GiB);
  EXPECT_EQ(gpu.libraries, "CUDA 12.4, cuBLAS 12.4.1, cuDNN 9.1.0");
}

TEST(ComputeBench, EndsWhereALayerDoesNotFitIntoTheDevice) {
  EXPECT_THAT([] { timed(model_named("resnet50"), Precision::fp32, 1000000); },
              testing::ThrowsMessage<std::runtime_error>(
                  testing::HasSubstr("layer conv1 in fp32 at batch 1000000: the device has no ")));
  EXPECT_EQ(left_allocated(), 0U);
}

}}  // namespace farandole::compute_bench_test
