// Whole runs, memory and strong scaling, as scenarios ask for them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::whole_run_test { namespace {

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

TEST(WholeRun, OfAPipelineTheFirstBroadcastGoesToTheRanksOfAllStages) {
  const std::string workload = R"({"model": "gpt2_small", "batch_per_rank": 1})";
  const std::string strategy = R"({"kind": "ddp", "pipeline": 2, "accumulation": 2})";
  const WholeRun run =
      *with_run(R"({"samples": 1280, "metrics": 2})", {{"/workload", workload}, {"/strategy", strategy}}).run;
  EXPECT_NEAR(run.startup.si(), 2 * (124'439'808 * 4 / (25e9 / 8) + 2e-6), 1e-6);
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

const std::string long_run = R"({"samples": 1280000, "epochs": 2, "initial_broadcast": false, "startup": "1 min",
                                 "evaluation_samples": 1280, "failures": {)";

WholeRun failing(const std::string& failures, const std::string& checkpoint) {
  return *with_run(long_run + failures + "}}", {{"/effects", R"({"checkpoint": )" + checkpoint + "}"}}).run;
}

double sum(const RunShares& shares) {
  return shares.training + shares.evaluation + shares.startup + shares.checkpoint + shares.lost + shares.restart +
         shares.standby;
}

TEST(WholeRun, SharesOfItsTimeSumToOneWhateverHappens) {
  const std::string saved = R"({"every": "100 s", "rate": "100 MB/s"})";
  const WholeRun all =
      failing(R"("node_mtbf": "0.5 h", "restart": "10 s", "repair": "10 min", "spare_nodes": 1)", saved);
  EXPECT_NEAR(sum(all.shares), 1, 1e-9);
  EXPECT_EQ(all.shares.training, all.goodput);
  for (const double share : {all.shares.checkpoint, all.shares.lost, all.shares.restart, all.shares.standby}) {
    EXPECT_GT(share, 0);
  }
  EXPECT_NEAR(sum(failing(R"("node_mtbf": "0.5 h", "recovery": "elastic", "repair": "60 s")", saved).shares), 1, 1e-9);
  const TrainingPoint quiet = with_run(R"({"samples": 1280, "startup": "1 s"})",
                                       {{"/effects", R"({"checkpoint": {"every_steps": 3, "rate": "1 GB/s"}})"}});
  EXPECT_NEAR(sum(quiet.run->shares), 1, 1e-9);
  EXPECT_NEAR(quiet.run->shares.checkpoint, 10 * quiet.breakdown.checkpoint / quiet.run->total, 1e-12);
}

TEST(WholeRun, DevicesAndNodesFailIndependently) {
  // 4 nodes of a device each: 4 / 2 h + 4 / 4 h an hour.
  const WholeRun run =
      failing(R"("node_mtbf": "2 h", "device_mtbf": "4 h")", R"({"every": "100 s", "rate": "1 GB/s"})");
  EXPECT_NEAR(run.mtbf->si(), 3600 / 3.0, 1e-9);
}

TEST(WholeRun, TheBestIntervalIsTheOneThatIsUsedAndNoOtherGivesMore) {
  const std::string failures = R"("node_mtbf": "2 h", "restart": "10 s")";
  const auto with_interval = [&](const std::string& every) {
    return failing(failures, R"({"rate": "100 MB/s", "every": )" + every + "}");
  };
  const WholeRun best = with_interval("\"best\"");
  EXPECT_EQ(best.checkpoint_interval, best.best_interval);
  EXPECT_NEAR(*best.best_goodput, best.goodput, 1e-3);  // of the last checkpoint, and of those that are no whole number
  for (const double factor : {0.3, 0.7, 1.5, 3.0}) {
    const WholeRun other = with_interval(fmt::format("\"{} s\"", factor * best.best_interval->si()));
    EXPECT_LT(other.goodput, best.goodput) << factor;
    EXPECT_NEAR(other.best_interval->si(), best.best_interval->si(), 1e-9);
  }
}

TEST(WholeRun, EveryRankThatWritesItsPartMakesCheckpointsShorter) {
  // resnet18 with momentum: 2 x 11,689,512 parameters of 4 bytes, by one rank, by four, or all through one storage.
  const double bytes = 2 * 11'689'512 * 4;
  const auto pause = [](const std::string& checkpoint) {
    const TrainingPoint point =
        test::run({{"/effects", R"({"checkpoint": {"every_steps": 1, )" + checkpoint + "}}"}}).points.at(0);
    return point.breakdown.checkpoint.si();
  };
  EXPECT_NEAR(pause(R"("rate": "1 GB/s")"), bytes / 1e9, 1e-9);
  EXPECT_NEAR(pause(R"("rate": "1 GB/s", "sharded": true)"), bytes / 4e9, 1e-9);
  EXPECT_NEAR(pause(R"("rate": "1 GB/s", "sharded": true, "storage_bandwidth": "2 GB/s")"), bytes / 2e9, 1e-9);
  EXPECT_NEAR(pause(R"("node_bandwidth": "500 MB/s", "sharded": true, "latency": "1 ms")"), 1e-3 + bytes / 2e9, 1e-9);
}

TEST(WholeRun, AsynchronousCheckpointsStopForTheCopyAndForTheOneBefore) {
  const double bytes = 2 * 11'689'512 * 4;
  const auto run = [](const std::string& every) {
    return test::run({{"/effects", R"({"checkpoint": {"rate": "100 MB/s", "asynchronous": true,
                                                      "snapshot_rate": "10 GB/s", )" +
                                       every + "}}"}})
        .points.at(0);
  };
  const TrainingPoint seldom = run(R"("every": "10 s")");
  const Seconds bare = seldom.iteration - seldom.breakdown.checkpoint;
  EXPECT_NEAR(seldom.breakdown.checkpoint.si(), bytes / 10e9 * bare.si() / 10, 1e-12);
  const TrainingPoint always = run(R"("every_steps": 1)");  // as fast as they can be written
  EXPECT_NEAR(always.iteration.si(), bytes / 10e9 + bytes / 100e6, 1e-9);
}

