// From a document to result points.
#include "scenario/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"
#include "support/source_folder.hpp"

namespace farandole::run_test { namespace {

using testing::ElementsAre;

TEST(Run, TheProductOfAllAxesIsRunLastAxisFastest) {
  const RunResult result =
      test::run({{"/sweep", R"({"/workload/model": ["resnet18", "alexnet"], "/platform/ranks": [1, 2]})"}});
  std::vector<std::pair<std::string, int>> seen;
  for (const TrainingPoint& point : result.points) seen.emplace_back(point.model, point.ranks);
  using Pair = std::pair<std::string, int>;
  EXPECT_THAT(seen, ElementsAre(Pair{"resnet18", 1}, Pair{"resnet18", 2}, Pair{"alexnet", 1}, Pair{"alexnet", 2}));
}

TEST(Run, OneRankScalesPerfectlyByDefinition) {
  EXPECT_DOUBLE_EQ(test::run({{"/platform/ranks", "1"}}).points[0].scaling_efficiency, 1);
}

TEST(Run, ThroughputIsRanksTimesBatchOverIteration) {
  const TrainingPoint point = test::run({}).points[0];
  EXPECT_DOUBLE_EQ(point.samples_per_second, 4 * 32 / point.iteration.si());
}

TEST(Run, TheSameSeedGivesTheSameBytesAndAnotherDoesNot) {
  const std::vector<test::Change> jitter{{"/effects", R"({"step_jitter": "2 %"})"}};
  auto other = jitter;
  other.push_back({"/measure/seed", "2"});
  EXPECT_EQ(test::run(jitter).points[0].iteration, test::run(jitter).points[0].iteration);
  EXPECT_NE(test::run(jitter).points[0].iteration, test::run(other).points[0].iteration);
}

TEST(Run, AllFidelitiesAgreeWhereNoLinkIsShared) {
  RunOptions all;
  all.fidelities = {Fidelity::analytic, Fidelity::flow, Fidelity::message};
  const RunResult result = test::run({{"/effects", R"({"step_jitter": "1 %", "device_spread": "2 %"})"}}, all);
  ASSERT_EQ(result.points.size(), 3U);
  EXPECT_NEAR(result.points[1].iteration / result.points[0].iteration, 1, 1e-9);
  EXPECT_NEAR(result.points[2].iteration / result.points[0].iteration, 1, 1e-9);
}

TEST(Run, FoldsRanksThatAreAlikeUnlessToldNotTo) {
  RunOptions message;
  message.fidelities = {Fidelity::message};
  const TrainingPoint folded = test::run({}, message).points[0];
  message.folding = FoldingPolicy::never;
  const TrainingPoint unfolded = test::run({}, message).points[0];
  EXPECT_TRUE(folded.folded);
  EXPECT_FALSE(unfolded.folded);
  EXPECT_NEAR(folded.iteration / unfolded.iteration, 1, 1e-12);
}

TEST(Run, DoesNotFoldMessagesOfRanksThatJitter) {
  RunOptions message;
  message.fidelities = {Fidelity::message};
  EXPECT_FALSE(test::run({{"/effects", R"({"step_jitter": "1 %"})"}}, message).points[0].folded);
}

TEST(Run, AStragglerSlowsEveryIteration) {
  const Seconds plain = test::run({}).points[0].iteration;
  const TrainingPoint slowed =
      test::run({{"/effects", R"({"straggler": {"ranks": [2], "slowdown": "50 %"}})"}}).points[0];
  EXPECT_GT(slowed.iteration, plain * 1.2);
  EXPECT_GT(slowed.breakdown.straggler, slowed.iteration * 0.2);
}

TEST(Run, AFasterNetworkNeverHurts) {
  const Seconds slow = test::run({{"/platform/topology", "ethernet-10g"}}).points[0].iteration;
  const Seconds fast = test::run({{"/platform/topology", "ethernet-100g"}}).points[0].iteration;
  EXPECT_LT(fast, slow);
}

TEST(Run, TopologyValuesMayBeOverriddenForAWhatIf) {
  const Seconds as_named = test::run({{"/platform/topology", "ethernet-100g"}}).points[0].iteration;
  const Seconds overridden =
      test::run({{"/platform/override", R"({"/node/nic/rate": "100 Gbit/s"})"}}).points[0].iteration;
  EXPECT_EQ(as_named, overridden);
}

TEST(Run, ALaunchLineSetsRanksPlacementAndHorovodsSettings) {
  Document document = test::changed({});
  document.set("/platform", R"({"topology": "roce25-4xp100"})");
  document.set(
      "/platform/launch",
      "mpirun -np 6 -H server1:4,server2:2 -bind-to none -map-by slot \\\n -x HOROVOD_FUSION_THRESHOLD=1048576 "
      "-x NCCL_DEBUG=INFO -mca pml ob1 python train.py");
  const RunResult result = run_document(document, Catalogue(), {});
  EXPECT_EQ(result.points[0].ranks, 6);
  EXPECT_EQ(result.points[0].nodes, 2);
  EXPECT_EQ(result.settings.at("horovod.fusion_threshold"), "1 MiB");
  EXPECT_FALSE(result.ignored.empty());
}

TEST(Run, APlacementChoosesNodesForALaunchLine) {
  Document document = test::changed({});
  document.set("/platform", R"({"topology": "roce25-4xp100", "launch": "aprun -n 6 -N 2 train",
                                "placement": {"nodes": "random", "seed": 3}})");
  EXPECT_EQ(run_document(document, Catalogue(), {}).points[0].nodes, 3);
  EXPECT_THAT(test::error_of({{"/platform/placement", "randm"}}), testing::HasSubstr("did you mean \"random\"?"));
}

TEST(Run, AHostRunsAheadOfAGpuAndNotOfACpu) {
  EXPECT_EQ(test::run({}).settings.at("workload.host_dispatch"), "10 us");
  const RunResult cpu = test::run({{"/platform/override", R"({"/node/device": "knl7230"})"}});
  EXPECT_EQ(cpu.settings.at("workload.host_dispatch"), "ready");
}

TEST(Run, SettingsListWhatTheResultDependsOn) {
  const RunResult result = test::run({{"/measure/fidelity", "flow"}});
  for (const char* key : {"horovod.cycle_time", "effects.step_jitter", "simgrid.version", "measure.seed"}) {
    EXPECT_TRUE(result.settings.contains(key)) << key;
  }
}

TEST(Run, RecordsNoTimelineBecauseAScenarioNamesAFileForIt) {
  const RunResult result = test::run({{"/strategy/settings", R"({"HOROVOD_TIMELINE": "t.json"})"}});
  EXPECT_EQ(result.timeline, nullptr);
  EXPECT_THAT(result.ignored, testing::ElementsAre("HOROVOD_TIMELINE (not written; --timeline FILE writes it)"));
}

// Every message of three networks on up to 64 ranks: some seconds, and the reason why `message` is not the default.
TEST(SlowRun, TheHorovodPictureIsTheSameAtAllFidelitiesUpTo64Ranks) {
  Document document = Document::read(test::source_folder() / "scenarios/horovod-512-roce25.json");
  document.set("/sweep/~1platform~1ranks", "[1, 4, 16, 64]");
  RunOptions all;
  all.fidelities = {Fidelity::analytic, Fidelity::flow, Fidelity::message};
  const RunResult result = run_document(document, Catalogue(), all);
  ASSERT_EQ(result.points.size(), 36U);
  for (std::size_t i = 0; i < result.points.size(); i += 3) {
    const Seconds message = result.points[i + 2].iteration;
    EXPECT_NEAR(result.points[i].iteration / message, 1, 1e-6) << result.points[i].model << result.points[i].ranks;
    EXPECT_NEAR(result.points[i + 1].iteration / message, 1, 1e-6) << result.points[i].model << result.points[i].ranks;
  }
}

}}  // namespace farandole::run_test
