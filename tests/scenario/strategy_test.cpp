// Every strategy from a scenario's text to a result point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole::strategy_test { namespace {

using testing::HasSubstr;

TrainingPoint point_of(const std::string& strategy, const std::string& ranks = "4") {
  return test::run({{"/strategy", strategy}, {"/platform/ranks", ranks}}).points.front();
}

TEST(Strategy, EveryRowOfTheCatalogueRunsWithItsDefaults) {
  for (const StrategyRow& row : strategies()) {
    const TrainingPoint point = point_of(R"({"kind": ")" + row.name + "\"}", row.name == "single" ? "1" : "4");
    EXPECT_EQ(point.strategy, row.name);
    EXPECT_EQ(point.mode, "synchronous");
    EXPECT_NEAR(point.breakdown.total() / point.iteration, 1, 1e-9) << row.name;
    EXPECT_GT(point.samples_per_second, 0);
    EXPECT_THAT(row.description, HasSubstr("Settings of \"strategy\" in a scenario:")) << row.name;
  }
}

TEST(Strategy, WithoutABarrierThePointNamesItsModeAndStaleness) {
  const TrainingPoint point = point_of(R"({"kind": "parameter_server", "mode": "asynchronous"})");
  EXPECT_EQ(point.mode, "asynchronous");
  EXPECT_EQ(point.algorithm, "dedicated");
  EXPECT_GT(point.mean_staleness, 0);
}

TEST(Strategy, ServersMayBeOnePerNodeHoweverManyThereAre) {
  const auto seconds = [](const std::string& servers) {
    return point_of(R"({"kind": "distributed_replicated", "colocated": true, "servers": )" + servers + "}").iteration;
  };
  EXPECT_EQ(seconds(R"("one per node")"), seconds("4"));
  EXPECT_THAT(test::error_of({{"/strategy", R"({"kind": "parameter_server", "servers": "two"})"}}),
              HasSubstr("a number of servers or \"one per node\""));
}

TEST(Strategy, AccumulationCountsTheSamplesOfAllPasses) {
  const TrainingPoint point = point_of(R"({"kind": "ddp", "accumulation": 3})");
  EXPECT_DOUBLE_EQ(point.samples_per_second, 3 * 4 * 32 / point.iteration.si());
  EXPECT_LE(point.scaling_efficiency, 1);
  EXPECT_GT(point.scaling_efficiency, point_of(R"({"kind": "ddp"})").scaling_efficiency);
}

TEST(Strategy, CompressionOnASlowNetworkIsFaster) {
  const auto seconds = [](const std::string& compression) {
    return point_of(R"({"kind": "horovod", "compression": ")" + compression + "\"}").iteration;
  };
  EXPECT_LT(seconds("fp16"), seconds("none"));
  EXPECT_LT(seconds("power_sgd"), seconds("fp16"));
}

/// Horovod with that variable on two nodes of four P100, memory of whose hosts has that rate.
TrainingPoint levelled(const std::string& settings, const std::string& host = "100 GB/s", const char* ranks = "8") {
  const std::string strategy =
      R"({"kind": "horovod", "version": "0.26.0", "fusion_threshold": "8 MiB", "settings": )" + settings + "}";
  return test::run({{"/strategy", strategy},
                    {"/platform/topology", "roce25-4xp100"},
                    {"/platform/override", R"({"/node/host": {"memory_bandwidth": ")" + host + "\"}}"},
                    {"/platform/ranks", ranks}})
      .points.front();
}

TEST(Strategy, HorovodsHierarchicalAllreduceIsTheHierarchicalAlgorithm) {
  EXPECT_EQ(levelled(R"({"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"})").algorithm, "hierarchical");
  const std::string horovod = R"({"kind": "horovod", "settings": {"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"}})";
  EXPECT_THAT(test::error_of({{"/strategy", horovod}, {"/collectives", R"({"allreduce": "ring"})"}}),
              HasSubstr("/collectives/allreduce: expected \"hierarchical\", as the strategy's settings ask for"));
}

TEST(Strategy, HorovodsHierarchicalAllreduceGoesThroughHostsAndItsTorusDoesNot) {
  const std::string hierarchy = R"({"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"})";
  const std::string torus = R"({"HOROVOD_TORUS_ALLREDUCE": "1"})";
  EXPECT_GT(levelled(hierarchy, "5 GB/s").iteration, levelled(hierarchy).iteration);
  EXPECT_EQ(levelled(torus, "5 GB/s").iteration, levelled(torus).iteration);
  EXPECT_EQ(levelled(torus).algorithm, "hierarchical");
  // A reduce-scatter, one of MPI and an allgather for each of the torus.
  EXPECT_EQ(levelled(torus).collectives_per_iteration, levelled("{}").collectives_per_iteration);
  EXPECT_GE(levelled(hierarchy).collectives_per_iteration, 3);
  // Nodes of four and two.
  EXPECT_GT(levelled(hierarchy, "5 GB/s", "6").iteration, levelled(hierarchy, "100 GB/s", "6").iteration);
}

TEST(Strategy, OnOneNodeOrWithoutNcclHorovodHasNoLevels) {
  const std::string one_node = R"({"kind": "horovod", "settings": {"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"}})";
  const std::string plain = R"({"kind": "horovod"})";
  for (const std::string topology : {"dgx1-p100", "theta"}) {
    const auto run = [&](const std::string& strategy) {
      return test::run({{"/strategy", strategy}, {"/platform/topology", topology}});
    };
    EXPECT_EQ(run(one_node).points.front().iteration, run(plain).points.front().iteration) << topology;
    EXPECT_EQ(run(one_node).points.front().algorithm, run(plain).points.front().algorithm) << topology;
  }
}

