// Whole runs, memory and strong scaling, as scenarios ask for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole {
namespace {

using test::error_of;
using testing::HasSubstr;

/// 4 ranks with batches of 32: steps of 128 samples.
TrainingPoint with_run(const std::string& run, std::vector<test::Change> more = {}) {
  more.push_back({"/run", run});
  return test::run(more).points.at(0);
}

TEST(WholeRun, IsStepsTimesIterationsAndWhatComesOncePerEpoch) {
  const TrainingPoint point =
      with_run(R"({"samples": 1300, "epochs": 3, "startup": "10 s", "initial_broadcast": false})");
  const WholeRun& run = *point.run;
  EXPECT_EQ(run.steps_per_epoch, 10);  // 1300 / 128, whole steps
  EXPECT_NEAR(run.epoch.si(), 10 * point.iteration.si(), 1e-12);
  EXPECT_NEAR(run.total.si(), 10 + 3 * run.epoch.si(), 1e-12);
  EXPECT_NEAR(run.samples_per_second, 3 * 1280 / run.total.si(), 1e-9);
  EXPECT_NEAR(run.goodput, 30 * point.iteration.si() / run.total.si(), 1e-12);
}

TEST(WholeRun, TheFirstBroadcastSendsAllParametersDownATree) {
  // Binomial over 4 ranks: two rounds of 11,689,512 x 4 bytes at 25 Gbit/s, each after 2 us.
  const WholeRun run = *with_run(R"({"samples": 1280})").run;
  EXPECT_NEAR(run.startup.si(), 2 * (11'689'512 * 4 / (25e9 / 8) + 2e-6), 1e-6);
}

TEST(WholeRun, EvaluationIsForwardOnly) {
  const TrainingPoint point = with_run(R"({"samples": 1280, "evaluation_samples": 1280})");
  EXPECT_GT(point.run->evaluation, 0_s);
  EXPECT_LT(point.run->evaluation, 10 * point.iteration / 2);
  const WholeRun rarely = *with_run(R"({"samples": 1280, "evaluation_samples": 1280, "evaluate_every": 5})").run;
  EXPECT_NEAR(rarely.evaluation / point.run->evaluation, 0.2, 1e-12);
}

TEST(WholeRun, DrawingAtRandomShowsAnEpochOnlyPartOfTheSet) {
  // 1 - (1 - 1/S)^S, near 1 - 1/e.
  const WholeRun run = *with_run(R"({"samples": 1280})", {{"/effects", R"({"input": {"access": "random"}})"}}).run;
  EXPECT_NEAR(run.distinct_share, 1 - std::exp(-1), 2e-4);
  EXPECT_EQ(with_run(R"({"samples": 1280})").run->distinct_share, 1);
}

TEST(WholeRun, FailuresCostGoodputAndCheckpointsSaveIt) {
  const std::string run = R"({"samples": 1280000, "epochs": 2, "initial_broadcast": false,
                              "failures": {"node_mtbf": "0.5 h", "restart": "10 s"}})";
  const WholeRun checkpointed =
      *with_run(run, {{"/effects", R"({"checkpoint": {"every_steps": 200, "rate": "1 GB/s"}})"}}).run;
  const WholeRun restarted = *with_run(run).run;
  EXPECT_GT(checkpointed.failures, 1);
  EXPECT_LT(checkpointed.total, restarted.total);
  EXPECT_LE(checkpointed.total_p50, checkpointed.total_p95);
  EXPECT_LT(checkpointed.goodput, 1);
}

TEST(WholeRun, ElasticTrainingGoesOnWithFewerNodes) {
  const WholeRun run = *with_run(R"({"samples": 1280000, "initial_broadcast": false, "failures":
    {"node_mtbf": "0.5 h", "recovery": "elastic", "restart": "5 s", "repair": "60 s", "commit_every_steps": 10}})")
                            .run;
  EXPECT_GT(run.failures, 0);
  EXPECT_LT(run.goodput, 1);
  EXPECT_GT(run.goodput, 0.5);
}

TEST(WholeRun, RecordsTheLearningRateAndWarnsOfLargeBatches) {
  const auto rate = [](const std::string& settings) {
    return *with_run(R"({"samples": 128000, "learning_rate": )" + settings + "}", {{"/workload/batch_per_rank", "64"}})
                .run;
  };
  const WholeRun linear = rate(R"({"base": 0.1, "base_batch": 64, "warmup_epochs": 5, "largest_known_batch": 128})");
  EXPECT_DOUBLE_EQ(linear.learning_rate, 0.4);
  EXPECT_THAT(linear.caveats, testing::ElementsAre(HasSubstr("a global batch of 256 is beyond 128")));
  EXPECT_DOUBLE_EQ(rate(R"({"base": 0.1, "base_batch": 64, "scaling": "sqrt", "warmup_epochs": 5})").learning_rate,
                   0.2);
  EXPECT_THAT(rate(R"({"base": 0.1, "base_batch": 64})").caveats, testing::ElementsAre(HasSubstr("without warm-up")));
}

TEST(WholeRun, AJobThatCannotMakeProgressIsRefused) {
  EXPECT_THAT(error_of({{"/run", R"({"samples": 1280000, "epochs": 90, "failures": {"node_mtbf": "30 s"}})"}}),
              HasSubstr("write checkpoints more often"));
}

TEST(WholeRun, NeedsAtLeastOneStep) {
  EXPECT_THAT(error_of({{"/run", R"({"samples": 100})"}}),
              HasSubstr("/run/samples: expected at least one global batch of 128"));
}

TEST(StrongScaling, SharesTheGlobalBatchAmongTheRanks) {
  Document document = test::changed({{"/workload", R"({"model": "resnet18", "global_batch": 128})"}});
  const TrainingPoint point = run_document(document, Catalogue(), {}).points[0];
  EXPECT_EQ(point.batch_per_rank, 32);
  EXPECT_NEAR(point.samples_per_second, 128 / point.iteration.si(), 1e-9);
  EXPECT_LE(point.scaling_efficiency, 1);
}

TEST(StrongScaling, RefusesABatchThatTheRanksCannotShareEvenly) {
  EXPECT_THAT(error_of({{"/workload", R"({"model": "resnet18", "global_batch": 130})"}}),
              HasSubstr("share evenly, got 130"));
  EXPECT_THAT(error_of({{"/workload/global_batch", "128"}}),
              HasSubstr("either a \"batch_per_rank\" or a \"global_batch\""));
}

TEST(Memory, AJobThatDoesNotFitIsRefusedWithTheSumAndTheWaysOut) {
  const std::string message = error_of({{"/workload/batch_per_rank", "20000"}});
  EXPECT_THAT(message, HasSubstr("/workload: expected a job that fits into the 17.2 GB of a p100, got "));
  EXPECT_THAT(message, HasSubstr(" = parameters "));
  EXPECT_THAT(message, HasSubstr("a smaller batch, at most "));
  EXPECT_THAT(message, HasSubstr("accumulation, "));
}

TEST(Memory, OfAPointCountsTheOptimizer) {
  const MemoryUse momentum = test::run({}).points[0].memory;
  const MemoryUse adam = test::run({{"/workload/optimizer", "adam"}}).points[0].memory;
  EXPECT_EQ(momentum.optimizer_state, momentum.parameters);
  EXPECT_EQ(adam.optimizer_state, 2 * momentum.parameters);
}

}  // namespace
}  // namespace farandole
