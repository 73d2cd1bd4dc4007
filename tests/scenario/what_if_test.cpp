// Every what-if is the run made by hand with what it says in `set`, whatever the strategy and whoever picks algorithms.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

using Changes = std::vector<test::Change>;

/// Two nodes of eight A100, one NIC each, so that the network counts.
Changes machine() {
  return {{"/platform", R"({"topology": "dgx-a100", "ranks": 16, "override":
             {"/node/nics_at": ["switch0"], "/transport/library": "nccl-2.10"}})"},
          {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": "analytic"})"}};
}

Changes with(Changes changes, const Changes& more) {
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

TrainingPoint explained(const Changes& changes) {
  RunOptions options;
  options.explain = true;
  return test::run(changes, options).points.at(0);
}

std::vector<std::string> offered(const TrainingPoint& point) {
  std::vector<std::string> names;
  for (const WhatIf& what_if : point.explanation->what_ifs) names.push_back(what_if.change);
  return names;
}

std::vector<std::string> parts_of(const TrainingPoint& point) {
  std::vector<std::string> names;
  for (const WaterfallPart& part : point.explanation->waterfall) names.push_back(part.name);
  return names;
}

const WhatIf* find(const TrainingPoint& point, const std::string& change) {
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    if (what_if.change == change) return &what_if;
  }
  return nullptr;
}

Seconds part(const TrainingPoint& point, const std::string& name) {
  for (const WaterfallPart& each : point.explanation->waterfall) {
    if (each.name == name) return each.time;
  }
  return {};
}

void expect_the_run_by_hand(const Changes& changes, const WhatIf& what_if) {
  Changes by_hand = changes;
  for (const auto& [pointer, json] : what_if.set) by_hand.push_back({pointer, json});
  const std::vector<TrainingPoint> points = test::run(by_hand).points;
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(what_if.iteration / points[0].iteration, 1, 1e-12);
  EXPECT_NEAR(what_if.scaling_efficiency / points[0].scaling_efficiency, 1, 1e-12);
  EXPECT_NEAR(what_if.samples_per_second / points[0].samples_per_second, 1, 1e-12);
}

/// sum = iteration; what is found as a remainder is not below nothing, and nothing remains that nobody claims.
void expect_a_whole_waterfall(const TrainingPoint& point) {
  Seconds sum;
  for (const WaterfallPart& each : point.explanation->waterfall) sum += each.time;
  EXPECT_NEAR(sum / point.iteration, 1, 1e-12);
  EXPECT_THAT(parts_of(point), Not(testing::Contains("other")));
  for (const char* remainder : {"negotiation", "input", "device"}) {
    EXPECT_GE(part(point, remainder) / point.iteration, -1e-9) << remainder;
  }
}

/// A setting that was taken is not offered again.
void expect_not_offered_again(const Changes& changes, const WhatIf& what_if) {
  if (what_if.kind != "setting" || what_if.change == "double the batch") return;
  Changes by_hand = changes;
  for (const auto& [pointer, json] : what_if.set) by_hand.push_back({pointer, json});
  const TrainingPoint point = explained(by_hand);
  EXPECT_EQ(find(point, what_if.change), nullptr) << what_if.change;
}

void expect_the_laws(const Changes& changes) {
  const TrainingPoint point = explained(changes);
  expect_a_whole_waterfall(point);
  EXPECT_NE(find(point, "network x2"), nullptr);
  EXPECT_NE(find(point, "latency / 2"), nullptr);
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    SCOPED_TRACE(what_if.change);
    expect_the_run_by_hand(changes, what_if);
  }
}

const std::vector<std::string> collective_strategies{
    R"({"kind": "horovod", "version": "0.19.0"})",
    R"({"kind": "horovod", "version": "0.21.0", "compression": "fp16", "accumulation": 2})",
    R"({"kind": "ddp"})",
    R"({"kind": "ddp", "bucket_cap": "100 MiB", "overlap": false, "compression": {"kind": "power_sgd"}})",
    R"({"kind": "ddp", "compression": "int8", "find_unused_parameters": true})",
    R"({"kind": "allgather"})",
    R"({"kind": "local_sgd", "period": 2})",
    R"({"kind": "diloco", "worker_ranks": 2, "inner_steps": 2})",
    R"({"kind": "diloco", "inner_steps": 2, "fragments": 2, "overlap_steps": 1})",
};

