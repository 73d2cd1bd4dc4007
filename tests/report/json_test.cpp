#include <cmath>
#include <cstdint>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "report/points.hpp"
#include "report/reports.hpp"

namespace farandole::json_test { namespace {

using nlohmann::ordered_json;

std::string training_text(const std::vector<TrainingPoint>& points) {
  std::ostringstream out;
  write_training(out, Format::json, heading(), points);
  return out.str();
}

std::string collective_text(const std::vector<CollectivePoint>& points) {
  std::ostringstream out;
  write_collective(out, Format::json, heading(), points);
  return out.str();
}

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

TEST(TrainingJson, SaysWhichPointsFailedAndWhy) {
  Heading with_failure = heading();
  EXPECT_FALSE(ordered_json::parse(training_text({})).contains("failed"));
  with_failure.failed = {{"/platform/ranks 4", "killed"}, {"/platform/ranks 8", "killed"}};
  std::ostringstream out;
  write_training(out, Format::json, with_failure, {});
  const auto document = ordered_json::parse(out.str());
  ASSERT_EQ(document["failed"].size(), 2U);
  EXPECT_EQ(document["failed"][1], (ordered_json{{"point", "/platform/ranks 8"}, {"reason", "killed"}}));
  EXPECT_EQ(document["points"].size(), 0U);
}

TEST(TrainingJson, HasTheKeysOfTheOutwardContract) {
  const auto document = ordered_json::parse(training_text({vgg16_on_512_ranks()}));
  EXPECT_THAT(keys(document), testing::ElementsAre("farandole", "scenario", "settings", "points"));
  const auto& point = document["points"][0];
  EXPECT_THAT(keys(point), testing::IsSupersetOf({"model", "variant", "ranks", "nodes", "platform", "strategy", "mode",
                                                  "algorithm", "fidelity", "iteration_seconds", "iteration_seconds_p95",
                                                  "samples_per_second", "scaling_efficiency", "breakdown"}));
  EXPECT_THAT(keys(point["breakdown"]), testing::ElementsAre("compute", "exposed_communication", "negotiation",
                                                             "straggler", "input", "checkpoint", "other"));
}

TEST(TrainingJson, HasEveryValueInSiUnits) {
  const auto document = ordered_json::parse(training_text({vgg16_on_512_ranks()}));
  EXPECT_EQ(document["farandole"], std::string(version()));
  EXPECT_EQ(document["scenario"], "demo");
  EXPECT_EQ(document["settings"], ordered_json({{"cycle_time", "5 ms"}, {"seed", "1"}}));
  const auto expected = ordered_json::parse(R"({
    "model": "vgg16", "variant": "torchvision", "ranks": 512, "nodes": 128, "platform": "roce25-4xp100",
    "strategy": "horovod", "mode": "synchronous", "algorithm": "ring", "fidelity": "flow",
    "iteration_seconds": 0.3125, "iteration_seconds_p50": 0.31, "iteration_seconds_p95": 0.33, "samples_per_second": 104857.6,
    "scaling_efficiency": 0.68,
    "breakdown": {"compute": 0.2, "exposed_communication": 0.1, "negotiation": 0.0125, "straggler": 0.0, "input": 0.0,
                  "checkpoint": 0.0, "other": 0.0},
    "batch_per_rank": 64, "precision": "fp32", "gradient_type": "fp32", "compute_source": "measured", "compute_source_detail": "measured", "collectives_per_iteration": 12,
    "strategy_options": "", "gradient_bytes": 553430976, "folded": true, "mean_staleness": 0.0,
    "memory": {"parameters": 0, "gradients": 0, "optimizer_state": 0, "activations": 0, "fusion_buffers": 0,
               "server_shard": 0, "gathered": 0, "total": 0, "device": 0, "outside": 0, "spared": 0},
    "recompute": "none", "tflops_per_device": 0.0})");
  EXPECT_EQ(document["points"][0].dump(), expected.dump());
}

TEST(TrainingJson, SaysInAWordWhereComputeTimesComeFrom) {
  const auto word_of = [](const std::string& source) {
    TrainingPoint point = vgg16_on_512_ranks();
    point.compute_source = source;
    const auto written = ordered_json::parse(training_text({point}))["points"][0];
    EXPECT_EQ(written["compute_source_detail"], source);
    return written["compute_source"].get<std::string>();
  };
  EXPECT_EQ(word_of("measured: 909 samples/s, nvidia"), "measured");
  EXPECT_EQ(word_of("profiled: layer times on p100 at batch 4, PyTorch"), "measured");
  EXPECT_EQ(word_of("estimated: 35 % of 9.3 TFLOP/s"), "estimated");
}

TEST(TrainingJson, OfNoPointsAndNoSettingsHasAnEmptyArrayAndAnEmptyObject) {
  std::ostringstream out;
  write_training(out, Format::json, {}, {});
  const auto document = ordered_json::parse(out.str());
  EXPECT_EQ(document["points"], ordered_json::array());
  EXPECT_EQ(document["settings"], ordered_json::object());
}

TEST(TrainingJson, StaysValidForNamesThatAreNotUtf8) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.model = "caf\xe9 \"\n";
  const auto document = ordered_json::parse(training_text({point}));
  EXPECT_EQ(document["points"][0]["model"], "caf\xef\xbf\xbd \"\n");
}

