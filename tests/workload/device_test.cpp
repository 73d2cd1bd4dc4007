#include <map>
#include <set>
#include <tuple>

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "config/error.hpp"
#include "workload/files.hpp"

namespace farandole::device_test { namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Document small() {
  return Document::parse(R"({
    "name": "small", "summary": "A device.", "peak": {"fp32": "2 TFLOP/s"}, "memory_bandwidth": "100 GB/s",
    "memory": "8 GiB", "assumed_efficiency": "50 %", "source": "a datasheet",
    "measurements": [
      {"set": "lab", "model": "tiny", "variant": "only", "precision": "fp32", "samples_per_second": 12.5,
       "source": "a page", "confidence": "verbatim"}
    ]
  })",
                         "small.json");
}

auto reading_with(const std::string& pointer, const std::string& text) {
  return [=] {
    auto document = small();
    document.set(pointer, text);
    read_device(document.root(), "small.json");
  };
}

TEST(Device, TakesRatesMemoryAndMeasurementsAsWritten) {
  const auto document = small();
  const Device device = read_device(document.root(), "small.json");
  EXPECT_EQ(device.name, "small");
  EXPECT_EQ(device.peak.at(Precision::fp32), 2_TFLOPps);
  EXPECT_EQ(device.peak.count(Precision::fp16), 0U);
  EXPECT_EQ(device.memory_bandwidth, 100_GBps);
  EXPECT_EQ(device.memory, 8 * 1024_MiB);
  EXPECT_EQ(device.assumed_efficiency, 0.5);
  EXPECT_EQ(device.measurements.at(0).samples_per_second, 12.5);
  EXPECT_EQ(device.measurements.at(0).batch, 0);
  EXPECT_EQ(device.measurements.at(0).source, "a page");
}

TEST(Device, RefusesRatesThatAreNotPositive) {
  EXPECT_THAT(reading_with("/peak/fp32", "0 TFLOP/s"),
              ThrowsMessage<InputError>(HasSubstr("/peak/fp32: expected a quantity above 0")));
  EXPECT_THAT(reading_with("/memory_bandwidth", "0 B/s"), ThrowsMessage<InputError>(HasSubstr("a quantity above 0")));
  EXPECT_THAT(reading_with("/memory", "0 B"), ThrowsMessage<InputError>(HasSubstr("a quantity above 0")));
  EXPECT_THAT(reading_with("/measurements/0/samples_per_second", "0"),
              ThrowsMessage<InputError>(HasSubstr("a number above 0")));
}

TEST(Device, RefusesAPrecisionItDoesNotKnowWithTheNearestName) {
  EXPECT_THAT(reading_with("/measurements/0/precision", "fp31"),
              ThrowsMessage<InputError>(
                  HasSubstr("expected a precision that training computes in, got \"fp31\"; did you mean \"fp32\"?")));
  EXPECT_THAT(reading_with("/peak/fp64", "1 TFLOP/s"), ThrowsMessage<InputError>(HasSubstr("a known key")));
  EXPECT_THAT(reading_with("/peak", "{}"), ThrowsMessage<InputError>(HasSubstr("a peak rate for fp32, tf32, bf16")));
}

TEST(Device, AMeasurementSaysWhereItsProgramNormalisesAndWhereThatStands) {
  auto document = small();
  EXPECT_EQ(read_device(document.root(), "small.json").measurements.at(0).normalisation, Normalisation::separate);
  document.set("/measurements/0/normalisation", "in_convolution");
  EXPECT_THAT([&] { read_device(document.root(), "small.json"); },
              ThrowsMessage<InputError>(HasSubstr("normalisation_source")));
  document.set("/measurements/0/normalisation_source", "a configuration");
  EXPECT_EQ(read_device(document.root(), "small.json").measurements.at(0).normalisation, Normalisation::in_convolution);
  EXPECT_THAT(reading_with("/measurements/0/normalisation", "in_convolutions"),
              ThrowsMessage<InputError>(HasSubstr("expected a way to normalise, got \"in_convolutions\"; did you mean "
                                                  "\"in_convolution\"?")));
}