const std::vector<std::string> server_strategies{
    R"({"kind": "parameter_server", "servers": 2})",
    R"({"kind": "parameter_server", "servers": 2, "colocated": true, "server_placement": "split", "server_rate": "1 GB/s"})",
    R"({"kind": "parameter_server", "mode": "asynchronous", "compression": "fp16"})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1, "overlap": false})",
    R"({"kind": "distributed_replicated", "servers": 2, "colocated": true})",
};

class WhatIfLaw : public testing::TestWithParam<const char*> {};

/// By algorithm or library, at both fidelities; libraries that take no part in an operation are refused, not skipped.
TEST_P(WhatIfLaw, IsTheRunByHandForEveryStrategyOfCollectives) {
  const std::string by = GetParam();
  for (const std::string& strategy : collective_strategies) {
    for (const char* fidelity : {R"("analytic")", R"("flow")"}) {
      SCOPED_TRACE(strategy + fidelity);
      const std::string operation =
          strategy.find("allgather") != std::string::npos || strategy.find("int8") != std::string::npos ? "allgather"
                                                                                                        : "allreduce";
      if (operation == "allgather" && by == "double_tree") continue;  // has no allgather
      expect_the_laws(with(machine(), {{"/strategy", strategy},
                                       {"/collectives", R"({")" + operation + R"(": ")" + by + R"("})"},
                                       {"/measure/fidelity", fidelity}}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, WhatIfLaw,
                         testing::Values("ring", "hierarchical", "double_tree", "nccl-2.3", "nccl-2.10", "nccl-2.18",
                                         "openmpi-4", "mpich", "library"));

TEST(WhatIfLaw, IsTheRunByHandForEveryStrategyOfServers) {
  for (const std::string& strategy : server_strategies) {
    for (const char* fidelity : {R"("analytic")", R"("flow")"}) {
      SCOPED_TRACE(strategy + fidelity);
      expect_the_laws(with(machine(), {{"/strategy", strategy}, {"/measure/fidelity", fidelity}}));
    }
  }
}

TEST(WhatIfLaw, IsTheRunByHandWithEveryEffectAndAnyScaleBefore) {
  const Changes effects{{"/strategy", collective_strategies[2]},
                        {"/collectives", R"({"allreduce": "nccl-2.10"})"},
                        {"/effects", R"({"straggler": {"ranks": [1], "slowdown": "50 %"}, "os_noise": {"period": "1 ms",
                            "duration": "10 us"}, "checkpoint": {"every_steps": 50, "rate": "1 GB/s", "latency": "1 s"},
                            "input": {"sample_size": "110 kB", "storage_bandwidth": "2 GB/s", "decode_workers": 2,
                                      "decode_rate": 500}})"},
                        {"/platform/scale", R"({"rate": 0.3, "latency": 7})"}};
  const Changes changes = with(machine(), effects);
  expect_the_laws(changes);
  const TrainingPoint point = explained(changes);
  for (const char* name : {"no stragglers", "checkpoints x2", "input x2"})
    EXPECT_NE(find(point, name), nullptr) << name;
}

const std::vector<std::string> sharded_strategies{
    R"({"kind": "fsdp"})",
    R"({"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP", "accumulation": 2})",
    R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 8, "backward_prefetch": "NO_PREFETCH"})",
    R"({"kind": "fsdp", "sharding_strategy": "_HYBRID_SHARD_ZERO2", "shard_group": 4, "no_sync": false})",
    R"({"kind": "fsdp", "sharding_strategy": "NO_SHARD"})",
    R"({"kind": "zero", "stage": 1, "overlap_params": true, "accumulation": 2})",
    R"({"kind": "zero", "stage": 2, "overlap_comm": false, "shard_group": 8})",
    R"({"kind": "zero", "stage": 3, "reduce_bucket_size": 1000000})",
};

Changes sharded(const std::string& strategy, const std::string& workload = "") {
  const std::string gpt2 = R"({"model": "gpt2_small", "batch_per_rank": 4, "precision": "bf16", "gradient_type": "bf16",
                               "optimizer": "adam"})";
  return with(machine(), {{"/workload", workload.empty() ? gpt2 : workload}, {"/strategy", strategy}});
}

class ShardedWhatIfLaw : public testing::TestWithParam<const char*> {};

