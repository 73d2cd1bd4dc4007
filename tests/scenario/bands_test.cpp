// Points say between which ends they lie: where compute times are estimated, and where they were simulated at all.
#include <algorithm>
#include <ctime>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/record.hpp"
#include "scenario/scenario_kit.hpp"
#include "scenario/train.hpp"

namespace farandole::bands_test { namespace {

using test::Change;

TrainingPoint point_with(const std::vector<Change>& changes, const RunOptions& options = {}) {
  return test::run(changes, options).points.front();
}

bool holds(const Interval& band, double value) {
  return band.low <= value && value <= band.high;
}

const std::vector<std::vector<Change>>& all_kinds() {
  static const std::vector<std::vector<Change>> kinds{
      {},
      {{"/strategy", R"({"kind": "ddp"})"}},
      {{"/strategy", R"({"kind": "parameter_server"})"}},
      {{"/strategy", R"({"kind": "local_sgd", "period": 4})"}},
      {{"/strategy/compression", "\"fp16\""}},
      {{"/platform/topology", "dgx-h100"}, {"/platform/ranks", "16"}},
      {{"/platform/topology", "theta"}, {"/workload/model", "vgg16"}},
      {{"/effects",
        R"({"input": {"storage_samples_per_second": 500}, "straggler": {"ranks": [1], "slowdown": "20 %"}})"}},
      {{"/workload", R"({"model": "resnet18", "global_batch": 128})"}},
  };
  return kinds;
}

TEST(Bands, HoldTheirPointAndAreOpenWhereComputeIsEstimated) {
  for (const auto& changes : all_kinds()) {
    SCOPED_TRACE(changes.empty() ? "as it is" : changes.front().pointer + " " + changes.front().value);
    const TrainingPoint point = point_with(changes);
    ASSERT_TRUE(point.bands);
    const Bands& bands = *point.bands;
    EXPECT_EQ(bands.probability, 0.8);
    EXPECT_LT(bands.compute.low, 1);
    EXPECT_GT(bands.compute.high, 1);
    EXPECT_TRUE(holds(bands.iteration, point.iteration.si()));
    EXPECT_TRUE(holds(bands.samples_per_second, point.samples_per_second));
    EXPECT_TRUE(holds(bands.scaling_efficiency, point.scaling_efficiency));
    EXPECT_LT(bands.iteration.low, bands.iteration.high);
  }
}

TEST(Bands, EndWhereTheJobDoesThatComputesSoMuchLongerByItself) {
  // What collectives take is found once for a point and both ends; an end by itself finds it anew.
  for (const auto& changes : all_kinds()) {
    SCOPED_TRACE(changes.empty() ? "as it is" : changes.front().pointer + " " + changes.front().value);
    const TrainingPoint point = point_with(changes);
    ASSERT_TRUE(point.bands);
    const auto source = std::ranges::find(point.bands->sources, of_compute_time, &BandSource::of);
    ASSERT_NE(source, point.bands->sources.end());
    Scenario scenario = read_scenario(test::changed(changes).root(), Catalogue());
    for (const auto& [compute, step] : {std::pair(point.bands->compute.low, source->iteration.low),
                                        std::pair(point.bands->compute.high, source->iteration.high)}) {
      scenario.workload.compute_stretch = compute;
      EXPECT_NEAR(train(scenario, nullptr).iteration / point.iteration / step, 1, 1e-12);
    }
  }
}

Scenario scenario_with(const std::vector<Change>& changes) {
  return read_scenario(test::changed(changes).root(), Catalogue());
}

TEST(Bands, EndByTheFirstIterationsWithinAPercentOfWhereTheyEndByAll) {
  for (const char* strategy : {R"({"kind": "horovod"})", R"({"kind": "ddp"})", R"({"kind": "fsdp"})"}) {
    Scenario scenario = scenario_with(
        {{"/strategy", strategy}, {"/measure/iterations", "40"}, {"/effects", R"({"step_jitter": "5 %"})"}});
    const TrainedPoint point = train(scenario, nullptr);
    EXPECT_NE(point.first_iterations, point.iteration);
    for (const double stretch : {0.8, 1.2}) {
      scenario.workload.compute_stretch = stretch;
      const Seconds by_all = train(scenario, nullptr).iteration;
      EXPECT_NEAR(train_beside(point, scenario).iteration / by_all, 1, 0.01) << strategy;
      EXPECT_NE(train_beside(point, scenario).iteration, by_all) << strategy;
    }
  }
}

TEST(Bands, EndByAllIterationsWhereMoreThanJitterDiffersFromOneToTheNext) {
  for (const Change& change : {Change{"/effects", R"({"input": {"storage_samples_per_second": 500}})"},
                               Change{"/effects", R"({"os_noise": {"period": "10 ms", "duration": "50 us"}})"},
                               Change{"/strategy", R"({"kind": "parameter_server"})"},
                               Change{"/strategy", R"({"kind": "local_sgd", "period": 4})"}}) {
    const TrainedPoint point = train(scenario_with({{"/measure/iterations", "20"}, change}), nullptr);
    EXPECT_EQ(point.first_iterations, point.iteration) << change.value;
  }
}

TEST(Bands, OfOneRankAreThoseOfItsCompute) {
  const TrainingPoint point = point_with({{"/platform/ranks", "1"}, {"/effects", R"({"step_jitter": "0 %"})"}});
  ASSERT_TRUE(point.bands);
  EXPECT_NEAR(point.bands->iteration.low, point.bands->compute.low * point.iteration.si(), 1e-12);
  EXPECT_NEAR(point.bands->iteration.high, point.bands->compute.high * point.iteration.si(), 1e-12);
  EXPECT_NEAR(point.bands->samples_per_second.low * point.bands->compute.high, point.samples_per_second, 1e-6);
  EXPECT_EQ(point.bands->scaling_efficiency.low, point.bands->scaling_efficiency.high);
}

TEST(Bands, OfTheSlowerComputeHideMoreCommunication) {
  const std::vector<Change> exposed{{"/platform/override", R"({"/node/nic/rate": "5 Gbit/s"})"},
                                    {"/workload/model", "vgg11"}};
  const TrainingPoint point = point_with(exposed);
  ASSERT_TRUE(point.bands);
  const Bands& bands = *point.bands;
  EXPECT_GT(bands.scaling_efficiency.high - bands.scaling_efficiency.low, 0.02);
  EXPECT_LT(bands.iteration.high / bands.iteration.low, bands.compute.high / bands.compute.low);
}

/// Compute that was measured, given or anchored at that batch has no band of its own.
void expect_the_simulators_error_alone(const TrainingPoint& point) {
  ASSERT_TRUE(point.bands) << point.compute_source;
  EXPECT_EQ(point.bands->compute.low, 1);
  EXPECT_EQ(point.bands->compute.high, 1);
  EXPECT_LT(point.bands->iteration.low, point.iteration.si());
  EXPECT_GT(point.bands->iteration.high, point.iteration.si());
}

TEST(Bands, OfComputeMeasuredAtThatBatchGivenOrAnchoredAreTheSimulatorsErrorAlone) {
  const std::vector<Change> measured{
      {"/workload", R"({"model": "vgg16", "variant": "tf_cnn_benchmarks", "batch_per_rank": 64})"},
      {"/platform/topology", "roce25-4xp100"},
      {"/platform/ranks", "8"}};
  const TrainingPoint point = point_with(measured);
  EXPECT_TRUE(point.compute_source.starts_with("measured")) << point.compute_source;
  expect_the_simulators_error_alone(point);
  auto other_batch = measured;
  other_batch.push_back({"/workload/batch_per_rank", "32"});
  EXPECT_LT(point_with(other_batch).bands->compute.low, 1);
  expect_the_simulators_error_alone(point_with({{"/workload/device_steps", R"([{"batch": 32, "time": "100 ms"}])"}}));
  EXPECT_LT(point_with({{"/workload/device_steps", R"([{"batch": 64, "time": "200 ms"}])"}}).bands->compute.low, 1);
  expect_the_simulators_error_alone(
      point_with({{"/workload/measured", R"([{"ranks": 4, "samples_per_second": 900}])"}, {"/platform/ranks", "8"}}));
}

TEST(Bands, OfARowThatIsTheUsersMeasurementAreNone) {
  for (const char* strategy : {R"({"kind": "ddp"})", R"({"kind": "fsdp"})"}) {
    const RunResult result = test::run({{"/strategy", strategy},
                                        {"/workload/measured", R"([{"ranks": 4, "samples_per_second": 900}])"},
                                        {"/sweep", R"({"/platform/ranks": [4, 8]})"}});
    EXPECT_FALSE(result.points.at(0).bands) << strategy;
    EXPECT_TRUE(result.points.at(1).bands) << strategy;
  }
}

TEST(Bands, OfAnEfficiencyAboveOneDoNotEndAtIt) {
  const TrainingPoint point =
      point_with({{"/strategy", R"({"kind": "local_sgd", "period": 4})"},
                  {"/effects", R"({"other_devices": [{"ranks": [0, 1, 2, 3], "speed": "200 %"}]})"}});
  ASSERT_GT(point.scaling_efficiency, 1);
  ASSERT_TRUE(point.bands);
  EXPECT_GT(point.bands->scaling_efficiency.high, point.scaling_efficiency);
}

TEST(Bands, ChangeNothingElseOfAPointAndAreLeftOutWhereTheyAreNotWanted) {
  for (const auto& changes : all_kinds()) {
    auto without = changes;
    without.push_back({"/measure/bands", "false"});
    Record with_bands = to_record(point_with(changes));
    const Record plain = to_record(point_with(without));
    EXPECT_TRUE(with_bands.contains("bands"));
    EXPECT_FALSE(plain.contains("bands"));
    for (const char* judged : {"bands", "compared_by"}) with_bands.erase(judged);
    EXPECT_EQ(with_bands, plain);
  }
  RunOptions none;
  none.bands = false;
  EXPECT_FALSE(point_with({}, none).bands);
}

TEST(Bands, AreTheSameFoldedAndUnfolded) {
  RunOptions unfolded;
  unfolded.folding = FoldingPolicy::never;
  const std::vector<Change> flow{{"/measure/fidelity", "flow"}};
  const Bands folded = *point_with(flow).bands;
  const Bands whole = *point_with(flow, unfolded).bands;
  EXPECT_NEAR(folded.iteration.low / whole.iteration.low, 1, 1e-9);
  EXPECT_NEAR(folded.iteration.high / whole.iteration.high, 1, 1e-9);
  EXPECT_NEAR(folded.scaling_efficiency.low / whole.scaling_efficiency.low, 1, 1e-9);
}

double cpu_seconds(const std::vector<Change>& changes) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    point_with(changes);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

TEST(Bands, CostLessThanThreeTimesThePointItself) {
  const Change long_run{"/measure/iterations", "3000"};
  const double plain = cpu_seconds({long_run, {"/measure/bands", "false"}});
  EXPECT_LT(cpu_seconds({long_run}) - plain, 3 * plain);
}

const Change a_run{"/run", R"({ "samples": 12800, "epochs": 3 })"};

TEST(Bands, OfCostsFollowThoseOfThroughput) {
  const TrainingPoint point = point_with({{"/economics", R"({"offer": "aws-p4d-spot"})"}, a_run});
  ASSERT_TRUE(point.bands && point.bands->cost && point.bands->cost->per_run);
  const Bands& bands = *point.bands;
  const double per_sample = point.cost->per_sample.si();
  EXPECT_TRUE(holds(bands.cost->per_sample, per_sample));
  EXPECT_TRUE(holds(*bands.cost->per_run, point.cost->per_run->si()));
  EXPECT_TRUE(holds(*bands.run, point.run->total.si()));
  // Rented by the hour, a sample costs what it takes.
  EXPECT_NEAR(bands.cost->per_sample.high / per_sample, point.samples_per_second / bands.samples_per_second.low, 1e-9);
  const auto compute = std::ranges::find(point.cost->sensitivity, "compute time", &CostSensitivity::input);
  ASSERT_NE(compute, point.cost->sensitivity.end());
  // What compute alone may change is less than what compute and the simulator's error may.
  EXPECT_GT(compute->at_low.si(), bands.cost->per_sample.low);
  EXPECT_LT(compute->at_high.si(), bands.cost->per_sample.high);
  EXPECT_LT(compute->at_low.si(), per_sample);
  EXPECT_GT(compute->at_high.si(), per_sample);
}

TEST(Bands, OfABreakEvenKeepWhatBothMachinesHaveInCommon) {
  // The same model on the same device: what its estimate is wrong by, it is wrong by there as well.
  const auto owned = [](const std::string& topology) {
    return point_with({{"/platform", R"({"topology": "dgx-a100", "ranks": 16})"},
                       {"/economics", R"({"offer": "dgx-a100-bought", "compare_with": {"offer": "aws-p4d-on-demand",
                                          "topology": ")" +
                                          topology + "\"}}"}});
  };
  const CostBands alike = *owned("aws-p4d").bands->cost;
  ASSERT_TRUE(alike.break_even_low && alike.break_even_high);
  EXPECT_LT(*alike.break_even_high - *alike.break_even_low, 0.1);
  EXPECT_LT(alike.per_sample_elsewhere->low, alike.per_sample_elsewhere->high);
  const CostBands apart = *owned("aws-p3.16xlarge").bands->cost;
  EXPECT_GT(apart.per_sample_elsewhere->high / apart.per_sample_elsewhere->low, 1.2);
}

TEST(Bands, OfABreakEvenHoldForEstimatesOnBothMachines) {
  const std::vector<Change> measured_here{
      {"/workload", R"({"model": "vgg16", "variant": "tf_cnn_benchmarks", "batch_per_rank": 64})"},
      {"/platform", R"({"topology": "roce25-4xp100", "ranks": 8})"},
      {"/economics", R"({"offer": "roce-p100-owned",
                         "compare_with": {"offer": "aws-p4d-on-demand", "topology": "aws-p4d"}})"}};
  const TrainingPoint point = point_with(measured_here);
  ASSERT_TRUE(point.bands && point.bands->cost && point.cost->comparison);
  const CostBands& cost = *point.bands->cost;
  EXPECT_EQ(point.bands->compute.low, point.bands->compute.high);
  EXPECT_LT(cost.per_sample.low, cost.per_sample.high);
  ASSERT_TRUE(cost.per_sample_elsewhere);
  EXPECT_LT(cost.per_sample_elsewhere->low, cost.per_sample_elsewhere->high);
  EXPECT_TRUE(holds(*cost.per_sample_elsewhere, point.cost->comparison->per_sample.si()));
  const auto share = point.cost->comparison->break_even_utilisation;
  if (share) {
    EXPECT_LE(*cost.break_even_low, *share);
    EXPECT_GE(cost.break_even_high.value_or(1), *share);
  }
  // In use for as long as that, a sample costs here what it costs there: the dearer there, the sooner it pays.
  auto estimated_here = measured_here;
  estimated_here[0] = {"/workload/model", "resnet18"};
  const TrainingPoint both = point_with(estimated_here);
  ASSERT_TRUE(both.bands && both.bands->cost);
  EXPECT_LT(both.bands->cost->per_sample.low, both.bands->cost->per_sample.high);
}

}}  // namespace farandole::bands_test
