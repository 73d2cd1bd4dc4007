// DiLoCo, on the event loop, against schedules worked out by hand: a second per byte, 30 s of computation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/strategy_kit.hpp"

namespace farandole::diloco_test { namespace {

using test::StrategyBench;
using test::three_gradients;
using testing::ElementsAre;

Job with_parameters() {
  Job job = three_gradients();
  job.variables = {{"a", 4_B, 0, 2}, {"b", 3_B, 0, 1}, {"c", 2_B, 0, 0}};
  return job;
}

std::vector<double> durations(StrategyBench& bench, int iterations) {
  std::vector<double> all;
  for (int i = 0; i < iterations; ++i) all.push_back(bench.simulation.run_iteration().duration.si());
  return all;
}

TEST(Diloco, WorkersOfOneRankMeetInTheirLastInnerStep) {
  StrategyBench bench(with_parameters(), 2, R"({"kind": "diloco", "inner_steps": 3})");
  EXPECT_EQ(bench.choice.period, 3);
  EXPECT_THAT(durations(bench, 6), ElementsAre(30, 30, 39, 30, 30, 39));
  // 9 bytes of fp32 as 5 of bf16
  StrategyBench fewer(with_parameters(), 2, R"({"kind": "diloco", "inner_steps": 3, "outer_type": "bf16"})");
  EXPECT_THAT(durations(fewer, 3), ElementsAre(30, 30, 35));
}

TEST(Diloco, FragmentsHaveTheirOuterStepsInTurn) {
  StrategyBench bench(with_parameters(), 2, R"({"kind": "diloco", "inner_steps": 6, "fragments": 3})");
  EXPECT_THAT(durations(bench, 8), ElementsAre(30, 33, 30, 33, 30, 33, 30, 33));
}

TEST(Diloco, AnOuterStepMayBeUnderWayBesideTheNextStep) {
  const std::string beside = R"({"kind": "diloco", "inner_steps": 3, "overlap_steps": 1})";
  StrategyBench hidden(with_parameters(), 2, beside);
  EXPECT_THAT(durations(hidden, 7), ElementsAre(30, 30, 30, 30, 30, 30, 30));
  Job job = with_parameters();
  job.variables[0].size = 45_B;  // 50 s on the way, from the beginning of the fourth step on
  StrategyBench longer(job, 2, beside);
  EXPECT_THAT(durations(longer, 7), ElementsAre(30, 30, 30, 50, 30, 30, 50));
}

TEST(Diloco, TheOuterStepReadsAndWritesParametersInMemory) {
  // At 1 byte a second: 3 passes over 9 bytes before, 7 after; 4 without momentum.
  StrategyBench nesterov(with_parameters(), 2, R"({"kind": "diloco", "inner_steps": 1})", nullptr, 1_Bps);
  EXPECT_THAT(durations(nesterov, 1), ElementsAre(30 + 27 + 9 + 63));
  StrategyBench sgd(with_parameters(), 2, R"({"kind": "diloco", "inner_steps": 1, "outer_optimizer": "sgd"})", nullptr,
                    1_Bps);
  EXPECT_THAT(durations(sgd, 1), ElementsAre(30 + 27 + 9 + 36));
}

TEST(Diloco, WhatDoesNotDivideIsRefused) {
  for (const char* settings : {R"("worker_ranks": 3)", R"("inner_steps": 5, "fragments": 2)", R"("overlap_steps": 2)",
                               R"("inner_steps": 1, "overlap_steps": 1)", R"("outer_type": "fp64")"}) {
    EXPECT_THROW(StrategyBench(with_parameters(), 4, std::string(R"({"kind": "diloco", )") + settings + "}"),
                 InputError)
        << settings;
  }
}

}}  // namespace farandole::diloco_test