TEST_P(ShardedWhatIfLaw, IsTheRunByHandForEveryShardedStrategy) {
  for (const std::string& strategy : sharded_strategies) {
    for (const char* by : {"ring", "nccl-2.18"}) {
      SCOPED_TRACE(strategy + by);
      const std::string algorithms = fmt::format(R"({{"allgather": "{0}", "reduce_scatter": "{0}"}})", by);
      expect_the_laws(with(sharded(strategy), {{"/collectives", algorithms}, {"/measure/fidelity", GetParam()}}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WhatIfLaw, ShardedWhatIfLaw, testing::Values(R"("analytic")", R"("flow")"));

/// What a device takes was inferred on the machine as it is, and stays what it is when the machine changes.
TEST(WhatIfLaw, IsTheRunByHandOfAScenarioAnchoredOnAMeasuredRun) {
  expect_the_laws(with(
      machine(), {{"/strategy", collective_strategies[2]},
                  {"/workload/measured", R"([{"ranks": 16, "batch_per_rank": 32, "samples_per_second": 5000}])"}}));
}

TEST(WhatIf, IsNotOfferedAgainWhereItIsTheSetting) {
  for (const std::string& strategy : {collective_strategies[0], collective_strategies[2], server_strategies[0]}) {
    const Changes changes = with(machine(), {{"/strategy", strategy}, {"/collectives", R"({"allreduce": "ring"})"}});
    const TrainingPoint point = explained(changes);
    for (const WhatIf& what_if : point.explanation->what_ifs) expect_not_offered_again(changes, what_if);
  }
}

TEST(WhatIf, OfAShardedStrategyIsNotOfferedAgainWhereItIsTheSetting) {
  for (const std::string& strategy : sharded_strategies) {
    const Changes changes = sharded(strategy);
    const TrainingPoint point = explained(changes);
    for (const WhatIf& what_if : point.explanation->what_ifs) {
      if (what_if.change.find("passes") == std::string::npos) expect_not_offered_again(changes, what_if);
    }
  }
}

TEST(WhatIf, OfAStrategyNamesOnlyWhatItHas) {
  const auto point_of = [](const std::string& strategy) {
    return explained(with(machine(), {{"/strategy", strategy}}));
  };
  for (const std::string& strategy : server_strategies) {
    const TrainingPoint point = point_of(strategy);
    EXPECT_THAT(offered(point), Each(AllOf(Not(HasSubstr("allreduce")), Not(HasSubstr("cycle"))))) << strategy;
    EXPECT_THAT(parts_of(point),
                Each(AllOf(Not(testing::StrEq("negotiation")), Not(testing::StrEq("collective_kernels")),
                           Not(testing::StrEq("contention")))))
        << strategy;
  }
  for (const std::string& strategy : collective_strategies) {
    const TrainingPoint point = point_of(strategy);
    const bool is_horovod = strategy.find("horovod") != std::string::npos;
    EXPECT_EQ(part(point, "negotiation") > Seconds(0), is_horovod) << strategy;
    EXPECT_EQ(find(point, "cycle time 1 ms") != nullptr, strategy == collective_strategies[0]) << strategy;
    EXPECT_THAT(offered(point), Each(Not(HasSubstr("server")))) << strategy;
  }
  const TrainingPoint whole = point_of(server_strategies[0]);
  EXPECT_NE(find(whole, "servers x2"), nullptr);
  EXPECT_NE(find(whole, "variables split over servers"), nullptr);
  const TrainingPoint split = point_of(server_strategies[1]);
  EXPECT_EQ(find(split, "variables split over servers"), nullptr);
}

TEST(WhatIf, OfAShardedStrategyIsWhatItCanChange) {
  const std::vector<std::string> all{"no prefetch in the backward pass",
                                     "prefetch before each block's backward pass",
                                     "no limit on allgathers",
                                     "reductions after the backward pass",
                                     "reductions beside the backward pass",
                                     "parameters gathered beside the forward pass",
                                     "parameters kept after the forward pass",
                                     "parameters given up after the forward pass",
                                     "stage 1",
                                     "stage 2",
                                     "stage 3",
                                     "shard group of a node",
                                     "shard group of all ranks",
                                     "nothing recomputed",
                                     "selective recomputation",
                                     "full recomputation",
                                     "double the batch in half the passes",
                                     "batch / 2 in twice the passes",
                                     "half the NICs of a node"};
  const std::vector<std::vector<std::size_t>> of_strategy{{0, 2, 6, 11, 14, 15, 17},
                                                          {7, 11, 14, 15, 16, 17},
                                                          {1, 2, 6, 12, 14, 15, 17},
                                                          {7, 11, 12, 14, 15, 17},
                                                          {14, 15, 17},
                                                          {3, 9, 10, 11, 14, 15, 16, 17},
                                                          {4, 5, 8, 10, 12, 14, 15, 17},
                                                          {3, 8, 9, 11, 14, 15, 17}};
  for (std::size_t i = 0; i < sharded_strategies.size(); ++i) {
    const TrainingPoint point = explained(sharded(sharded_strategies[i]));
    for (std::size_t name = 0; name < all.size(); ++name) {
      const bool applies = std::ranges::find(of_strategy[i], name) != of_strategy[i].end();
      EXPECT_EQ(find(point, all[name]) != nullptr, applies) << sharded_strategies[i] << all[name];
    }
  }
}

/// A DGX A100 as it is, with eight NICs.
TEST(WhatIf, OfHalfTheNicsLeavesEverySecondOne) {
  const Changes changes = with(sharded(sharded_strategies[0]), {{"/platform/override", "{}"}});
  const TrainingPoint point = explained(changes);
  const WhatIf* fewer = find(point, "half the NICs of a node");
  ASSERT_NE(fewer, nullptr);
  EXPECT_EQ(fewer->set.at(0).json, R"(["switch0","switch1","switch2","switch3"])");
  EXPECT_LT(fewer->efficiency_points, 0);
  expect_the_run_by_hand(changes, *fewer);
}

/// Of 8B parameters over 16 ranks with batch 4: activations fit where blocks are computed again, and all parameters on
/// every rank beside them do not.
TEST(WhatIf, ThatDoesNotFitIntoMemoryIsLeftOut) {
  const TrainingPoint point = explained(sharded(sharded_strategies[0], R"({"model": "llama3_8b", "variant": "seq8192",
      "batch_per_rank": 2, "precision": "bf16", "gradient_type": "bf16", "optimizer": "adam", "recompute": "full"})"));
  EXPECT_EQ(find(point, "nothing recomputed"), nullptr);
  EXPECT_NE(find(point, "no prefetch in the backward pass"), nullptr);
  for (const WhatIf& what_if : point.explanation->what_ifs) EXPECT_GT(what_if.samples_per_second, 0);
}

/// Of a swept scenario `set` cuts the sweep down to the point; of one with a question that goes, too.
TEST(WhatIf, OfAPointOfASweepGivesThatPointAndNoOther) {
  const Changes changes = with(
      machine(), {{"/sweep", R"({"/platform/ranks": [8, 16], "/strategy/compression": ["none", "fp16"], "variants": {
          "plain": {"/effects": {"device_spread": "3 %"}}, "tree": {"/collectives": {"allreduce": "double_tree"}}}})"},
                  {"/question", R"({"ask": "?", "from": {"/platform/ranks": 8}, "to": {"/platform/ranks": 16}})"}});
  Changes bare = changes;
  std::erase_if(bare, [](const test::Change& change) { return change.pointer == "/platform"; });
  bare.insert(bare.begin(), {"/platform", R"({"topology": "dgx-a100", "override": {"/node/nics_at": ["switch0"]}})"});
  RunOptions options;
  options.explain = true;
  const std::vector<TrainingPoint> points = test::run(bare, options).points;
  ASSERT_EQ(points.size(), 8U);
  for (const TrainingPoint& point : points) {
    ASSERT_TRUE(point.explanation);
    for (const WhatIf& what_if : point.explanation->what_ifs) {
      SCOPED_TRACE(what_if.change);
      expect_the_run_by_hand(bare, what_if);
    }
  }
}

/// 16 x 8 A100 with one NIC each and buckets of 100 MiB: what is exposed is the network's, whoever picks the algorithm.
TEST(Waterfall, OfDdpWithALibraryFindsTheTimeInTheNetwork) {
  const Changes changes{
      {"/workload", R"({"model": "resnet50", "batch_per_rank": 256})"},
      {"/platform", R"({"topology": "dgx-a100", "ranks": 128, "override": {"/node/nics_at": ["switch0"]}})"},
      {"/strategy", R"({"kind": "ddp", "bucket_cap": "100 MiB"})"},
      {"/collectives", R"({"allreduce": "nccl-2.10"})"},
      {"/measure", R"({"iterations": 3, "warmup": 1, "fidelity": "flow"})"}};
  const TrainingPoint point = explained(changes);
  const Seconds network = part(point, "exposed_bandwidth") + part(point, "exposed_latency") + part(point, "contention");
  EXPECT_GT(network / point.breakdown.exposed_communication, 0.9);
  EXPECT_GT(part(point, "exposed_bandwidth"), part(point, "exposed_latency"));
  const WhatIf* faster = find(point, "network x2");
  ASSERT_NE(faster, nullptr);
  EXPECT_GT(faster->efficiency_points, 0.5);
  expect_the_run_by_hand(changes, *faster);
}

/// Every rate of dgx-a100's file.
std::string rates_times(double factor) {
  return fmt::format(R"({{"/node/nic/rate": "{} Gbit/s", "/node/fabric/pcie/link/rate": "{} GB/s",
                          "/node/fabric/pcie/interconnect/rate": "{} GB/s", "/node/fabric/nvlink/link/rate": "{} GB/s"}})",
                     200 * factor, 24 * factor, 16 * factor, 25 * factor);
}

