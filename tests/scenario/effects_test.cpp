// Every effect, switched on alone in a scenario: what it does to the iteration and to the breakdown.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/effective_settings.hpp"
#include "scenario/scenario_kit.hpp"
#include "units/format.hpp"

namespace farandole::effects_test { namespace {

using testing::HasSubstr;

TrainingPoint with_effects(const std::string& effects, std::vector<test::Change> more = {}) {
  more.push_back({"/effects", effects});
  return test::run(more).points.at(0);
}

TrainingPoint ideal() {
  return test::run({}).points.at(0);
}

TEST(Effects, TheBreakdownSumsToTheIterationWithAllOfThemOn) {
  const TrainingPoint point = with_effects(R"({
    "device_spread": "2 %", "step_jitter": {"distribution": "gamma", "deviation": "3 %"},
    "straggler": [{"ranks": [1], "slowdown": "10 %"}, {"ranks": [2], "slowdown": "5 %"}],
    "other_devices": [{"ranks": [3], "speed": "80 %"}], "slow_links": {"nodes": [0], "rate": "50 %"},
    "os_noise": {"period": "10 ms", "duration": {"distribution": "exponential", "mean": "50 us", "deviation": "50 us"}},
    "communication_compute_share": "10 %",
    "input": {"storage_samples_per_second": 900, "prefetch": 2, "variation": "10 %"},
    "checkpoint": {"every_steps": 50, "rate": "1 GB/s"}
  })");
  EXPECT_NEAR(point.breakdown.total() / point.iteration, 1, 1e-12);
  EXPECT_GT(point.breakdown.straggler, 0_s);
  EXPECT_GT(point.breakdown.checkpoint, 0_s);
  EXPECT_LT(ideal().iteration, point.iteration);
}

TEST(Effects, ADeviceAtHalfTheSpeedTakesTwiceTheTime) {
  // What is not hidden behind the slow rank's backward pass hardly changes: iteration >= 2 x compute.
  const TrainingPoint point = with_effects(R"({"other_devices": [{"nodes": [1], "speed": "50 %"}]})");
  EXPECT_NEAR(point.breakdown.straggler / point.breakdown.compute, 1, 1e-9);
}

/// What takes one rank by itself t takes a rank of them t / 1.25.
TEST(Effects, SaysThatFasterDevicesAreWhyScalingIsMoreThanLinear) {
  const TrainingPoint point = with_effects(R"({"other_devices": [{"ranks": [0, 1, 2, 3], "speed": "125 %"}]})",
                                           {{"/platform/scale", R"({"rate": 1000, "latency": 0.001})"}});
  ASSERT_GT(point.scaling_efficiency, 1.1);
  EXPECT_THAT(point.notes, testing::ElementsAre(fmt::format("faster than linear scaling, since a rank computes its "
                                                            "part of a step in {} less than one by itself",
                                                            decimal(0.25 * point.breakdown.compute))));
}

TEST(Effects, ANodeWithAnotherDeviceIsAsSlowAsThatDevice) {
  const TrainingPoint k80 = with_effects(R"({"other_devices": [{"ranks": [0], "device": "k80"}]})");
  EXPECT_GT(k80.breakdown.straggler, k80.breakdown.compute);  // less than half the rate of the P100 it stands beside
}

TEST(Effects, ASlowLinkSlowsTheWholeRing) {
  const TrainingPoint slow = with_effects(R"({"slow_links": [{"links": "node2/nic0", "rate": "10 %"}]})");
  EXPECT_GT(slow.breakdown.exposed_communication, 2 * ideal().breakdown.exposed_communication);
  EXPECT_NEAR(slow.breakdown.straggler.si(), ideal().breakdown.straggler.si(), 1e-15);
}

TEST(Effects, StorageCapsTheRateOfAllRanksTogether) {
  const TrainingPoint point =
      with_effects(R"({"input": {"storage_samples_per_second": 100, "prefetch": 2}})", {{"/measure/warmup", "5"}});
  EXPECT_NEAR(point.samples_per_second, 100, 1e-6);
  EXPECT_GT(point.breakdown.input, 0.5 * point.iteration);
}

TEST(Effects, ACheckpointCostsItsPausePerIteration) {
  // 100 MB at 1 GB/s and 0.4 s to sync: 0.5 s every 50 steps.
  const TrainingPoint point =
      with_effects(R"({"checkpoint": {"every_steps": 50, "size": "100 MB", "rate": "1 GB/s", "latency": "0.4 s"}})");
  EXPECT_NEAR(point.breakdown.checkpoint.si(), 0.01, 1e-12);
  EXPECT_NEAR((point.iteration - ideal().iteration).si(), 0.01, 1e-12);
  EXPECT_EQ(point.iteration_p50, ideal().iteration_p50);
}

std::string share_on(const std::string& topology, int ranks, const std::vector<test::Change>& more = {}) {
  std::vector<test::Change> changes{{"/platform/topology", topology}, {"/platform/ranks", std::to_string(ranks)}};
  changes.insert(changes.end(), more.begin(), more.end());
  const Settings settings = effective_settings(read_scenario(test::changed(changes).root(), Catalogue()));
  const auto found = settings.find("effects.communication_compute_share");
  return found == settings.end() ? "none" : found->second;
}

TEST(Effects, WhatACollectiveTakesFollowsFromLibraryChannelsAndDevice) {
  // NCCL 2.10 on eight NICs lays eight rings twice: 16 of an A100's 108 multiprocessors.
  EXPECT_EQ(share_on("dgx-a100", 16), "14.81 %");
  // On one node over NVLink, 12 of them.
  EXPECT_EQ(share_on("dgx1-v100", 8), "15 %");
  EXPECT_EQ(share_on("dgx1-v100", 8, {{"/platform/override", R"({"/transport/channels": 4})"}}), "5 %");
  // One NIC: one ring, twice.
  EXPECT_EQ(share_on("dlperf-4x8v100", 16), "2.5 %");
  // A named algorithm is carried out by the machine's library.
  EXPECT_EQ(share_on("dgx-a100", 16, {{"/collectives", R"({"allreduce": "ring"})"}}), "14.81 %");
  // One of 64 cores calls MPI.
  EXPECT_EQ(share_on("theta", 4), "1.562 %");
  // MPI moves what GPUs computed on the host; nobody knows what carries out an algorithm without a library; servers
  // add up on hosts; one rank sends nothing.
  EXPECT_EQ(share_on("lab-star", 2), "none");
  EXPECT_EQ(share_on("ethernet-25g", 4), "none");
  EXPECT_EQ(share_on("dgx-a100", 16, {{"/strategy", R"({"kind": "parameter_server"})"}}), "none");
  EXPECT_EQ(share_on("dgx-a100", 1), "none");
}

/// Each stream has a communicator of NCCL's, whose kernels are on the device; threads of Gloo are on the host.
TEST(Effects, SeveralStreamsOfNcclTakeWhatOneDoesAndThreadsOfGlooNothing) {
  const auto with = [](const char* strategy) { return share_on("dgx-a100", 16, {{"/strategy", strategy}}); };
  EXPECT_EQ(with(R"({"kind": "horovod", "version": "0.21.0", "settings": {"HOROVOD_NUM_NCCL_STREAMS": "2"}})"),
            "14.81 %");
  EXPECT_EQ(with(R"({"kind": "ddp", "streams": 2})"), "none");
}

TEST(Effects, WhatACollectiveTakesIsSaidForEveryMachineWithNccl) {
  int machines = 0;
  for (const std::string& name : Catalogue().topologies()) {
    const std::vector<test::Change> changes{{"/platform/topology", name}, {"/platform/ranks", "2"}};
    const Scenario scenario = read_scenario(test::changed(changes).root(), Catalogue());
    if (!scenario.platform.platform.transport.library.starts_with("nccl")) continue;
    ++machines;
    EXPECT_GT(scenario.effects.communication_compute_share, 0) << name;
    EXPECT_LT(scenario.effects.communication_compute_share, 0.3) << name;
  }
  EXPECT_GT(machines, 15);
}

TEST(Effects, OfInputSayWhatBoundsItAndNothingOfWhatDoesNot) {
  const auto said = [](const std::string& input) {
    const auto document = test::changed({{"/effects", R"({"input": )" + input + "}"}});
    return effective_settings(read_scenario(document.root(), Catalogue())).at("effects.input");
  };
  EXPECT_EQ(said(R"({"storage_samples_per_second": 3868.13})"),
            "random, 0 B per sample, 3868.13 samples/s from storage, 0 decode workers, 1 batches ahead");
  EXPECT_EQ(said(R"({"sample_size": "1 MB", "storage_bandwidth": "2 GB/s"})"),
            "random, 1 MB per sample, 16 Gbit/s from storage, 0 decode workers, 1 batches ahead");
  EXPECT_EQ(said(R"({"decode_workers": 2, "decode_rate": 100})"),
            "random, 0 B per sample, 2 decode workers, 1 batches ahead");
}

std::string share_on_roce(const std::vector<test::Change>& more) {
  std::vector<test::Change> changes{{"/platform", R"({"topology": "roce25-4xp100", "ranks": 8})"}};
  changes.insert(changes.end(), more.begin(), more.end());
  const Settings settings = effective_settings(read_scenario(test::changed(changes).root(), Catalogue()));
  const auto found = settings.find("effects.communication_compute_share");
  return found == settings.end() ? "none" : found->second;
}

TEST(Effects, EveryChannelOfACollectiveKeepsAMultiprocessorBusyUnlessTheScenarioSaysOtherwise) {
  // The topology states two channels of NCCL on a P100: 2 / 56 = 3.57 %.
  EXPECT_EQ(share_on_roce({}), "3.571 %");
  EXPECT_EQ(share_on_roce({{"/effects", R"({"communication_compute_share": "1 %"})"}}), "1 %");
  EXPECT_EQ(share_on_roce({{"/effects", R"({"communication_compute_share": "0 %"})"}}), "none");
  EXPECT_EQ(share_on_roce({{"/strategy", R"({"kind": "parameter_server"})"}}), "none");
}

TEST(Effects, CollectivesThatTakeComputeLengthenTheBackwardPass) {
  // Without fusion most gradients travel while the device still computes.
  const std::vector<test::Change> overlapping{{"/strategy/fusion_threshold", "0 B"}};
  const TrainingPoint plain = test::run(overlapping).points[0];
  const TrainingPoint point = with_effects(R"({"communication_compute_share": "30 %"})", overlapping);
  EXPECT_GT(point.breakdown.other, 0_s);
  EXPECT_GE(point.iteration, plain.iteration);
  EXPECT_NEAR(point.breakdown.straggler.si(), 0, 1e-12);
  EXPECT_EQ(plain.breakdown.other, 0_s);
}

TEST(Effects, TwoDevicesOfABoardSlowEachOtherAndALoneOneDoesNot) {
  const std::vector<test::Change> k80{
      {"/platform/topology", "roce25-4xp100"},
      {"/platform/override", R"({"/node/device": "k80", "/node/measurements": "tf-2017-05-aws"})"}};
  auto pair = k80;
  pair.push_back({"/platform/ranks", "2"});
  EXPECT_NEAR(with_effects(R"({"device_spread": "0 %", "step_jitter": "0 %", "shared_board": "20 %"})", pair)
                      .breakdown.straggler /
                  with_effects(R"({"device_spread": "0 %", "step_jitter": "0 %", "shared_board": "20 %"})", pair)
                      .breakdown.compute,
              0.2, 1e-9);
  auto apart = k80;
  apart.push_back({"/platform/launch", "horovodrun -np 2 -H a:1,b:1 python t.py"});
  Document document = test::changed(apart);
  document.set("/platform", R"({"topology": "roce25-4xp100", "launch": "horovodrun -np 2 -H a:1,b:1 python t.py",
                "override": {"/node/device": "k80", "/node/measurements": "tf-2017-05-aws"}})");
  document.set("/effects", R"({"device_spread": "0 %", "step_jitter": "0 %", "shared_board": "20 %"})");
  EXPECT_NEAR(run_document(document, Catalogue(), {}).points[0].breakdown.straggler.si(), 0, 1e-12);
}

