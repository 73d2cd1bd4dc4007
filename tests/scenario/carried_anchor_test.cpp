// What was measured on one device, in one precision, says of another what the estimates say of the two: a slow program
// on the old machine is no merit of the new one.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "scenario/scenario_kit.hpp"
#include "support/source_folder.hpp"
#include "timeline/difference.hpp"

namespace farandole::carried_anchor_test { namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Changes = std::vector<test::Change>;

/// Eight ranks took so long; what do 64 take? At both values that the file sweeps.
std::vector<TrainingPoint> both(double seconds, const std::string& sweep) {
  const std::string file = fmt::format(
      R"({{"name": "timed", "workload": {{"model": "llama3_8b", "batch_per_rank": 1, "precision": "bf16", "optimizer": "adam",
           "recompute": "full", "measured": [{{"ranks": 8, "batch_per_rank": 1, "iteration_seconds": {}}}]}},
           "platform": {{"topology": "hgx-h100", "ranks": 64}}, "strategy": {{"kind": "fsdp"}},
           "measure": {{"iterations": 2, "warmup": 1, "fidelity": "analytic"}}, "sweep": {}}})",
      seconds, sweep);
  return run_document(Document::parse(file, "timed.json"), Catalogue(), {}).points;
}

constexpr const char* to_h200 = R"({"/platform/topology": ["hgx-h100", "hgx-h200"]})";

/// H200 is H100 with 1.43 times the memory bandwidth.
TEST(CarriedAnchor, AnH200IsAFewPercentFasterWhateverAnH100Took) {
  for (const double seconds : {0.8, 1.3, 1.5, 1.8, 2.0, 5.0}) {
    const auto points = both(seconds, to_h200);
    const double gain = points[1].samples_per_second / points[0].samples_per_second - 1;
    EXPECT_GT(gain, 0.02) << seconds;
    EXPECT_LT(gain, 0.15) << seconds;
    EXPECT_THAT(points[1].compute_source, StartsWith("anchored: "));
    EXPECT_THAT(points[1].compute_source, HasSubstr("as h200 in bf16 is estimated to take of h100 in bf16"));
    const auto difference = farandole::difference(points[0], points[1]);
    ASSERT_TRUE(difference);
    EXPECT_LT(difference->sure, 0.95);
    EXPECT_LT(difference->band.low, 1);
  }
}

TEST(CarriedAnchor, HalfTheBitsGainNoMoreThanTheRatioOfThePeaks) {
  const auto& peak = Catalogue().device("h100", Document::parse("{}", "h100").root()).peak;
  const double most = (peak.at(Precision::fp8) / peak.at(Precision::bf16)) * (1 + 1e-9);
  for (const double seconds : {0.8, 1.3, 2.0}) {
    const auto points = both(seconds, R"({"/workload/precision": ["bf16", "fp8"]})");
    EXPECT_GT(points[1].samples_per_second / points[0].samples_per_second, 1.1);
    const double gain = points[0].anchoring->steps[0].time / points[1].anchoring->steps[0].time;
    EXPECT_LE(gain, most);
    ASSERT_TRUE(points[1].bands);
    EXPECT_LE(gain / points[1].bands->compute.low, most);
  }
}

/// As many times as long as the estimate takes, with a band; compiled steps are not taken for any program's.
TEST(CarriedAnchor, CompilingGainsWhatTheEstimatesGain) {
  const std::string sweep = R"({"/workload/compile": [false, true], "/platform/ranks": [1]})";
  Changes estimated{{"/workload", R"({"model": "gpt2_small", "batch_per_rank": 4, "precision": "bf16"})"},
                    {"/platform", R"({"topology": "hgx-h100"})"},
                    {"/strategy", R"({"kind": "ddp"})"},
                    {"/sweep", sweep}};
  Changes anchored = estimated;
  anchored.push_back({"/workload/measured", R"([{"ranks": 1, "iteration_seconds": 0.2}])"});
  const auto plain = test::run(estimated).points;
  const auto carried = test::run(anchored).points;
  EXPECT_NEAR(carried[0].iteration.si(), 0.2, 1e-9);
  EXPECT_LT(carried[1].iteration.si(), 0.199);
  EXPECT_NEAR(carried[0].iteration / carried[1].iteration, plain[0].iteration / plain[1].iteration, 0.02);
  EXPECT_FALSE(carried[0].bands && carried[0].bands->compute.high > 1);
  ASSERT_TRUE(carried[1].bands);
  EXPECT_GT(carried[1].bands->compute.high, 1);
}

TEST(CarriedAnchor, TheSameDeviceUnderAnotherNameChangesNothing) {
  auto device = Document::read(test::source_folder() / "topologies/devices/h100.json").to_ordered_json();
  device["name"] = "h100_again";
  const std::string file = testing::TempDir() + "h100_again.json";
  std::ofstream(file) << device.dump();
  const std::string sweep = fmt::format(R"({{"/platform/override": [{{}}, {{"/node/device": "{}"}}]}})", file);
  const auto points = both(1.8, sweep);
  EXPECT_EQ(points[0].iteration, points[1].iteration);
  ASSERT_TRUE(points[0].bands && points[1].bands);
  EXPECT_EQ(points[0].bands->compute.high, points[1].bands->compute.high);
}

TEST(CarriedAnchor, IsOfAModelWhateverItsVariantIsCalled) {
  auto model = Document::read(test::source_folder() / "models/resnet50.json").to_ordered_json();
  model["variants"][0]["name"] = R"(the "usual" one)";
  const std::string file = testing::TempDir() + "resnet50.json";
  std::ofstream(file) << model.dump();
  const std::string workload = R"({{"model": "{}", "batch_per_rank": 64, "measured": [{{"iteration_seconds": 0.2}}]}})";
  const auto points = test::run({{"/workload", fmt::format(fmt::runtime(workload), file)},
                                 {"/platform", R"({"topology": "dgx-a100", "ranks": 8})"},
                                 {"/strategy", R"({"kind": "ddp"})"},
                                 {"/sweep", "{}"}})
                          .points;
  EXPECT_NEAR(points.at(0).iteration.si(), 0.2, 1e-9);
}

}}  // namespace farandole::carried_anchor_test