/// NCCL 2.10 holds eight 200 Gbit/s NICs to be as fast as its own table of NVLinks: a faster network gains it nothing
/// here.
TEST(Scale, OfTheRateIsTheTopologyWithAllItsRatesMultiplied) {
  for (const char* by : {"ring", "nccl-2.10", "openmpi-4"}) {
    const Changes plain{{"/platform", R"({"topology": "dgx-a100", "ranks": 32, "override": {}})"},
                        {"/strategy", R"({"kind": "ddp", "overlap": false})"},
                        {"/collectives", std::string(R"({"allreduce": ")") + by + R"("})"}};
    const auto iteration = [](const Changes& changes) { return test::run(changes).points[0].iteration; };
    for (const double rate : {0.5, 2.0}) {
      const Seconds scaled = iteration(with(plain, {{"/platform/scale", fmt::format(R"({{"rate": {}}})", rate)}}));
      EXPECT_NEAR(scaled / iteration(with(plain, {{"/platform/override", rates_times(rate)}})), 1, 1e-12) << by << rate;
      EXPECT_EQ(scaled > iteration(plain), rate < 1) << by << rate;
    }
  }
}

/// What was measured of a library is a machine's as it is: scaled links scale it as they scale the library's own model.
TEST(Scale, OfANetworkOnWhichALibraryWasMeasured) {
  const Changes measured{
      {"/platform",
       R"({"topology": "dgx-a100", "ranks": 16, "override": {"/node/nics_at": ["switch0"], "/transport/library_times":
                             [{"library": "nccl-2.10", "op": "allreduce", "ranks": 16, "nodes": 2, "pieces":
                               [{"from": "0 B", "algorithm": "ring", "protocol": "Simple", "latency": "100 us",
                                 "rate": "10 GB/s"}]}]}})"},
      {"/strategy", R"({"kind": "ddp", "overlap": false})"},
      {"/collectives", R"({"allreduce": "nccl-2.10"})"},
      {"/effects", R"({"communication_compute_share": "0 %"})"}};
  const auto exposed = [&](const char* scale) {
    return test::run(with(measured, {{"/platform/scale", scale}})).points[0].breakdown.exposed_communication;
  };
  EXPECT_GT(exposed("{}"), 1.3 * exposed(R"({"rate": 2})"));
  EXPECT_GT(exposed("{}"), exposed(R"({"latency": 0.5})"));
  EXPECT_LT(exposed("{}"), exposed(R"({"latency": 2})"));
}

TEST(Scale, IsRefusedWhereItMeansNothing) {
  EXPECT_THAT(test::error_of({{"/platform/scale", R"({"rate": 0})"}}),
              HasSubstr("/platform/scale/rate: expected a number above 0"));
  EXPECT_THAT(test::error_of({{"/platform/scale", R"({"latency": -1})"}}),
              HasSubstr("/platform/scale/latency: expected 0 or a"));
  EXPECT_THAT(test::error_of({{"/platform/scale", R"({"rat": 2})"}}), HasSubstr("did you mean \"rate\"?"));
}

}  // namespace
}  // namespace farandole