/// Four workers whose exchange goes on beside the next step, each with jitter of its own.
double efficiency_of_overlapping_workers(int seed, int iterations) {
  return test::run({{"/strategy", R"({"kind": "diloco", "inner_steps": 2, "fragments": 2, "overlap_steps": 1})"},
                    {"/platform/topology", "ethernet-100g"},
                    {"/effects", R"({"step_jitter": "3 %"})"},
                    {"/measure/iterations", std::to_string(iterations)},
                    {"/measure/seed", std::to_string(seed)}})
      .points.at(0)
      .scaling_efficiency;
}

TEST(Effects, WorkersThatDoNotWaitAsMeasuringBeginsMayBeFasterThanOneForAShortWhileOnly) {
  double most = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    const double in_short = efficiency_of_overlapping_workers(seed, 2);
    most = std::max(most, in_short);
    EXPECT_LT(in_short, 1 + 4 * 0.03) << seed;  // four deviations of a step, over one step or more
    EXPECT_LE(efficiency_of_overlapping_workers(seed, 200), 1 + 4 * 0.03 / 200) << seed;
  }
  EXPECT_GT(most, 1);
}

TEST(Effects, SeveralSeedsArePooled) {
  const std::string jitter = R"({"step_jitter": "5 %"})";
  const TrainingPoint both = with_effects(jitter, {{"/measure/seeds", "2"}});
  const Seconds one = with_effects(jitter).iteration;
  const Seconds two = with_effects(jitter, {{"/measure/seed", "2"}}).iteration;
  EXPECT_NEAR(both.iteration.si(), ((one + two) / 2).si(), 1e-12);
  EXPECT_LE(both.iteration_p50, both.iteration_p95);
}