TEST(Device, RefusesAnEfficiencyOutsideZeroToOneHundredPercent) {
  for (const auto* text : {"0 %", "101 %"}) {
    EXPECT_THAT(reading_with("/assumed_efficiency", text),
                ThrowsMessage<InputError>(HasSubstr("a percentage above 0 % and up to 100 %")));
  }
}

TEST(Device, RefusesADeviceOfWhichNothingSaysHowMuchOfItsPeakItReaches) {
  auto document = Document::parse(R"({"name": "small", "summary": "A device.", "peak": {"fp32": "2 TFLOP/s"},
    "memory_bandwidth": "100 GB/s", "memory": "8 GiB", "source": "a datasheet", "measurements": []})",
                                  "small.json");
  EXPECT_THAT([&] { read_device(document.root(), "small.json"); },
              ThrowsMessage<InputError>(HasSubstr("whose kernels are known, or an \"assumed_efficiency\"")));
}

TEST(Device, TrainingDoesNotComputeInInt8) {
  EXPECT_THAT(reading_with("/measurements/0/precision", "int8"),
              ThrowsMessage<InputError>(HasSubstr("expected a precision that training computes in")));
}

TEST(Device, AComputeCapabilityHasOneOrTwoDigitsBeforeItsPoint) {
  EXPECT_EQ(test::device("h100").compute_capability, 90);
  EXPECT_EQ(test::device("b200").compute_capability, 100);
  for (const auto* text : {"8", "100.0", ".0", "8.00", "a.0"}) {
    EXPECT_THAT(reading_with("/compute_capability", '"' + std::string(text) + '"'),
                ThrowsMessage<InputError>(HasSubstr("a compute capability")));
  }
}

TEST(Device, ARocmDeviceHasOneOfLlvmsTargets) {
  EXPECT_EQ(test::device("mi250x").gfx, "gfx90a");
  EXPECT_EQ(test::device("mi300x").gfx, "gfx942");
  EXPECT_EQ(test::device("h100").gfx, "");
  for (const auto* text : {"90a", "gfx", "gfx90z", "gfx90", "gfx90aaa"}) {
    EXPECT_THAT(reading_with("/gfx", '"' + std::string(text) + '"'),
                ThrowsMessage<InputError>(HasSubstr("a target of LLVM's")));
  }
}

TEST(Device, RefusesAUnitOfAnotherDimension) {
  EXPECT_THAT(reading_with("/memory", "8 GB/s"), ThrowsMessage<InputError>(HasSubstr("expected a size")));
}

TEST(Device, AnElementOfAGradientHasFourOrTwoBytes) {
  EXPECT_EQ(element_size(Precision::fp32), 4_B);
  EXPECT_EQ(element_size(Precision::fp16), 2_B);
  EXPECT_EQ(element_size(Precision::tf32), 4_B);  // fp32 in memory
  EXPECT_EQ(element_size(Precision::bf16), 2_B);
  EXPECT_EQ(element_size(Precision::fp8), 2_B);  // only products are in fp8
  EXPECT_EQ(name(Precision::fp32), "fp32");
  EXPECT_EQ(name(Precision::fp16), "fp16");
}

TEST(DeviceFiles, EveryFileLoadsIsNamedAsItsDeviceAndAgreesWithItsSchema) {
  const auto files = test::json_files("topologies/devices");
  EXPECT_EQ(files.size(), 26U);
  for (const auto& file : files) {
    const auto document = Document::read(file);
    const Device device = read_device(document.root(), file);
    EXPECT_EQ(device.name, file.stem().string());
    EXPECT_EQ(device.file, file);
    EXPECT_NO_THROW(check_schema(document, test::source_folder() / "sim/config/schemas/device.schema.json")) << file;
  }
}

