#include "workload/kernels.hpp"

#include <cmath>
#include <functional>
#include <set>

#include <gmock/gmock.h>

#include "config/schema.hpp"
#include "config/section.hpp"
#include "workload/compute_time.hpp"
#include "workload/files.hpp"
#include "workload/throughput.hpp"

namespace farandole {
namespace {

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

TEST(Kernels, TheFittedFileAgreesWithItsSchemaAndAnUnknownGenerationGetsTheMean) {
  const Document file = test::fitted_kernels();
  EXPECT_NO_THROW(check_schema(file, test::repository() / "sim/config/schemas/kernels.schema.json"));
  EXPECT_TRUE(read_kernel_rates(file.root(), "volta").known);
  const KernelRates mean = read_kernel_rates(file.root(), "rubin");
  EXPECT_FALSE(mean.known);
  EXPECT_TRUE(mean.tensor_units);
}

std::vector<int> batches() {
  return {1,  2,   3,   5,   8,   13,  16,  31,  32,  33,  48,  51,  64,
          96, 127, 128, 129, 192, 204, 224, 240, 255, 256, 400, 408, 1024};
}

/// Calls `visit` with every variant of every model, on every device in every precision that training computes in.
template <class Visit>
void for_all(const Visit& visit) {
  for (const auto& model_file : test::json_files("models")) {
    for (const auto& model : test::model_file(model_file.stem()).variants) {
      for (const auto& device_file : test::json_files("topologies/devices")) {
        const Device device = test::device(device_file.stem());
        for (const auto& [precision, peak] : device.peak) {
          if (precision != Precision::int8) visit(model, device, precision);
        }
      }
    }
  }
}

TEST(StepTime, NoModelOnNoDeviceTakesLessTimeForALargerBatch) {
  for_all([](const Model& model, const Device& device, Precision precision) {
    SCOPED_TRACE(model.name + " " + model.variant + " on " + device.name + " in " + name(precision));
    Seconds before;
    for (const int batch : batches()) {
      const Seconds now = compute_times(model, device, {precision, batch, "", 10_us, {}}).total();
      EXPECT_GE(now, before * (1 - 1e-12)) << batch;
      before = now;
    }
  });
}

TEST(StepTime, ABatchOfOneCostsAtLeastItsLaunchesUnlessALargerOneWasMeasuredToCostLess) {
  for_all([](const Model& model, const Device& device, Precision precision) {
    if (!find_measurements(device, model, {precision, ""}).empty()) return;
    const auto times = compute_times(model, device, {precision, 1, "", 10_us, {}});
    EXPECT_GE(times.passes(), 2.0 * static_cast<double>(model.layers.size()) * 10_us * (1 - 1e-12)) << device.name;
  });
  // 158 layers, twice 10 us each: 3.16 ms, where the rate of batch 256 alone would say 0.42 ms.
  const auto times = compute_times(test::model("resnet50"), test::device("a100"), {Precision::fp16, 1, "", 10_us, {}});
  EXPECT_GE(times.total(), 3.16_ms);
  EXPECT_TRUE(times.measured);
}

TEST(StepTime, AnH100IsFasterThanAnA100ForEveryModelAndPrecision) {
  const Device h100 = test::device("h100");
  for (const char* older : {"a100", "a100_80gb"}) {
    const Device a100 = test::device(older);
    for (const auto& file : test::json_files("models")) {
      for (const auto& model : test::model_file(file.stem()).variants) {
        for (const auto& [precision, peak] : a100.peak) {
          if (precision == Precision::int8) continue;
          for (const int batch : {32, 256}) {
            const auto step = [&](const Device& on) { return compute_times(model, on, precision, batch, "").total(); };
            EXPECT_LT(step(h100), step(a100)) << model.name << " " << name(precision) << " " << batch << " " << older;
          }
        }
      }
    }
  }
}

/// What tools/fit_kernels.py wrote of the fits that each leave one model out.
class LeftOut : public testing::Test {
 protected:
  /// `device` with the kernels that were fitted without `model`.
  Device without(const std::string& model, const std::string& device) const {
    Device result = test::device(device);
    for (const auto& [name, fit] : Section(file_.root()).child("fits").members()) {
      if (name == model) result.kernels = read_kernel_rates(fit, result.generation);
    }
    return result;
  }
  Document file_ = Document::read(test::repository() / "topologies/devices/kernels/held_out.json");
};

Precision precision_of(Section& row) {
  return read_precision(row.child("precision"));
}

Model renamed(Model model) {
  model.name = "mine";
  return model;
}

TEST_F(LeftOut, TheProgramSaysWhatTheFitSays) {
  int rows = 0;
  for (const Value& value : Section(file_.root()).child("rows").elements()) {
    Section row(value);
    const auto model = row.required<std::string>("model");
    const auto on = row.required<std::string>("device");
    const Model layers = renamed(test::model(model, row.required<std::string>("variant")));
    const auto times = compute_times(layers, without(model, on), precision_of(row), row.required<int>("batch"), "");
    EXPECT_NEAR(times.total().si() * 1e3 / row.required<double>("left_out_ms"), 1, 2e-3) << model << " on " << on;
    ++rows;
  }
  EXPECT_GT(rows, 90);
}

/// Programs of 2017 and 2018, in half precision or with their own input from disk: slower than any later program. And
/// one that waited for its loader.
bool does_not_count(const std::string& set) {
  return set == "u39kun-pytorch" || set == "horovod-issue-288" || set == "alcf-polaris-tutorial" ||
         set == "byteps-issue-59";
}

struct Renamed {
  std::string row;
  double error = 0;  // of throughput
};

/// Every model, variant, device and precision that was measured, at the batch of its first set: the named model beside
/// the same layers under another name, estimated with the fit that never saw it.
std::vector<Renamed> renamed_models(const std::function<Device(const std::string&, const std::string&)>& without) {
  std::set<std::string> seen;
  std::vector<Renamed> result;
  for (const auto& file : test::json_files("topologies/devices")) {
    const Device device = test::device(file.stem());
    for (const Measurement& row : device.measurements) {
      const std::string key = row.model + " " + row.variant + " " + device.name + " " + name(row.precision);
      if (!device.kernels || does_not_count(row.set) || !seen.insert(key).second) continue;
      const Model model = test::model(row.model, row.variant);
      const int batch = row.batch == 0 ? 128 : row.batch;
      const Seconds named = compute_times(model, device, row.precision, batch, row.set).total();
      const Seconds other =
          compute_times(renamed(model), without(row.model, device.name), row.precision, batch, "").total();
      result.push_back({key, std::abs(named / other - 1)});
    }
  }
  std::ranges::sort(result, {}, &Renamed::error);
  return result;
}

/// Beyond 30 %. ResNet-50 is the only convolutional network that was measured on an A30, an H100, an H200 and a V100 of
/// 450 W, each by MLPerf's fastest program; fp8 reaches less of its peak than half precision does, and was measured on
/// language models of two sizes only; a program of TensorFlow 1 is slower than others; and two sequences at a time in
/// single precision are too little for tiles of 128 x 128, of which that program's library has smaller ones.
std::set<std::string> known_misses() {
  return {"resnet50 torchvision a30 fp16",
          "resnet50 torchvision h100 fp16",
          "resnet50 torchvision h200 fp16",
          "resnet50 torchvision v100_sxm3_450w fp16",
          "mpt_3b seq2048 h100 fp8",
          "bert_large seq512 v100 fp32",
          "resnext101_32x4d torchvision a100 tf32"};
}

TEST_F(LeftOut, ARenamedModelIsWithin15PercentOfTheNamedOneInTheMedianAndWithin30ButForWhatIsKnown) {
  const auto all = renamed_models([this](const auto& model, const auto& device) { return without(model, device); });
  ASSERT_GT(all.size(), 60U);
  EXPECT_LE(all[all.size() / 2].error, 0.15);
  EXPECT_LE(all[all.size() * 4 / 5].error, 0.20);
  for (const Renamed& one : all) {
    if (known_misses().contains(one.row)) {
      EXPECT_LE(one.error, 0.5) << one.row;
    } else {
      EXPECT_LE(one.error, 0.3) << one.row;
    }
  }
}

}  // namespace
}  // namespace farandole
