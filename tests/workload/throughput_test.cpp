#include "workload/throughput.hpp"

#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/files.hpp"

namespace farandole {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Measurement row(const std::string& set, int batch, double samples_per_second) {
  return {set, "tiny", "only", Precision::fp32, batch, samples_per_second, "a page"};
}

Device measured() {
  Device device;
  device.name = "gpu";
  device.measurements = {row("pages", 0, 1), row("lab", 32, 2), row("lab", 64, 3), row("field", 64, 4)};
  return device;
}

Model tiny() {
  return Model{"tiny", "only", {}};
}

double found(int batch, const std::string& set) {
  const Device device = measured();
  return find_measurement(device, tiny(), {Precision::fp32, batch, set})->samples_per_second;
}

TEST(Throughput, TheRowOfTheSameBatchWins) {
  EXPECT_EQ(found(32, "lab"), 2);
  EXPECT_EQ(found(64, "lab"), 3);
}

TEST(Throughput, OtherwiseTheNearestBatchWinsAndAmongEqualsTheFirst) {
  EXPECT_EQ(found(16, "lab"), 2);
  EXPECT_EQ(found(1024, ""), 3);
  EXPECT_EQ(found(48, "lab"), 2);  // 16 away from both
}

TEST(Throughput, ARowThatDoesNotStateItsBatchIsTheLastResort) {
  EXPECT_EQ(found(1, ""), 2);
  EXPECT_EQ(found(1, "pages"), 1);
}

TEST(Throughput, NothingIsFoundForAnotherModelVariantOrPrecision) {
  const Device device = measured();
  EXPECT_EQ(find_measurement(device, Model{"big", "only", {}}, {Precision::fp32, 32, ""}), nullptr);
  EXPECT_EQ(find_measurement(device, Model{"tiny", "other", {}}, {Precision::fp32, 32, ""}), nullptr);
  EXPECT_EQ(find_measurement(device, tiny(), {Precision::fp16, 32, ""}), nullptr);
}

TEST(Throughput, ASetTheDeviceDoesNotHaveIsRefusedWithTheNearestName) {
  EXPECT_THAT([] { found(32, "lap"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("device \"gpu\" has no set of measurements \"lap\""),
                                              HasSubstr("did you mean \"lab\"?"))));
}

TEST(Throughput, TheDescriptionNamesTheSetAndAnotherBatch) {
  EXPECT_EQ(describe(row("lab", 64, 130.9), 64), "measured: 130.9 samples/s, lab");
  EXPECT_EQ(describe(row("lab", 64, 130.9), 32), "measured: 130.9 samples/s, lab (measured at batch 64)");
  EXPECT_EQ(describe(row("lab", 0, 130.9), 32), "measured: 130.9 samples/s, lab (batch not stated)");
}

TEST(Throughput, TheHorovodFigureOfVgg16IsFoundInItsSet) {
  const Device p100 = test::device("p100");
  const Model vgg16 = test::model("vgg16", "tf_cnn_benchmarks");
  EXPECT_EQ(find_measurement(p100, vgg16, {Precision::fp32, 64, "horovod-2017-09"})->samples_per_second, 130.9);
  EXPECT_EQ(find_measurement(p100, vgg16, {Precision::fp32, 64, "horovod-2017-tcp40"})->samples_per_second, 149.6);
}

}  // namespace
}  // namespace farandole