TEST(DeviceFiles, TheSchemaRefusesWhatTheReaderRefuses) {
  const auto schema = test::source_folder() / "sim/config/schemas/device.schema.json";
  EXPECT_NO_THROW(check_schema(small(), schema));
  for (const auto& [pointer, text] : std::map<std::string, std::string>{
           {"/memori", "1 GB"}, {"/memory", "8 GB/s"}, {"/peak/fp64", "1 TFLOP/s"}, {"/measurements/0/batch", "0"}}) {
    auto document = small();
    document.set(pointer, text);
    EXPECT_THROW(check_schema(document, schema), InputError) << pointer;
    EXPECT_THROW(read_device(document.root(), "small.json"), InputError) << pointer;
  }
}

TEST(DeviceFiles, EveryMeasurementIsOfAModelAndVariantOfThisRepository) {
  for (const auto& file : test::json_files("topologies/devices")) {
    for (const Measurement& row : test::device(file.stem()).measurements) {
      EXPECT_NO_THROW(test::model(row.model, row.variant)) << file << ": " << row.set;
    }
  }
}

TEST(DeviceFiles, NoSetMeasuresTheSameThingTwice) {
  for (const auto& file : test::json_files("topologies/devices")) {
    std::set<std::string> seen;
    for (const Measurement& row : test::device(file.stem()).measurements) {
      const auto key =
          row.set + " " + row.model + " " + row.variant + " " + name(row.precision) + " " + std::to_string(row.batch);
      EXPECT_TRUE(seen.insert(key).second) << file << ": " << key;
    }
  }
}

TEST(DeviceFiles, TheGpusHaveTheRatesOfTheirDatasheets) {
  struct Datasheet {
    const char* device;
    FlopPerSecond fp32;
    FlopPerSecond fp16;
    BytesPerSecond memory_bandwidth;
    Bytes memory;
  };
  const Bytes gib = 1024_MiB;
  for (const auto& [name, fp32, fp16, bandwidth, memory] : {
           Datasheet{"p100", 9.3_TFLOPps, 18.7_TFLOPps, 732_GBps, 16 * gib},
           Datasheet{"p100_sxm2", 10.6_TFLOPps, 21.2_TFLOPps, 732_GBps, 16 * gib},
           Datasheet{"v100", 15.7_TFLOPps, 125_TFLOPps, 900_GBps, 16 * gib},
           Datasheet{"v100_32gb", 15.7_TFLOPps, 125_TFLOPps, 900_GBps, 32 * gib},
           Datasheet{"v100_pcie", 14_TFLOPps, 112_TFLOPps, 900_GBps, 16 * gib},
           Datasheet{"v100_sxm3_450w", 16.4_TFLOPps, 131_TFLOPps, 900_GBps, 32 * gib},
           Datasheet{"a100", 19.5_TFLOPps, 312_TFLOPps, 1555_GBps, 40 * gib},
           Datasheet{"a100_80gb", 19.5_TFLOPps, 312_TFLOPps, 2039_GBps, 80 * gib},
           Datasheet{"h100", 67_TFLOPps, 989.4_TFLOPps, 3350_GBps, 80 * gib},
       }) {
    const Device device = test::device(name);
    EXPECT_EQ(device.peak.at(Precision::fp32), fp32) << name;
    EXPECT_EQ(device.peak.at(Precision::fp16), fp16) << name;
    EXPECT_EQ(device.memory_bandwidth, bandwidth) << name;
    EXPECT_EQ(device.memory, memory) << name;
    EXPECT_TRUE(device.asynchronous) << name;
  }
  EXPECT_EQ(test::device("k80").peak.at(Precision::fp32), 4.37_TFLOPps);
}

TEST(DeviceFiles, AKnightsLandingDoesSixtyFourOperationsPerCoreAndCycle) {
  // Two AVX-512 units of 16 single precision lanes, a multiply and an add each; two digits of it are in the file.
  for (const auto& [name, cores, gigahertz] : {std::tuple{"knl7230", 64, 1.3}, std::tuple{"knl7250", 68, 1.4}}) {
    const Device device = test::device(name);
    EXPECT_NEAR(device.peak.at(Precision::fp32).si(), cores * gigahertz * 1e9 * 64, 0.05e12) << name;
    EXPECT_FALSE(device.asynchronous) << name;
  }
}

}}  // namespace farandole::device_test
