#include "scenario/anchor.hpp"

#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::anchor_test { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Changes = std::vector<test::Change>;

// DDP, of which an iteration is nearly always a continuous function of the device's time; Horovod's cycles make it
// jump.
const test::Change strategy{"/strategy", R"({"kind": "ddp"})"};

Changes with(Changes changes, const std::string& rows) {
  changes.push_back(strategy);
  changes.push_back({"/workload/measured", rows});
  return changes;
}

TrainingPoint point(const Changes& changes) {
  return test::run(changes).points.at(0);
}

Changes at(int ranks, int batch) {
  return {strategy, {"/platform/ranks", std::to_string(ranks)}, {"/workload/batch_per_rank", std::to_string(batch)}};
}

TEST(Anchor, TheRunThatWasMeasuredIsPredictedAsItWasMeasured) {
  for (const double rate : {100.0, 400.0, 1000.0}) {
    const auto rows = fmt::format(R"([{{"ranks": 4, "batch_per_rank": 32, "samples_per_second": {}}}])", rate);
    EXPECT_NEAR(point(with({}, rows)).samples_per_second / rate, 1, 1e-5);
  }
}

void expect_as_measured(const std::vector<const char*>& kinds, const std::vector<int>& ranks) {
  for (const char* kind : kinds) {
    for (const int n : ranks) {
      const Changes job{{"/strategy", kind},
                        {"/workload", R"({"model": "gpt2_small", "batch_per_rank": 1, "optimizer": "adam"})"},
                        {"/platform", fmt::format(R"({{"topology": "dgx-a100", "ranks": {}}})", n)},
                        {"/measure/iterations", "2"},
                        {"/measure/bands", "false"}};
      const double measured = 1.1 * point(job).iteration.si();
      Changes anchored = job;
      anchored.push_back(
          {"/workload/measured", fmt::format(R"([{{"ranks": {}, "iteration_seconds": {:.17g}}}])", n, measured)});
      EXPECT_NEAR(point(anchored).iteration.si() / measured, 1, 1e-9) << kind << " of " << n;
    }
  }
}

/// A rank of FSDP or ZeRO updates its share, so the device alone takes longer than the step.
TEST(Anchor, AStepThatIsShorterThanTheDevicesIsReproduced) {
  expect_as_measured({R"({"kind": "fsdp"})", R"({"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP"})",
                      R"({"kind": "zero", "stage": 1})", R"({"kind": "zero", "stage": 3})"},
                     {8});
}

/// Where another collective comes first the step jumps (of the first job from 19.4 ms to 19.8); Horovod's does at every
/// cycle. The update takes what is missing.
TEST(Anchor, AStepInAGapOfTheSimulatedOnesIsReproduced) {
  const Changes hybrid{{"/workload", R"({"model": "vit_l_16", "batch_per_rank": 1})"},
                       {"/platform", R"({"topology": "hgx-h200", "ranks": 12})"},
                       {"/strategy", R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 2})"},
                       {"/measure", R"({"seed": 25, "iterations": 6, "warmup": 1, "bands": false})"}};
  const Changes horovod{{"/measure", R"({"iterations": 4, "warmup": 1, "bands": false})"}};
  for (const Changes& job : {hybrid, horovod}) {
    const Seconds own = point(job).iteration;
    for (const double times : {0.87, 0.88, 0.9, 1.03, 1.2}) {
      const double measured = times * own.si();
      Changes anchored = job;
      anchored.push_back({"/workload/measured", fmt::format(R"([{{"iteration_seconds": {:.17g}}}])", measured)});
      EXPECT_NEAR(point(anchored).iteration.si() / measured, 1, 1e-9) << times;
    }
  }
}

/// Workers that do not wait meet in another order: no update of the server makes up for what is missing.
TEST(Anchor, AStepThatNoUpdateReachesIsRefused) {
  const Changes job{{"/workload", R"({"model": "gpt2_small", "batch_per_rank": 1,
                                      "measured": [{"iteration_seconds": 0.19491166601653884}]})"},
                    {"/platform", R"({"topology": "polaris", "ranks": 16})"},
                    {"/strategy", R"({"kind": "parameter_server", "accumulation": 2, "colocated": true,
                                      "mode": "asynchronous"})"},
                    {"/measure", R"({"seed": 63, "iterations": 4, "warmup": 1, "bands": false,
                                     "fidelity": "analytic"})"}};
  EXPECT_THROW(point(job), InputError);
}

