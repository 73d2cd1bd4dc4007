#include <gmock/gmock.h>

#include "config/error.hpp"
#include "workload/compute_time.hpp"
#include "workload/files.hpp"

namespace farandole::throughput_test { namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Measurement row(const std::string& set, int batch, double samples_per_second) {
  return {set, "tiny", "only", Precision::fp32, Normalisation::separate, batch, samples_per_second, "a page"};
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

std::vector<double> rates(const std::string& set) {
  const Device device = measured();
  std::vector<double> found;
  for (const Measurement* row : find_measurements(device, tiny(), {Precision::fp32, set})) {
    found.push_back(row->samples_per_second);
  }
  return found;
}

/// A step of 1 s and 10 ms a sample.
Seconds line(int batch) {
  return Seconds(1 + 0.01 * batch);
}

double step(const std::vector<DeviceStep>& steps, int batch) {
  return corrected_step(steps, batch, line).si();
}

TEST(Throughput, TheRowsAreThoseOfTheNamedSetInOrderOfBatch) {
  EXPECT_THAT(rates("lab"), ElementsAre(2, 3));
  EXPECT_THAT(rates("field"), ElementsAre(4));
}

TEST(Throughput, WhereNoSetIsNamedTheRowsAreThoseOfTheFirstInTheFileAtAnyBatch) {
  EXPECT_THAT(rates(""), ElementsAre(1));
}

TEST(Throughput, ARowThatDoesNotStateItsBatchCountsOnlyWhereNoneDoes) {
  Device device = measured();
  device.measurements.push_back(row("pages", 32, 5));
  const auto found = find_measurements(device, tiny(), {Precision::fp32, "pages"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front()->samples_per_second, 5);
}

TEST(Throughput, ARowThatWouldMakeALargerBatchTakeLessTimeIsLeftOut) {
  Device device = measured();
  device.measurements.push_back(row("lab", 128, 1000));  // 0.128 s after 21.3 s
  EXPECT_EQ(find_measurements(device, tiny(), {Precision::fp32, "lab"}).size(), 2U);
}

TEST(Throughput, AStepOfARowIsItsBatchDividedByItsRate) {
  const Device device = measured();
  const auto steps = steps_of(find_measurements(device, tiny(), {Precision::fp32, "lab"}));
  EXPECT_EQ(steps.at(0).batch, 32);
  EXPECT_EQ(steps.at(0).time, 16_s);
}

TEST(Throughput, TwoStepsSayWhatASampleTakesAndWhatDoesNotDependOnTheBatch) {
  const std::vector<DeviceStep> steps{{100, 5_s}, {200, 8_s}};  // 2 s and 30 ms a sample
  EXPECT_DOUBLE_EQ(step(steps, 100), 5);
  EXPECT_DOUBLE_EQ(step(steps, 200), 8);
  EXPECT_DOUBLE_EQ(step(steps, 150), 6.5);
  EXPECT_DOUBLE_EQ(step(steps, 1), 2.03);
  EXPECT_DOUBLE_EQ(step(steps, 400), 14);
}

TEST(Throughput, BeyondOneStepTheEstimateHoldsTimesWhatTheStepIsOfIt) {
  EXPECT_DOUBLE_EQ(step({{100, 5_s}}, 1), 1.01 * 5 / 2);  // estimated: 2 s
  EXPECT_DOUBLE_EQ(step({{100, 5_s}}, 400), 5.0 * 5 / 2);
}

TEST(Throughput, StepsOfNearlyTheSameBatchAreFollowedBetweenThemOnly) {
  const std::vector<DeviceStep> steps{{100, 5_s}, {110, 5.01_s}};  // the line would give 5.4 s at 500 samples
  EXPECT_DOUBLE_EQ(step(steps, 105), 5.005);
  EXPECT_DOUBLE_EQ(step(steps, 500), 6 * 5.01 / 2.1);
}

TEST(Throughput, StepsWhoseLineLeavesLessThanNothingForNoSamplesAreFollowedBetweenThemOnly) {
  const std::vector<DeviceStep> steps{{100, 1_s}, {200, 3_s}};
  EXPECT_DOUBLE_EQ(step(steps, 150), 2);
  EXPECT_DOUBLE_EQ(step(steps, 50), 1.5 * 1 / 2);
  EXPECT_DOUBLE_EQ(step(steps, 400), 5.0 * 3 / 3);
}

TEST(Throughput, NothingIsFoundForAnotherModelVariantOrPrecision) {
  const Device device = measured();
  EXPECT_TRUE(find_measurements(device, Model{"big", "only", {}}, {Precision::fp32, ""}).empty());
  EXPECT_TRUE(find_measurements(device, Model{"tiny", "other", {}}, {Precision::fp32, ""}).empty());
  EXPECT_TRUE(find_measurements(device, tiny(), {Precision::fp16, ""}).empty());
}

TEST(Throughput, ASetTheDeviceDoesNotHaveIsRefusedWithTheNearestName) {
  EXPECT_THAT([] { rates("lap"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("device \"gpu\" has no set of measurements \"lap\""),
                                              HasSubstr("did you mean \"lab\"?"))));
}

TEST(Throughput, TheDescriptionNamesTheSetAndAnotherBatch) {
  const Measurement stated = row("lab", 64, 130.9);
  const Measurement unstated = row("lab", 0, 130.9);
  EXPECT_EQ(describe({&stated}, 64), "measured: 130.9 samples/s, lab");
  EXPECT_EQ(describe({&stated}, 32), "measured: 130.9 samples/s, lab (measured at batch 64)");
  EXPECT_EQ(describe({&unstated}, 32), "measured: 130.9 samples/s, lab (batch not stated)");
}

TEST(Throughput, TheHorovodFigureOfVgg16IsFoundInItsSet) {
  const Device p100 = test::device("p100");
  const Model vgg16 = test::model("vgg16", "tf_cnn_benchmarks");
  const auto rate = [&](const char* set) {
    return find_measurements(p100, vgg16, {Precision::fp32, set}).front()->samples_per_second;
  };
  EXPECT_EQ(rate("horovod-2017-09"), 130.9);
  EXPECT_EQ(rate("horovod-2017-tcp40"), 149.6);
}

}}  // namespace farandole::throughput_test
