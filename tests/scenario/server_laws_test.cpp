// What must hold of every scenario with parameter servers: they pay for adding gradients up and for the optimizer, and
// n workers do at most n times what one does.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::server_laws_test { namespace {

TrainingPoint point_of(const std::vector<test::Change>& changes) {
  return test::run(changes).points.front();
}

std::vector<test::Change> with_optimizer(std::vector<test::Change> changes, const char* optimizer) {
  changes.push_back({"/workload/optimizer", optimizer});
  return changes;
}

std::string text(int number) {
  return std::to_string(number);
}

std::string one_of(std::initializer_list<const char*> choices) {
  return *rc::gen::elementOf(std::vector<std::string>(choices.begin(), choices.end()));
}

std::string any_strategy() {
  std::string strategy = *rc::gen::arbitrary<bool>()
                             ? R"({"kind": "distributed_replicated")"
                             : R"({"kind": "parameter_server", "mode": )" +
                                   one_of({R"("synchronous")", R"("asynchronous")",
                                           R"("stale_synchronous", "bound": 1)", R"("stale_synchronous", "bound": 0)"});
  strategy += R"(, "servers": )" + one_of({"1", "2", "3", "5", R"("one per node")"});
  strategy += R"(, "colocated": )" + one_of({"true", "false"});
  strategy += R"(, "aggregate_on_node": )" + one_of({"true", "false"});
  strategy += R"(, "overlap": )" + one_of({"true", "true", "false"});
  strategy += R"(, "compression": )" + one_of({R"("none")", R"("none")", R"("fp16")", R"("int8")"});
  return strategy + R"(, "server_placement": )" + one_of({R"("round_robin")", R"("by_size")", R"("split")"}) + "}";
}

std::vector<test::Change> any_scenario() {
  return {{"/workload/model", one_of({"resnet18", "alexnet", "vgg16", "mnist_mlp"})},
          {"/workload/batch_per_rank", text(*rc::gen::element(1, 2, 4, 32))},
          {"/platform/topology", one_of({"ethernet-10g", "ethernet-100g", "dgx1-p100", "theta", "piz-daint"})},
          {"/platform/ranks", text(*rc::gen::inRange(1, 10))},
          {"/strategy", any_strategy()},
          {"/effects", one_of({"{}", R"({"step_jitter": "3 %"})", R"({"device_spread": "5 %", "step_jitter": "0 %"})",
                               R"({"straggler": {"ranks": [1], "slowdown": "30 %"}})",
                               R"({"os_noise": {"period": "1 s", "duration": "20 ms"}})"})},
          {"/measure/fidelity", one_of({"analytic", "flow"})}};
}

RC_GTEST_PROP(ServerLaws, WorkersNeverDoMoreThanAsManyTimesOne, ()) {
  const TrainingPoint point = point_of(with_optimizer(any_scenario(), "\"momentum\""));
  RC_ASSERT(point.scaling_efficiency > 0);
  RC_ASSERT(point.scaling_efficiency <= 1 + 1e-5);
}

/// What begins a moment later may meet less on the links: an iteration is then concave in its compute time, and steps
/// that vary take less than as many mean ones. One rank is still what one rank does.
TEST(ServerLaws, OneRankWhoseStepsVaryDoesWhatOneRankDoes) {
  const TrainingPoint point =
      point_of(with_optimizer({{"/workload/model", "resnet18"},
                               {"/workload/batch_per_rank", "2"},
                               {"/platform/topology", "dgx1-p100"},
                               {"/platform/ranks", "1"},
                               {"/strategy", R"({"kind": "distributed_replicated", "servers": 5, "colocated": false,
                         "aggregate_on_node": false, "overlap": true, "server_placement": "round_robin"})"},
                               {"/effects", R"({"step_jitter": "3 %"})"},
                               {"/measure/fidelity", "flow"}},
                              "\"momentum\""));
  EXPECT_NEAR(point.scaling_efficiency, 1, 1e-12);
}

// With a barrier pushes do not depend on what servers do, so more work is never over earlier. (Where pulls and pushes
// meet on a link, or workers go their own pace, a delay may undo a contention.)
RC_GTEST_PROP(ServerLaws, AnOptimizerWithMoreStateIsNeverFasterBehindABarrier, ()) {
  std::vector<test::Change> scenario = any_scenario();
  scenario.push_back({"/strategy", R"({"kind": "parameter_server", "servers": )" + text(*rc::gen::inRange(1, 5)) +
                                       R"(, "server_placement": )" + one_of({R"("by_size")", R"("split")"}) +
                                       R"(, "colocated": )" + one_of({"true", "false"}) + "}"});
  scenario.push_back({"/platform/topology", one_of({"ethernet-10g", "ethernet-100g", "dgx1-p100"})});
  const double sgd = point_of(with_optimizer(scenario, "\"sgd\"")).iteration.si();
  const double momentum = point_of(with_optimizer(scenario, "\"momentum\"")).iteration.si();
  const double adam = point_of(with_optimizer(scenario, "\"adam\"")).iteration.si();
  RC_ASSERT(sgd <= momentum * (1 + 1e-9));
  RC_ASSERT(momentum <= adam * (1 + 1e-9));
}