TEST(SlowAnchor, OfEveryStrategyOneToAThousandRanksAreAsTheyWereMeasured) {
  expect_as_measured(
      {R"({"kind": "horovod", "version": "0.21.0"})", R"({"kind": "ddp"})", R"({"kind": "fsdp"})",
       R"({"kind": "fsdp", "offload_optimizer": true})", R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD"})",
       R"({"kind": "zero", "stage": 2})", R"({"kind": "zero", "stage": 3, "accumulation": 4})",
       R"({"kind": "allgather"})", R"({"kind": "local_sgd", "period": 4})", R"({"kind": "diloco", "inner_steps": 2})",
       R"({"kind": "parameter_server"})", R"({"kind": "parameter_server", "mode": "asynchronous"})"},
      {1, 8, 1024});
}

TEST(Anchor, AnIterationTimeSaysTheSameAsARate) {
  const TrainingPoint one = point(with({}, R"([{"ranks": 4, "batch_per_rank": 32, "samples_per_second": 256}])"));
  const TrainingPoint other = point(with({}, R"([{"ranks": 4, "batch_per_rank": 32, "iteration_seconds": 0.5}])"));
  EXPECT_DOUBLE_EQ(one.iteration.si(), other.iteration.si());
}

/// A run of a program that fuses says of the device what a program that does not takes longer by.
TEST(Anchor, ARunOfAProgramThatNormalisesElsewhereIsConverted) {
  const auto rows = [](const char* kind) {
    return fmt::format(R"([{{"ranks": 1, "batch_per_rank": 32, "iteration_seconds": 0.25, "normalisation": "{}"}}])",
                       kind);
  };
  const auto iteration = [&](const char* run, const char* asked) {
    Changes changes = at(1, 32);
    changes.push_back({"/workload/normalisation", fmt::format("\"{}\"", asked)});
    return point(with(changes, rows(run))).iteration.si();
  };
  EXPECT_NEAR(iteration("in_convolution", "in_convolution"), 0.25, 1e-6);
  EXPECT_GT(iteration("in_convolution", "separate"), 0.251);
  EXPECT_LT(iteration("separate", "in_convolution"), 0.249);
  EXPECT_NEAR(point(with(at(1, 32), rows("in_convolution"))).iteration.si(), 0.25, 1e-6);
}

TEST(Anchor, RunsOfSeveralProgramsAreRefused) {
  EXPECT_THAT(
      [] {
        point(with({}, R"([{"ranks": 1, "iteration_seconds": 0.25, "normalisation": "in_convolution"},
                                      {"ranks": 2, "iteration_seconds": 0.26}])"));
      },
      ::testing::ThrowsMessage<InputError>(HasSubstr("the \"normalisation\" of the first run")));
}

/// A step of p passes communicates once: what p passes leave of a rate is not a property of the device.
TEST(Anchor, ARunMayHaveAddedUpOtherNumbersOfPassesThanTheScenario) {
  const std::string rows = R"([{"ranks": 4, "batch_per_rank": 32, "accumulation": 8, "samples_per_second": 400}])";
  Changes same = with({}, rows);
  same.push_back({"/strategy/accumulation", "8"});
  const TrainingPoint eight = point(same);
  EXPECT_NEAR(eight.samples_per_second / 400, 1, 1e-5);
  const TrainingPoint one = point(with({}, rows));
  EXPECT_LT(one.samples_per_second, 400 * (1 - 1e-3));  // communicates eight times as often
  ASSERT_TRUE(one.anchoring);
  EXPECT_NEAR(one.anchoring->steps.at(0).time / eight.anchoring->steps.at(0).time, 1, 1e-5);
}

/// However many passes a step has: two million samples at 400 a second.
TEST(Anchor, APassIsASmallShareOfAStepOfManyPasses) {
  const TrainingPoint many =
      point(with({}, R"([{"ranks": 1, "batch_per_rank": 32, "accumulation": 65536, "samples_per_second": 400}])"));
  ASSERT_TRUE(many.anchoring);
  const double pass = 32 / 400.0;
  EXPECT_GT(many.anchoring->steps.at(0).time.si(), pass);  // and the update, once in 65,536 passes
  EXPECT_LT(many.anchoring->steps.at(0).time.si(), 1.1 * pass);
}

