#include "workload/compute_time.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/files.hpp"

namespace farandole::compute_time_test { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Layer layer(std::string name, double macs, double input, double output, std::vector<std::int64_t> weights) {
  Layer result{std::move(name), "linear", {}, macs, input, output};
  if (!weights.empty()) result.tensors = {Tensor{result.name + ".weight", std::move(weights)}};
  return result;
}

/// "first" and "last" are bound by arithmetic, "relu" by memory.
Model model() {
  return {"tiny",
          "only",
          {layer("first", 1e6, 10, 20, {10, 2}), layer("relu", 0, 20, 20, {}), layer("last", 2e6, 20, 10, {20, 4})}};
}

/// 1 TFLOP/s, 1 GB/s and half of it reached.
Device slow_memory() {
  Device device;
  device.name = "gpu";
  device.peak[Precision::fp32] = 1_TFLOPps;
  device.memory_bandwidth = 1_GBps;
  device.memory = 1_GB;
  device.assumed_efficiency = 0.5;
  return device;
}

TEST(ComputeTime, UnmeasuredItIsTheRooflineDividedByTheEfficiency) {
  const auto times = compute_times(model(), slow_memory(), {Precision::fp32, 3, "", {}});
  // 2 x 1e6 x 3 / 1e12 = 6 us;  (20 + 20) x 3 x 4 B / 1 GB/s = 0.48 us;  2 x 2e6 x 3 / 1e12 = 12 us
  EXPECT_DOUBLE_EQ(times.forward.at(0).si(), 6e-6 / 0.5);
  EXPECT_DOUBLE_EQ(times.forward.at(1).si(), 0.48e-6 / 0.5);
  EXPECT_DOUBLE_EQ(times.forward.at(2).si(), 12e-6 / 0.5);
  // 5 x (20 + 80) parameters x 4 B / 1 GB/s = 2 us
  EXPECT_DOUBLE_EQ(times.update.si(), 2e-6 / 0.5);
  EXPECT_FALSE(times.measured);
  EXPECT_EQ(times.source, "estimated: 50 % of 1 TFLOP/s");
}

TEST(ComputeTime, BackwardIsTwoPassesAndOneForTheFirstLayerWithWeights) {
  const auto times = compute_times(model(), slow_memory(), {Precision::fp32, 3, "", {}});
  EXPECT_EQ(times.backward.at(0), times.forward.at(0));
  EXPECT_EQ(times.backward.at(1), 2 * times.forward.at(1));
  EXPECT_EQ(times.backward.at(2), 2 * times.forward.at(2));
}

TEST(ComputeTime, NothingBeforeTheFirstWeightsNeedsAGradient) {
  Model with_scaling = model();
  with_scaling.layers.insert(with_scaling.layers.begin(), layer("scale", 0, 10, 10, {}));
  const auto times = compute_times(with_scaling, slow_memory(), {Precision::fp32, 3, "", {}});
  EXPECT_EQ(times.backward.at(0), 0_s);
  EXPECT_EQ(times.backward.at(1), times.forward.at(1));
}

TEST(ComputeTime, AConvolutionInTheMiddleTakesTwiceItsForwardTimeBackward) {
  const Model vgg16 = test::model("vgg16");
  Device v100 = test::device("v100");
  v100.multiprocessors = 0;  // that the last tiles keep some of them waiting is no gradient's by the weights
  const auto times = compute_times(vgg16, v100, {Precision::fp32, 32, "", {}});
  for (std::size_t i = 1; i < vgg16.layers.size(); ++i) {
    if (vgg16.layers[i].type != "conv2d") continue;
    EXPECT_NEAR(times.backward[i] / times.forward[i], 2, 1e-12) << vgg16.layers[i].name;
  }
}

TEST(ComputeTime, MeasuredItSumsToBatchDividedByThroughput) {
  for (const auto& file : test::json_files("topologies/devices")) {
    const Device device = test::device(file.stem());
    for (const Measurement& row : device.measurements) {
      if (row.batch == 0) continue;
      SCOPED_TRACE(file.string() + " " + row.set + " " + row.model);
      const auto times =
          compute_times(test::model(row.model, row.variant), device, {row.precision, row.batch, row.set, {}});
      const double expected = row.batch / row.samples_per_second;
      EXPECT_NEAR(times.total().si() / expected, 1, 1e-12);
      EXPECT_TRUE(times.measured);
    }
  }
}

TEST(ComputeTime, AtAnotherBatchTheEstimateHoldsTimesWhatTheMeasuredRowIsOfIt) {
  const Model vgg16 = test::model("vgg16", "tf_cnn_benchmarks");
  Model renamed = vgg16;
  renamed.name = "mine";
  const auto at = [](const Model& model, int batch) {
    return compute_times(model, test::device("p100"), {Precision::fp32, batch, "horovod-2017-09", {}}).total();
  };
  EXPECT_NEAR(at(vgg16, 16).si() / (64 / 130.9 * (at(renamed, 16) / at(renamed, 64))), 1, 1e-9);
  EXPECT_GT(at(vgg16, 16).si(), 16 / 130.9);  // a small batch has its launches, too
}

/// What one program took is of another as much longer as the estimates of both are apart, and as uncertain as that.
TEST(ComputeTime, AStepOfAProgramThatNormalisesElsewhereIsConvertedByTheEstimateOfBoth) {
  const Model resnet = test::model("resnet50");
  const Device gpu = test::device("v100_sxm3_450w");  // measured at 208 with all of it in the convolutions
  const auto times = [&](int batch, std::optional<Normalisation> kind, std::vector<DeviceStep> steps) {
    return compute_times(resnet, gpu, {Precision::fp16, batch, "", {}, std::move(steps), Recompute::none, kind});
  };
  Device unmeasured = gpu;
  unmeasured.measurements.clear();
  const auto estimate = [&](Normalisation kind) {
    return compute_times(resnet, unmeasured, {Precision::fp16, 208, "", {}, {}, Recompute::none, kind}).total();
  };
  const double factor = estimate(Normalisation::with_activation) / estimate(Normalisation::in_convolution);
  EXPECT_GT(factor, 1.02);
  const ComputeTimes own = times(208, std::nullopt, {});
  EXPECT_NEAR(own.total().si(), 208 / 1579.6127, 1e-12);
  EXPECT_FALSE(own.band.is_open());
  EXPECT_EQ(times(208, Normalisation::in_convolution, {}).total(), own.total());
  const ComputeTimes other = times(208, Normalisation::with_activation, {});
  EXPECT_NEAR(other.total() / own.total(), factor, 1e-12);
  EXPECT_NEAR(other.band.most, factor, 1e-12);
  EXPECT_NEAR(other.band.least, 1 / factor, 1e-12);
  const ComputeTimes given = times(208, Normalisation::with_activation, {{208, 1_s, Normalisation::in_convolution}});
  EXPECT_NEAR(given.total().si(), factor, 1e-12);
  const ComputeTimes own_program = times(208, Normalisation::with_activation, {{208, 1_s}});
  EXPECT_NEAR(own_program.total().si(), 1, 1e-12);
}

TEST(ComputeTime, WhatWasMeasuredElsewhereIsNamed) {
  const Model vgg16 = test::model("vgg16", "tf_cnn_benchmarks");
  EXPECT_EQ(compute_times(vgg16, test::device("p100"), {Precision::fp32, 16, "horovod-2017-09", {}}).source,
            "measured: 130.9 samples/s, horovod-2017-09 (measured at batch 64)");
}

TEST(ComputeTime, ASetWithoutTheModelLeavesTheTimeEstimated) {
  const auto times =
      compute_times(test::model("densenet121"), test::device("p100"), {Precision::fp32, 64, "horovod-2017-09", {}});
  EXPECT_FALSE(times.measured);
  EXPECT_THAT(times.source,
              AllOf(HasSubstr("estimated: kernels of pascal at 9.3 TFLOP/s fp32"), HasSubstr("80 % interval")));
}

TEST(ComputeTime, NoTimeIsNegativeOrInfiniteForAnyModelOnAnyDevice) {
  const auto fine = [](Seconds time) { return time >= 0_s && std::isfinite(time.si()); };
  for (const auto& model_file : test::json_files("models")) {
    for (const auto& variant : test::model_file(model_file.stem()).variants) {
      for (const auto& device_file : test::json_files("topologies/devices")) {
        const Device device = test::device(device_file.stem());
        const auto times = compute_times(variant, device, {device.peak.begin()->first, 1, "", {}});
        EXPECT_EQ(times.forward.size(), variant.layers.size());
        EXPECT_EQ(times.backward.size(), variant.layers.size());
        EXPECT_TRUE(std::all_of(times.forward.begin(), times.forward.end(), fine)) << variant.name;
        EXPECT_TRUE(std::all_of(times.backward.begin(), times.backward.end(), fine)) << variant.name;
        EXPECT_GT(times.update, 0_s);
      }
    }
  }
}

TEST(ComputeTime, HalfPrecisionHalvesTheBytesOfAPassButNotOfTheUpdate) {
  Device device = slow_memory();
  device.peak[Precision::fp16] = 1_TFLOPps;
  const auto single = compute_times(model(), device, {Precision::fp32, 3, "", {}});
  const auto half = compute_times(model(), device, {Precision::fp16, 3, "", {}});
  EXPECT_DOUBLE_EQ(half.forward.at(1).si(), single.forward.at(1).si() / 2);
  EXPECT_EQ(half.update, single.update);
}

TEST(ComputeTime, APrecisionTheDeviceHasNoRateForIsRefusedByName) {
  EXPECT_THAT(
      [] {
        compute_times(model(), test::device("k80"), {Precision::fp16, 1, "", {}});
      },
      ThrowsMessage<InputError>(HasSubstr("device \"k80\" has no peak rate for fp16")));
}

TEST(ComputeTime, ASetTheDeviceDoesNotHaveIsRefusedByName) {
  EXPECT_THAT(
      [] {
        compute_times(model(), test::device("p100"), {Precision::fp32, 1, "horovod-2017-10", {}});
      },
      ThrowsMessage<InputError>(HasSubstr("did you mean \"horovod-2017-0")));
}

TEST(ComputeTime, ABatchThatIsNotPositiveBreaksTheContract) {
  EXPECT_THROW(compute_times(model(), slow_memory(), {Precision::fp32, 0, "", {}}), std::invalid_argument);
}

}}  // namespace farandole::compute_time_test