TEST(CollectiveJson, HasTheKeysOfTheOutwardContract) {
  const auto document = ordered_json::parse(collective_text({allreduce_of_a_mebibyte()}));
  EXPECT_THAT(keys(document), testing::ElementsAre("farandole", "scenario", "settings", "points"));
  const auto expected = ordered_json::parse(R"({
    "op": "allreduce", "algorithm": "ring", "ranks": 16, "bytes": 1048576, "seconds": 0.0005,
    "algorithm_bandwidth": 2097152000.0, "bus_bandwidth": 3932160000.0, "fidelity": "flow", "folded": true, "servers": 0})");
  EXPECT_EQ(document["points"][0].dump(), expected.dump());
}

TEST(CollectiveJson, RefusesAnInfiniteBandwidth) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  point.algorithm_bandwidth = BytesPerSecond::infinity();
  EXPECT_THROW(collective_text({point}), std::logic_error);
}

TEST(CollectiveJson, OfAComparisonListsThePointsAsThePlainReportDoes) {
  const std::vector points{allreduce_of_a_mebibyte()};
  std::ostringstream out;
  write_collective_comparison(out, Format::json, heading(), points);
  EXPECT_EQ(out.str(), collective_text(points));
}

/// A double of any magnitude that a duration may have, from its mantissa and exponent.
double any_duration() {
  return std::ldexp(static_cast<double>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 53)),
                    *rc::gen::inRange(-100, 20));
}

RC_GTEST_PROP(TrainingJson, ReadsBackToTheSameDoubles, ()) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.iteration = Seconds(any_duration());
  point.samples_per_second = any_duration();
  const auto read = ordered_json::parse(training_text({point}))["points"][0];
  RC_ASSERT(read["iteration_seconds"].get<double>() == point.iteration.si());
  RC_ASSERT(read["samples_per_second"].get<double>() == point.samples_per_second);
}

// sum(breakdown) = iteration_seconds holds after printing and reading as it held before.
RC_GTEST_PROP(TrainingJson, HasABreakdownThatStillSumsToTheIteration, ()) {
  const auto part = [] { return Seconds(any_duration()); };
  TrainingPoint point = vgg16_on_512_ranks();
  point.breakdown = {part(), part(), part(), part(), part(), part(), part()};
  point.iteration = point.breakdown.total();
  const auto read = ordered_json::parse(training_text({point}))["points"][0];
  double sum = 0;
  for (const auto& [name, seconds] : read["breakdown"].items()) sum += seconds.get<double>();
  RC_ASSERT(sum == read["iteration_seconds"].get<double>());
}

}}  // namespace farandole::json_test