TEST(Anchor, ARunOfOneRankIsTheDevicesTime) {
  const TrainingPoint result = point(with(at(1, 32), R"([{"ranks": 1, "iteration_seconds": 0.25}])"));
  ASSERT_TRUE(result.anchoring);
  EXPECT_NEAR(result.anchoring->steps.at(0).time.si(), 0.25, 1e-6);
  EXPECT_FALSE(result.anchoring->fixed);
}

/// Whatever the device takes, a run simulated with it gives it back, at any ranks and however many nodes.
TEST(Anchor, WhatIsInferredIsWhatTheSimulationWasGiven) {
  for (const int ranks : {1, 4, 32}) {
    for (const char* time : {"40 ms", "300 ms", "2 s"}) {
      const auto steps = fmt::format(R"([{{"batch": 32, "time": "{}"}}])", time);
      Changes given = at(ranks, 32);
      given.push_back({"/workload/device_steps", steps});
      const TrainingPoint truth = point(given);
      const auto rows = fmt::format(R"([{{"ranks": {}, "iteration_seconds": {:.12g}}}])", ranks, truth.iteration.si());
      const TrainingPoint back = point(with(at(64, 32), rows));
      Changes far = at(64, 32);
      far.push_back({"/workload/device_steps", steps});
      EXPECT_NEAR(back.iteration / point(far).iteration, 1, 1e-4) << ranks << " " << time;
    }
  }
}

TEST(Anchor, TwoBatchesAlsoSayWhatDoesNotDependOnTheBatch) {
  const TrainingPoint result = point(with(at(1, 64), R"([{"ranks": 1, "batch_per_rank": 32, "iteration_seconds": 0.1},
                                                         {"ranks": 1, "batch_per_rank": 96, "iteration_seconds": 0.26}])"));
  ASSERT_TRUE(result.anchoring && result.anchoring->fixed && result.anchoring->per_sample);
  EXPECT_NEAR(result.anchoring->per_sample->si(), 0.0025, 1e-6);  // 0.16 s for 64 samples
  EXPECT_NEAR(result.anchoring->fixed->si(), 0.02, 1e-5);
  EXPECT_NEAR(result.iteration.si(), 0.18, 1e-5);
}

TEST(Anchor, TheResultSaysThatItIsAnchoredAndOnWhat) {
  const TrainingPoint result = point(with({}, R"([{"nodes": 4, "samples_per_second": 400}])"));
  EXPECT_THAT(result.compute_source,
              AllOf(StartsWith("anchored: 400 samples/s of 4 ranks, batch 32; one device alone takes "),
                    HasSubstr("for 32 samples")));
}

TEST(Anchor, ARateThatNoDeviceTimeExplainsIsRefusedWithTheOneThatWould) {
  EXPECT_THAT(test::error_of(with({}, R"([{"ranks": 4, "samples_per_second": 1e9}])")),
              AllOf(HasSubstr("/workload/measured/0: expected at most "), HasSubstr("without any computation"),
                    HasSubstr("1e+09 samples/s of 4 ranks, batch 32")));
}

TEST(Anchor, RunsOfOneBatchThatNeedDifferentDevicesContradictOneAnother) {
  EXPECT_THAT(
      test::error_of(with({}, R"([{"ranks": 1, "iteration_seconds": 0.2}, {"ranks": 4, "iteration_seconds": 0.5}])")),
      AllOf(HasSubstr("/workload/measured/1: expected about "), HasSubstr("\"200 ms of 1 rank, batch 32\"")));
}

/// Devices have what the fewest ranks say; what others take beside is the job's bias, straight over doublings of ranks
/// between them and constant beyond.
TEST(Anchor, RunsOfOneBatchOnSeveralNumbersOfRanksAreAllReproduced) {
  std::string rows;
  std::map<int, double> measured;
  for (const auto& [ranks, more] : {std::pair{16, 1.3}, {2, 1.3}, {8, 1.36}}) {
    measured[ranks] = more * point(at(ranks, 32)).iteration.si();
    rows += fmt::format(R"({}{{"ranks": {}, "batch_per_rank": 32, "iteration_seconds": {:.17g}}})",
                        rows.empty() ? "" : ",", ranks, measured[ranks]);
  }
  for (const auto& [ranks, seconds] : measured) {
    EXPECT_NEAR(point(with(at(ranks, 32), "[" + rows + "]")).iteration.si() / seconds, 1, 1e-9) << ranks;
  }
  const auto workload =
      read_scenario(anchored(test::changed(with(at(8, 32), "[" + rows + "]")), Catalogue()).root(), Catalogue())
          .workload;
  EXPECT_EQ(workload.beside(1), 1);
  EXPECT_EQ(workload.beside(2), 1);
  EXPECT_GT(workload.beside(8), 1.01);
  EXPECT_NEAR(workload.beside(4), (1 + workload.beside(8)) / 2, 1e-12);
  EXPECT_NEAR(workload.beside(12), workload.beside(8) + std::log2(1.5) * (workload.beside(16) - workload.beside(8)),
              1e-12);
  EXPECT_EQ(workload.beside(4096), workload.beside(16));
}