TEST(Strategy, RanksThatTakeNodesInTurnHaveNoLevelsHere) {
  EXPECT_THAT(test::error_of({{"/strategy", R"({"kind": "horovod", "version": "0.26.0",
                                "settings": {"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"}})"},
                              {"/platform/topology", "roce25-4xp100"},
                              {"/platform/ranks", "8"},
                              {"/platform/placement", R"({"order": "by_node"})"}}),
              HasSubstr("expected ranks that fill one node after the other for HOROVOD_HIERARCHICAL_ALLREDUCE"));
}

TEST(Strategy, HorovodsHierarchicalAllgatherIsTheHierarchicalAlgorithm) {
  const std::string horovod =
      R"({"kind": "horovod", "compression": "int8", "settings": {"HOROVOD_HIERARCHICAL_ALLGATHER": "1"}})";
  EXPECT_EQ(point_of(horovod).algorithm, "hierarchical");
}

TEST(Strategy, WithoutOverlapIsNeverFasterInAnyStrategy) {
  for (const std::string kind : {"horovod", "ddp", "parameter_server", "distributed_replicated", "allgather"}) {
    const TrainingPoint with = point_of(R"({"kind": ")" + kind + "\"}");
    const TrainingPoint without = point_of(R"({"kind": ")" + kind + R"(", "overlap": false})");
    EXPECT_GT(without.iteration, with.iteration) << kind;
    EXPECT_GT(without.breakdown.exposed_communication, with.breakdown.exposed_communication) << kind;
  }
}

TEST(Strategy, AdasumTakesItsOwnAllreduceAndAPowerOfTwo) {
  const std::string adasum = R"({"kind": "horovod", "op": "adasum"})";
  EXPECT_EQ(point_of(adasum).algorithm, "hierarchical_adasum");
  EXPECT_EQ(test::run({{"/strategy", adasum}, {"/platform/topology", "theta"}, {"/platform/ranks", "8"}})
                .points.front()
                .algorithm,
            "adasum");
  EXPECT_THAT(test::error_of({{"/strategy", adasum}, {"/platform/ranks", "6"}}),
              HasSubstr("a power of two of nodes for Adasum"));
  EXPECT_THAT(test::error_of({{"/strategy", R"({"kind": "horovod", "op": "adasum", "version": "0.18.0"})"}}),
              HasSubstr("Horovod 0.19.0 or later for Adasum"));
}

TEST(Strategy, HorovodTunesItselfBeforeItIsMeasured) {
  const std::string autotune =
      R"({"kind": "horovod", "settings": {"HOROVOD_AUTOTUNE": "1", "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE": "2",
          "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES": "8"}})";
  const TrainingPoint tuned = point_of(autotune);
  ASSERT_TRUE(tuned.tuning);
  EXPECT_TRUE(tuned.tuning->is_over);
  EXPECT_EQ(tuned.tuning->samples.size(), 2U * 9);  // without the response cache, and with it
  EXPECT_GE(tuned.tuning->steps, (3 + 18) * 10);
  for (const TuningSample& sample : tuned.tuning->samples) EXPECT_LE(sample.score, tuned.tuning->best.score);
  EXPECT_FALSE(point_of(R"({"kind": "horovod"})").tuning);
  EXPECT_EQ(point_of(autotune).iteration, tuned.iteration);
}

TEST(Strategy, SeveralStreamsAreRefusedWhereOneNeedsTheOther) {
  const std::string ddp = R"({"kind": "ddp", "streams": 2})";
  EXPECT_EQ(point_of(ddp).strategy_options, "2 streams");
  EXPECT_THAT(test::error_of({{"/strategy", R"({"kind": "ddp", "streams": 2, "compression": "power_sgd"})"}}),
              HasSubstr("one stream with power_sgd"));
}

TEST(Strategy, RefusesWhatItDoesNotKnow) {
  const auto error = [](const std::string& strategy) { return test::error_of({{"/strategy", strategy}}); };
  EXPECT_THAT(error(R"({"kind": "dpp"})"), HasSubstr("did you mean \"ddp\"?"));
  EXPECT_THAT(error(R"({"kind": "single"})"), HasSubstr("expected one rank for the strategy \"single\", got 4"));
  EXPECT_THAT(error(R"({"kind": "ddp", "fusion_threshold": "1 MiB"})"), HasSubstr("fusion_threshold"));
  EXPECT_THAT(error(R"({"kind": "parameter_server", "mode": "async"})"), HasSubstr("a mode of parameter servers"));
  EXPECT_THAT(error(R"({"kind": "parameter_server", "bound": 2})"), HasSubstr("stale_synchronous"));
  EXPECT_THAT(error(R"({"kind": "parameter_server", "compression": "power_sgd"})"), HasSubstr("ddp and horovod"));
  EXPECT_THAT(test::error_of({{"/platform/topology", "roce25-4xp100"},
                              {"/platform/ranks", "512"},
                              {"/strategy", R"({"kind": "parameter_server", "servers": 2})"}}),
              HasSubstr("with 2 nodes left for servers, got 0 left; \"colocated\": true"));
}

}}  // namespace farandole::strategy_test
