#include <map>
#include <set>

#include <gmock/gmock.h>

#include "config/error.hpp"
#include "config/schema.hpp"
#include "workload/files.hpp"

namespace farandole {
namespace {

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
              ThrowsMessage<InputError>(HasSubstr("/peak/fp32: expected a positive compute rate")));
  EXPECT_THAT(reading_with("/memory_bandwidth", "0 B/s"), ThrowsMessage<InputError>(HasSubstr("a positive rate")));
  EXPECT_THAT(reading_with("/memory", "0 B"), ThrowsMessage<InputError>(HasSubstr("a positive size")));
  EXPECT_THAT(reading_with("/measurements/0/samples_per_second", "0"),
              ThrowsMessage<InputError>(HasSubstr("a positive number")));
}

TEST(Device, RefusesAPrecisionItDoesNotKnowWithTheNearestName) {
  EXPECT_THAT(reading_with("/measurements/0/precision", "fp31"),
              ThrowsMessage<InputError>(HasSubstr("expected a precision, got \"fp31\"; did you mean \"fp32\"?")));
  EXPECT_THAT(reading_with("/peak/fp64", "1 TFLOP/s"), ThrowsMessage<InputError>(HasSubstr("a known key")));
  EXPECT_THAT(reading_with("/peak", "{}"), ThrowsMessage<InputError>(HasSubstr("a peak rate for fp32 or fp16")));
}

TEST(Device, RefusesAnEfficiencyOutsideZeroToOneHundredPercent) {
  for (const auto* text : {"0 %", "101 %"}) {
    EXPECT_THAT(reading_with("/assumed_efficiency", text),
                ThrowsMessage<InputError>(HasSubstr("a percentage above 0 % and up to 100 %")));
  }
}

TEST(Device, RefusesAUnitOfAnotherDimension) {
  EXPECT_THAT(reading_with("/memory", "8 GB/s"), ThrowsMessage<InputError>(HasSubstr("expected a size")));
}

TEST(Device, AnElementOfAGradientHasFourOrTwoBytes) {
  EXPECT_EQ(element_size(Precision::fp32), 4_B);
  EXPECT_EQ(element_size(Precision::fp16), 2_B);
  EXPECT_EQ(name(Precision::fp32), "fp32");
  EXPECT_EQ(name(Precision::fp16), "fp16");
}

TEST(DeviceFiles, EveryFileLoadsIsNamedAsItsDeviceAndAgreesWithItsSchema) {
  const auto files = test::json_files("topologies/devices");
  EXPECT_EQ(files.size(), 5U);
  for (const auto& file : files) {
    const auto document = Document::read(file);
    const Device device = read_device(document.root(), file);
    EXPECT_EQ(device.name, file.stem().string());
    EXPECT_EQ(device.file, file);
    EXPECT_NO_THROW(check_schema(document, test::repository() / "sim/config/schemas/device.schema.json")) << file;
  }
}

TEST(DeviceFiles, TheSchemaRefusesWhatTheReaderRefuses) {
  const auto schema = test::repository() / "sim/config/schemas/device.schema.json";
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
  EXPECT_EQ(test::device("k80").peak.at(Precision::fp32), 4.37_TFLOPps);
  EXPECT_EQ(test::device("p100").peak.at(Precision::fp32), 9.3_TFLOPps);
  EXPECT_EQ(test::device("p100").peak.at(Precision::fp16), 18.7_TFLOPps);
  EXPECT_EQ(test::device("v100").peak.at(Precision::fp32), 15.7_TFLOPps);
  EXPECT_EQ(test::device("v100").peak.at(Precision::fp16), 125_TFLOPps);
  EXPECT_EQ(test::device("a100").peak.at(Precision::fp32), 19.5_TFLOPps);
  EXPECT_EQ(test::device("a100").memory_bandwidth, 1555_GBps);
}

}  // namespace
}  // namespace farandole