TEST(Effects, BadValuesAreRefusedInPlace) {
  const auto error = [](const std::string& effects) { return test::error_of({{"/effects", effects}}); };
  EXPECT_THAT(error(R"({"step_jitter": {"distribution": "gaussian", "deviation": "2 %"}})"),
              HasSubstr("/effects/step_jitter/distribution: expected a distribution"));
  EXPECT_THAT(error(R"({"step_jitter": {"distribution": "uniform", "deviation": "90 %"}})"),
              HasSubstr("at most 50 % of the mean"));
  EXPECT_THAT(error(R"({"os_noise": {"period": "10 MB", "duration": "1 us"}})"), HasSubstr("/effects/os_noise/period"));
  EXPECT_THAT(error(R"({"other_devices": [{"ranks": [1]}]})"), HasSubstr("either a \"speed\" or a \"device\""));
  EXPECT_THAT(test::error_of({{"/platform/topology", R"("dgx-h100")"},
                              {"/workload/precision", R"("bf16")"},
                              {"/effects", R"({"other_devices": [{"ranks": [1], "device": "v100"}]})"}}),
              HasSubstr("/effects/other_devices/0/device: expected a device with a rate for bf16, got \"v100\""));
  EXPECT_THAT(error(R"({"straggler": {"ranks": [1, 2, 1], "slowdown": "10 %"}})"),
              HasSubstr("/effects/straggler/ranks/2: expected a number that the list does not have yet, got 1"));
  EXPECT_THAT(error(R"({"slow_links": {"nodes": [0, 0], "rate": "50 %"}})"), HasSubstr("/effects/slow_links/nodes/1"));
  const std::string slow = R"({"ranks": [1], "slowdown": "10000 %"})";
  EXPECT_EQ(error(fmt::format(R"({{"straggler": [{0}, {0}]}})", slow)), "no error");
  EXPECT_THAT(
      error(fmt::format(R"({{"straggler": [{0}, {0}, {0}]}})", slow)),
      HasSubstr("/effects/straggler: expected ranks at most 1000000 times slower in all, got rank 1, 1.03e+06"));
  EXPECT_THAT(error(R"({"slow_links": {"links": "nod2"}})"),
              HasSubstr("the beginning of a link's name, such as \"node0/nic"));
  EXPECT_THAT(error(R"({"shared_board": true})"), HasSubstr("says nothing of one"));
  EXPECT_THAT(error(R"({"input": {"storage_bandwidth": "1 GB/s"}})"), HasSubstr("sample_size"));
  EXPECT_THAT(error(R"({"input": {"acess": "random"}})"), HasSubstr("did you mean \"access\"?"));
  EXPECT_THAT(error(R"({"checkpoint": {"rate": "1 GB/s"}})"),
              HasSubstr("either \"every\" (a time) or \"every_steps\""));
  EXPECT_THAT(error(R"({"communication_compute_share": "100 %"})"), HasSubstr("below 100 %"));
}

}}  // namespace farandole::effects_test
