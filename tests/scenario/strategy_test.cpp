// Every strategy from a scenario's text to a result point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole {
namespace {

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

TEST(Strategy, HorovodsHierarchicalAllreduceIsTheHierarchicalAlgorithm) {
  const std::string horovod = R"({"kind": "horovod", "settings": {"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"}})";
  EXPECT_EQ(point_of(horovod).algorithm, "hierarchical");
  EXPECT_THAT(test::error_of({{"/strategy", horovod}, {"/collectives", R"({"allreduce": "ring"})"}}),
              HasSubstr("/collectives/allreduce: expected \"hierarchical\", as the strategy's settings ask for"));
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

}  // namespace
}  // namespace farandole