TEST(ServerLaws, EveryStrategyPaysForItsOptimizer) {
  // Also where workers update: sgd, momentum and adam move 3, 5 and 7 times the parameters.
  for (const char* strategy :
       {R"({"kind": "parameter_server"})", R"({"kind": "parameter_server", "mode": "asynchronous"})",
        R"({"kind": "distributed_replicated"})", R"({"kind": "horovod"})", R"({"kind": "ddp"})"}) {
    const auto seconds = [&](const char* optimizer) {
      return point_of(with_optimizer({{"/strategy", strategy}}, optimizer)).iteration.si();
    };
    EXPECT_GT(seconds("\"momentum\""), seconds("\"sgd\"")) << strategy;
    EXPECT_GT(seconds("\"adam\""), seconds("\"momentum\"")) << strategy;
  }
}

TEST(ServerLaws, SplitServersBesideTheirWorkersScaleBelowOne) {
  for (const char* optimizer : {"\"sgd\"", "\"momentum\"", "\"adam\""}) {
    for (const char* batch : {"1", "4"}) {
      for (const char* ranks : {"1", "8"}) {
        const TrainingPoint point = point_of(with_optimizer(
            {{"/workload/model", "vgg16"},
             {"/workload/batch_per_rank", batch},
             {"/platform/topology", "ethernet-100g"},
             {"/platform/ranks", ranks},
             {"/strategy",
              R"({"kind": "parameter_server", "servers": 8, "colocated": true, "server_placement": "split"})"}},
            optimizer));
        EXPECT_LE(point.scaling_efficiency, 1 + 1e-9) << ranks << " ranks, batch " << batch << ", " << optimizer;
      }
    }
  }
}

TEST(ServerLaws, WhatServersWorkIsOtherAndNotStraggler) {
  for (const char* mode : {"\"synchronous\"", "\"asynchronous\""}) {
    const TrainingPoint point =
        point_of({{"/workload/model", "vgg16"},
                  {"/platform/topology", "ethernet-100g"},
                  {"/strategy", R"({"kind": "parameter_server", "mode": )" + std::string(mode) + "}"}});
    EXPECT_GT(point.breakdown.other, 0_s) << mode;
    EXPECT_NEAR(point.breakdown.straggler / point.iteration, 0, 1e-9) << mode;
    EXPECT_NEAR(point.breakdown.total() / point.iteration, 1, 1e-12) << mode;
  }
}

TEST(ServerLaws, AProcessorThatTrainsPaysForItsServer) {
  // On Theta a node's server works on the cores that train: an iteration is at least compute and the server's work,
  // which the median rank by itself would have to do too.
  const TrainingPoint point = point_of({{"/platform/topology", "theta"},
                                        {"/platform/ranks", "1"},
                                        {"/strategy", R"({"kind": "parameter_server", "colocated": true})"}});
  EXPECT_GT(point.breakdown.other, 0_s);
  EXPECT_GE(point.iteration * (1 + 1e-12), point.breakdown.compute + point.breakdown.other);
}

TEST(ServerMemory, IsThatOfTheFullestServer) {
  // Split over two: half of variable, sum of gradients and adam's two moments, and of the moving averages, in fp32.
  const auto memory = [](const char* placement) {
    return point_of({{"/workload/optimizer", "\"adam\""},
                     {"/strategy", R"({"kind": "parameter_server", "servers": 2, "server_placement": )" +
                                       std::string(placement) + "}"}})
        .memory;
  };
  const MemoryUse split = memory("\"split\"");
  const double averages = 2 * 4800 * 4.0;  // resnet18: mean and variance of 4,800 channels
  EXPECT_NEAR(split.server_shard.si(), (4 * split.parameters.si() + averages) / 2, 1e-6 * split.server_shard.si());
  EXPECT_GT(memory("\"round_robin\"").server_shard, split.server_shard);
  EXPECT_EQ(split.optimizer_state, 0_B);
  EXPECT_EQ(point_of({}).memory.server_shard, 0_B);
}

}}  // namespace farandole::server_laws_test
