// Laws of a step's time, for every model on every device.
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "workload/compute_time.hpp"
#include "workload/files.hpp"

namespace farandole::step_time_test { namespace {

constexpr std::array normalisations{Normalisation::separate, Normalisation::with_activation,
                                    Normalisation::statistics_in_convolution, Normalisation::in_convolution};

std::vector<int> batches() {
  return {1,  2,   3,   5,   8,   13,  16,  31,  32,  33,  48,  51,  64,
          96, 127, 128, 129, 192, 204, 224, 240, 255, 256, 400, 408, 1024};
}

std::vector<Device> devices() {
  std::vector<Device> all;
  for (const auto& file : test::json_files("topologies/devices")) all.push_back(test::device(file.stem()));
  return all;
}

/// Calls `visit` with every variant of every model, on every device in every precision that training computes in.
template <class Visit>
void for_all(const Visit& visit) {
  const std::vector<Device> all = devices();
  for (const auto& model_file : test::json_files("models")) {
    for (const auto& model : test::model_file(model_file.stem()).variants) {
      for (const Device& device : all) {
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

TEST(StepTime, AProgramThatFusesMoreIsNeverSlowerAndNoneTakesLessTimeForALargerBatch) {
  const Device gpu = test::device("v100");
  for (const auto& file : test::json_files("models")) {
    for (const auto& model : test::model_file(file.stem()).variants) {
      SCOPED_TRACE(model.name + " " + model.variant);
      std::map<Normalisation, Seconds> smaller;
      for (const int batch : batches()) {
        Seconds before = 1e9_s;
        for (const Normalisation kind : normalisations) {
          const Seconds now =
              compute_times(model, gpu, {Precision::fp16, batch, "", 10_us, {}, Recompute::none, kind}).total();
          EXPECT_LE(now, before * (1 + 1e-12)) << batch << " " << name(kind);
          EXPECT_GE(now, smaller[kind] * (1 - 1e-12)) << batch << " " << name(kind);
          before = smaller[kind] = now;
        }
      }
    }
  }
}

TEST(StepTime, ACompiledProgramIsNeverSlowerAndTakesNoLessTimeForALargerBatch) {
  for (const char* name : {"v100", "a100_80gb", "h100"}) {
    const Device gpu = test::device(name);
    for (const auto& file : test::json_files("models")) {
      for (const auto& model : test::model_file(file.stem()).variants) {
        SCOPED_TRACE(model.name + " " + model.variant + " on " + name);
        const auto step = [&](int batch, bool compiled) {
          ComputeDemand demand{Precision::fp16, batch, "", 10_us, {}};
          demand.compiled = compiled;
          return compute_times(model, gpu, demand).total();
        };
        Seconds smaller;
        for (const int batch : batches()) {
          const Seconds now = step(batch, true);
          EXPECT_LE(now, step(batch, false) * (1 + 1e-12)) << batch;
          EXPECT_GE(now, smaller * (1 - 1e-12)) << batch;
          smaller = now;
        }
      }
    }
  }
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
            const auto step = [&](const Device& on) {
              return compute_times(model, on, {precision, batch, "", {}}).total();
            };
            EXPECT_LT(step(h100), step(a100)) << model.name << " " << name(precision) << " " << batch << " " << older;
          }
        }
      }
    }
  }
}

}}  // namespace farandole::step_time_test
