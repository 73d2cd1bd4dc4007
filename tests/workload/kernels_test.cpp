#include "workload/kernels.hpp"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "workload/compute_time.hpp"
#include "workload/files.hpp"

namespace farandole::kernels_test { namespace {

/// 1 TFLOP/s, 1 GB/s; products reach half of the peak at an intensity of 100, layers without arithmetic half the rate.
Device device() {
  Device device;
  device.name = "gpu";
  device.peak = {{Precision::fp32, 1_TFLOPps}, {Precision::fp16, 8_TFLOPps}};
  device.memory_bandwidth = 1_GBps;
  KernelRates rates;
  rates.tensor_units = true;
  rates.launch = 5_us;
  rates.memory = 0.5;
  rates.pointwise = 0.25;
  rates.fast_filters = 2;
  rates.vector = rates.tensor16 = rates.tensor32 = {0.8, 100, 0.8, 100};
  device.kernels = rates;
  return device;
}

LayerTimes kernel_times(const Layer& layer, const Device& device, Precision precision, int batch) {
  return kernel_times({layer}, 0, device, precision, batch, {});
}

Layer linear(std::int64_t inputs, std::int64_t outputs) {
  return {"fc",
          "linear",
          {{"fc.weight", {outputs, inputs}}},
          static_cast<double>(inputs * outputs),
          static_cast<double>(inputs),
          static_cast<double>(outputs)};
}

Layer convolution(std::int64_t groups, std::int64_t size) {
  const double macs = 64.0 * 14 * 14 * (64.0 / static_cast<double>(groups)) * static_cast<double>(size * size);
  return {"conv",       "conv2d",    {{"conv.weight", {64, 64 / groups, size, size}}}, macs, 64 * 14 * 14, 64 * 14 * 14,
          {64, 14, 14}, {64, 14, 14}};
}

TEST(Kernels, APassOverProductsTakesItsLaunchAndTheSlowerOfArithmeticAndMemory) {
  // h = 2 x 100 x 100 / 200 = 100: 0.8 x 1/2 of 1 TFLOP/s; 2 x 10^4 x 10^5 / 4e11 = 5 ms.
  // Moved: (200 x 10^5 + 10^4) x 4 B at half of 1 GB/s = 160.08 ms.
  const LayerTimes times = kernel_times(linear(100, 100), device(), Precision::fp32, 100'000);
  EXPECT_NEAR(times.forward.si(), 5e-6 + 0.16008, 1e-12);
  Device fast = device();
  fast.memory_bandwidth = 1000_GBps;
  EXPECT_NEAR(kernel_times(linear(100, 100), fast, Precision::fp32, 100'000).forward.si(), 5e-6 + 5e-3, 1e-12);
}

TEST(Kernels, AGroupOfAConvolutionHasItsOwnInputsAndOutputsToReuse) {
  Device fast = device();
  fast.memory_bandwidth = 1e6 * 1_GBps;
  const auto rate = [&](std::int64_t groups) {
    const Layer layer = convolution(groups, 1);
    return 2 * layer.macs * 1000 / (kernel_times(layer, fast, Precision::fp32, 1000).forward - 5_us).si();
  };
  EXPECT_NEAR(rate(1), 0.8e12 * 64 / 164, 1e6);
  EXPECT_NEAR(rate(16), 0.8e12 * 4 / 104, 1e6);
}

TEST(Kernels, FiltersThatMoveByOneSaveProductsOnVectorUnitsOnly) {
  Device fast = device();
  fast.memory_bandwidth = 1e6 * 1_GBps;
  const auto rate = [&](std::int64_t size, Precision precision) {
    const Layer layer = convolution(1, size);
    const double work = 2 * layer.macs * 1000 / (fast.peak.at(precision).si() * 0.8);
    const double products = 64.0 * static_cast<double>(size * size);
    const double intensity = 2 * 64 * products / (64 + products);
    return work * (intensity + 100) / intensity / (kernel_times(layer, fast, precision, 1000).forward - 5_us).si();
  };
  EXPECT_NEAR(rate(1, Precision::fp32), 1, 1e-9);
  EXPECT_NEAR(rate(3, Precision::fp32), 2, 1e-9);
  EXPECT_NEAR(rate(3, Precision::fp16), 1, 1e-9);
}

/// Of a tile of 128 x 128 outputs, or of as many as there are, on one of ten multiprocessors with 0.08 TFLOP/s each.
TEST(Kernels, TheLastWaveOfTilesKeepsAShareOfATileWaitingInAllPassesButTheWeights) {
  Device ten = device();
  ten.memory_bandwidth = 1e6 * 1_GBps;
  ten.kernels->tail = 0.5;
  const auto lost = [&](const Layer& layer, int batch, Seconds LayerTimes::*pass) {
    ten.multiprocessors = 10;
    const Seconds with = kernel_times(layer, ten, Precision::fp32, batch).*pass;
    ten.multiprocessors = 0;  // not known
    return (with - kernel_times(layer, ten, Precision::fp32, batch).*pass).si();
  };
  // 128 rows of 100 outputs, each the sum of 50 products; backward 128 rows of 50 inputs, each the sum of 100.
  EXPECT_NEAR(lost(linear(50, 100), 1000, &LayerTimes::forward), 0.5 * 2 * 128 * 100 * 50 / 8e10, 1e-12);
  EXPECT_NEAR(lost(linear(50, 100), 1000, &LayerTimes::input_gradient), 0.5 * 2 * 128 * 50 * 100 / 8e10, 1e-12);
  EXPECT_EQ(lost(linear(50, 100), 1000, &LayerTimes::weight_gradient), 0);
  EXPECT_NEAR(lost(linear(50, 1000), 3, &LayerTimes::forward), 0.5 * 2 * 3 * 128 * 50 / 8e10, 1e-12);
  // 14 x 14 places a sample, 64 outputs of 16 groups' 4 inputs by 3 x 3; of one group such filters save half (above).
  EXPECT_NEAR(lost(convolution(16, 3), 1, &LayerTimes::forward), 0.5 * 2 * 128 * 4 * (4 * 9) / 8e10, 1e-12);
  EXPECT_NEAR(lost(convolution(1, 3), 1, &LayerTimes::input_gradient), 0.5 * 2 * 128 * 64 * (64 * 9) / 16e10, 1e-12);
}

TEST(Kernels, ABatchNormalisationMovesThreePassesForwardAndFiveBackward) {
  const Layer layer{"bn", "batch_norm2d", {{"bn.weight", {4}}}, 0, 400, 400};
  const LayerTimes times = kernel_times(layer, device(), Precision::fp32, 1000);
  EXPECT_NEAR(times.forward.si(), 5e-6 + 3 * 400 * 1000 * 4 / 0.5e9, 1e-12);
  EXPECT_NEAR(times.weight_gradient.si(), 5e-6 + 5 * 400 * 1000 * 4 / 0.5e9, 1e-12);
  EXPECT_EQ(times.input_gradient, 0_s);
}

/// Passes over 64 x 14 x 14 elements, forward and backward, of layer `index` of convolution, normalisation, ReLU,
/// convolution, normalisation, ReLU, and the convolution of the next block.
std::pair<double, double> passes(std::size_t index, Normalisation normalisation) {
  const Layer normalised{"bn", "batch_norm2d", {{"bn.weight", {64}}}, 0, 64 * 14 * 14, 64 * 14 * 14};
  const Layer relu{"relu", "relu", {}, 0, 64 * 14 * 14, 64 * 14 * 14};
  std::vector<Layer> layers{convolution(1, 1), normalised, relu, convolution(1, 1), normalised, relu};
  for (Layer& layer : layers) layer.name = "first." + layer.name;
  layers.push_back(convolution(1, 1));
  layers.back().name = "second.conv";
  Device free = device();
  free.kernels->launch = 0_s;
  const LayerTimes times = kernel_times(layers, index, free, Precision::fp32, 10, {normalisation});
  const double pass = 64 * 14 * 14 * 10 * 4 / 0.5e9;
  return {times.forward.si() / pass, times.weight_gradient.si() / pass};
}

TEST(Kernels, AProgramThatFusesNormalisationSavesThePassesThatItDoesNotMake) {
  using enum Normalisation;
  const auto near = [](double forward, double backward) {
    return testing::Pair(testing::DoubleNear(forward, 1e-9), testing::DoubleNear(backward, 1e-9));
  };
  EXPECT_THAT(passes(1, separate), near(3, 5));
  EXPECT_THAT(passes(2, separate), near(2, 3));
  EXPECT_THAT(passes(1, with_activation), near(3, 5));
  EXPECT_THAT(passes(1, statistics_in_convolution), near(2, 5));
  EXPECT_THAT(passes(1, in_convolution), near(0, 5));
  EXPECT_THAT(passes(4, in_convolution), near(2, 5));  // of another block is the convolution behind it
  for (const auto fused : {with_activation, statistics_in_convolution, in_convolution}) {
    EXPECT_THAT(passes(2, fused), near(0, 0));
    EXPECT_EQ(passes(0, fused), passes(0, separate));
  }
}

TEST(Kernels, WhatIsNotLeftIsNotLaunchedButForMeanAndVarianceOfTheSums) {
  const Layer normalised{"bn", "batch_norm2d", {{"bn.weight", {64}}}, 0, 64 * 14 * 14, 64 * 14 * 14};
  const Layer relu{"relu", "relu", {}, 0, 64 * 14 * 14, 64 * 14 * 14};
  const std::vector<Layer> layers{convolution(1, 1), normalised, relu, convolution(1, 1)};
  const auto of = [&](std::size_t index) {
    return kernel_times(layers, index, device(), Precision::fp32, 10, {Normalisation::in_convolution});
  };
  EXPECT_EQ(of(1).forward, 5_us);
  EXPECT_EQ(of(2).forward, 0_s);
  EXPECT_EQ(of(2).weight_gradient, 0_s);
}

/// Passes over 1,000 elements that long copies would need, of the first of layers of such types.
std::pair<double, double> compiled_passes(const std::vector<std::string>& types) {
  std::vector<Layer> layers;
  for (const std::string& type : types) {
    layers.push_back(type == "linear" ? linear(1000, 1000) : Layer{type, type, {}, 0, 1000, 1000});
  }
  Device free = device();
  free.kernels->launch = 0_s;
  const LayerTimes times = kernel_times(layers, 0, free, Precision::fp32, 10, {Normalisation::separate, true});
  const double pass = 1000 * 10 * 4 / 0.5e9;
  return {times.forward.si() / pass, times.weight_gradient.si() / pass};
}

TEST(Kernels, ACompiledProgramMovesWhatLiesBetweenProductsOnceAtTheRateOfCopies) {
  const auto near = [](double forward, double backward) {
    return testing::Pair(testing::DoubleNear(forward, 1e-9), testing::DoubleNear(backward, 1e-9));
  };
  EXPECT_THAT(compiled_passes({"rms_norm"}), near(2, 3));
  EXPECT_THAT(compiled_passes({"gelu", "linear"}), near(2, 3));
  EXPECT_THAT(compiled_passes({"silu", "linear"}), near(2, 3));
  EXPECT_THAT(compiled_passes({"silu", "linear", "multiply"}),
              near(0, 0));  // read and computed by the product's kernel
  EXPECT_THAT(compiled_passes({"multiply", "linear"}), near(3, 5));
  EXPECT_THAT(compiled_passes({"add", "linear"}), near(3, 1));
  EXPECT_THAT(compiled_passes({"add", "rms_norm"}), near(2, 1));  // both: two read, the sum and what is normed written
  EXPECT_THAT(compiled_passes({"dropout", "add"}), near(0, 0));
}

TEST(Kernels, TheFittedFileAgreesWithItsSchemaAndAnUnknownGenerationGetsTheMean) {
  const Document file = test::fitted_kernels();
  EXPECT_NO_THROW(check_schema(file, test::source_folder() / "sim/config/schemas/kernels.schema.json"));
  EXPECT_TRUE(read_kernel_rates(file.root(), "volta").known);
  const KernelRates mean = read_kernel_rates(file.root(), "rubin");
  EXPECT_FALSE(mean.known);
  EXPECT_TRUE(mean.tensor_units);
}

}}  // namespace farandole::kernels_test