TEST(WholeRun, GoodputGrowsWithTheRateAtWhichCheckpointsAreReadAgain) {
  double before = 0;
  for (const char* rate : {"\"50 MB/s\"", "\"200 MB/s\"", "\"1 GB/s\""}) {
    const WholeRun run = failing(R"("node_mtbf": "2 h", "detection": "5 s", "restart": "10 s", "reload": true)",
                                 std::string(R"({"every": "100 s", "rate": )") + rate + "}");
    EXPECT_GT(run.goodput, before);
    before = run.goodput;
  }
}

TEST(WholeRun, SpareNodesCostAndSaveTheWait) {
  const auto point = [](int spares) {
    return with_run(
        long_run + R"("node_mtbf": "2 h", "repair": "1 h", "spare_nodes": )" + std::to_string(spares) + "}}",
        {{"/effects", R"({"checkpoint": {"every": "100 s", "rate": "1 GB/s"}})"},
         {"/economics", R"({ "offer": "aws-p4d-on-demand" })"}});
  };
  // Offered load 1 h / (2 h / 4) = 2: B(1, 2) = 2/3, B(3, 2) = (8/6) / (1 + 2 + 2 + 8/6) = 4/19.
  const TrainingPoint none = point(0);
  const TrainingPoint two = point(2);
  EXPECT_NEAR(none.run->shares.standby * none.run->total.si(), 2.0 / 3 * (none.run->total.si() - 60), 1e-6);
  EXPECT_NEAR(two.run->shares.standby * two.run->total.si(), 4.0 / 19 * (two.run->total.si() - 60), 1e-6);
  EXPECT_NEAR(two.cost->node_time->si(), 6 * two.run->total.si(), 1e-6);
  EXPECT_NEAR(two.cost->energy_per_sample.si() * two.samples_per_second / 1.2,
              4 * none.cost->node_power.si() + 2 * (1500 + 50), 1e-6);
}

TEST(WholeRun, RefusesWhatWouldMeanNothing) {
  const auto error = [](const std::string& failures, const std::string& checkpoint) {
    std::vector<test::Change> changes{{"/run", R"({"samples": 12800, "failures": {)" + failures + "}}"}};
    if (!checkpoint.empty()) changes.push_back({"/effects", R"({"checkpoint": {)" + checkpoint + "}}"});
    return error_of(changes);
  };
  EXPECT_THAT(error(R"("restart": "10 s")", ""),
              HasSubstr("/run/failures: expected a \"node_mtbf\", a \"device_mtbf\""));
  EXPECT_THAT(error(R"("node_mtbf": "2 h", "reload": true)", ""), HasSubstr("/run/failures/reload: expected"));
  EXPECT_THAT(error(R"("node_mtbf": "2 h", "recovery": "elastic", "spare_nodes": 1)", ""),
              HasSubstr("/run/failures/spare_nodes: expected"));
  EXPECT_THAT(error(R"("node_mtbf": "2 h", "recovery": "elastic")", R"("every": "best", "rate": "1 GB/s")"),
              HasSubstr("/effects/checkpoint/every: expected a time"));
  EXPECT_THAT(error(R"("node_mtbf": "2 h")", R"("every": "10 s")"), HasSubstr("\"storage_bandwidth\""));
  EXPECT_THAT(error(R"("node_mtbf": "2 h")", R"("every": "10 s", "rate": "1 GB/s", "asynchronous": true)"),
              HasSubstr("\"snapshot_rate\""));
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
              testing::AllOf(HasSubstr("--set: /run/failures: expected a run that ends"),
                             HasSubstr("write checkpoints more often")));
}

TEST(WholeRun, QuantilesAreLeftOutWhereSeededRunsWouldBeTooLong) {
  // 4 nodes fail every 1.8 s in all, a million times a simulation; the expectation is exact without any.
  const auto run = [](int simulations) {
    return *with_run(fmt::format(R"({{"samples": 12800000, "epochs": 100, "initial_broadcast": false,
                                     "failures": {{"node_mtbf": "7.2 s", "simulations": {}}}}})",
                                 simulations),
                     {{"/effects", R"({"checkpoint": {"every": "0.1 s", "rate": "100 GB/s"}})"}})
                .run;
  };
  const WholeRun many = run(1000);
  EXPECT_FALSE(many.total_p50.has_value());
  EXPECT_FALSE(many.total_p95.has_value());
  EXPECT_THAT(many.caveats, testing::Contains(HasSubstr("p50 and p95 are left out")));
  EXPECT_GT(many.failures, 1e4);
  EXPECT_EQ(many.total, run(1).total);
}

TEST(WholeRun, TooManyReturnsOfNodesAreRefusedWhereTheyWereAskedFor) {
  EXPECT_THAT(error_of({{"/run", R"({"samples": 12800000, "epochs": 100, "initial_broadcast": false,
                                     "failures": {"node_mtbf": "10 s", "recovery": "elastic", "restart": "1 ms",
                                                  "repair": "1 ms", "simulations": 100000}})"}}),
              HasSubstr("--set: /run/failures: expected runs of at most 20 million"));
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

}}  // namespace farandole::whole_run_test