/// The device alone takes what the fewest ranks say, and so scaling loses what more of them take beside.
TEST(Anchor, WhatMoreRanksTakeBesideIsLostToScaling) {
  const double one = 1.2 * point(at(1, 32)).iteration.si();
  const double four = 1.06 * 1.2 * point(at(4, 32)).iteration.si();
  const auto rows = fmt::format(R"([{{"ranks": 1, "batch_per_rank": 32, "iteration_seconds": {:.17g}}},
                                    {{"ranks": 4, "batch_per_rank": 32, "iteration_seconds": {:.17g}}}])",
                                one, four);
  EXPECT_NEAR(point(with(at(4, 32), rows)).scaling_efficiency, one / four, 1e-3);
}

TEST(Anchor, ALargerBatchTakesLongerButASampleOfItDoesNot) {
  const auto rows = [](double seconds) {
    return fmt::format(R"([{{"ranks": 1, "batch_per_rank": 32, "iteration_seconds": 0.2}},
                           {{"ranks": 1, "batch_per_rank": 64, "iteration_seconds": {}}}])",
                       seconds);
  };
  for (const double impossible : {0.19, 0.5}) {
    EXPECT_THAT(test::error_of(with({}, rows(impossible))),
                AllOf(HasSubstr("/workload/measured/1: expected less than 320 samples/s"),
                      HasSubstr("at least 160 samples/s")));
  }
  EXPECT_EQ(test::error_of(with({}, rows(0.39))), "no error");
}

TEST(Anchor, ASweepKeepsItForTheModelThatWasMeasuredAndForNoOther) {
  const RunResult result = test::run(with({{"/sweep", R"({"/workload/model": ["resnet18", "alexnet"]})"}},
                                          R"([{"ranks": 4, "samples_per_second": 400}])"));
  EXPECT_TRUE(result.points.at(0).anchoring);
  EXPECT_FALSE(result.points.at(1).anchoring);
  EXPECT_THAT(result.points.at(1).compute_source, Not(StartsWith("anchored")));
}

TEST(Anchor, ASweptNetworkLeavesTheDeviceAsItWasInferredOnTheScenariosOwn) {
  const std::string row = R"([{"ranks": 4, "samples_per_second": 400}])";
  const RunResult result =
      test::run(with({{"/sweep", R"({"/platform/topology": ["ethernet-25g", "ethernet-100g"]})"}}, row));
  ASSERT_TRUE(result.points.at(0).anchoring && result.points.at(1).anchoring);
  EXPECT_EQ(result.points.at(0).anchoring->steps.at(0).time, result.points.at(1).anchoring->steps.at(0).time);
  EXPECT_LT(result.points.at(1).iteration, result.points.at(0).iteration);
}

TEST(Anchor, ARowSaysARateOrATimeAndNotBoth) {
  for (const char* row : {R"([{"ranks": 4}])", R"([{"ranks": 4, "iteration_seconds": 1, "samples_per_second": 2}])"}) {
    EXPECT_THAT(test::error_of(with({}, row)), HasSubstr("expected either \"samples_per_second\" or"));
  }
  EXPECT_THAT(test::error_of(with({}, R"([{"ranks": 4, "nodes": 3, "iteration_seconds": 1}])")),
              HasSubstr("expected 4 nodes, on which 4 ranks are placed"));
}

TEST(Anchor, GivenStepsOfADeviceAreTakenAsTheyAre) {
  const TrainingPoint result =
      point({{"/platform/ranks", "1"}, {"/workload/device_steps", R"([{"batch": 32, "time": "0.3 s"}])"}});
  EXPECT_NEAR(result.iteration.si(), 0.3, 1e-9);
  EXPECT_EQ(result.compute_source, "given: the time of one device");
  EXPECT_FALSE(result.anchoring);
}

}}  // namespace farandole::anchor_test
