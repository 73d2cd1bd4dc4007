// Every what-if is the run made by hand with what it says in `set`, whatever the strategy and whoever picks algorithms.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/what_if_kit.hpp"

namespace farandole::what_if_test { namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

using test::Changes;
using test::expect_not_offered_again;
using test::expect_the_laws;
using test::expect_the_run_by_hand;
using test::explained;
using test::find;
using test::machine;
using test::part;
using test::parts_of;
using test::with;

std::vector<std::string> offered(const TrainingPoint& point) {
  std::vector<std::string> names;
  for (const WhatIf& what_if : point.explanation->what_ifs) names.push_back(what_if.change);
  return names;
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
                                         "openmpi-4", "mpich", "mpich-3", "library"));

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
      expect_the_run_by_hand(bare, point, what_if);
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
  expect_the_run_by_hand(changes, point, *faster);
}

/// Every rate of dgx-a100's file.
std::string rates_times(double factor) {
  return fmt::format(R"({{"/node/nic/rate": "{} Gbit/s", "/node/fabric/pcie/link/rate": "{} GB/s",
                          "/node/fabric/pcie/interconnect/rate": "{} GB/s", "/node/fabric/nvlink/link/rate": "{} GB/s"}})",
                     200 * factor, 24 * factor, 16 * factor, 25 * factor);
}

/// A library with tables of its own decides for NICs and NVLinks that it knows by their rates; scaled, it decides as
/// for the topology's own, and takes as many times its rate (DefaultLibrary.OnANetworkThatIsScaledIsNeverSlower).
TEST(Scale, OfTheRateIsTheTopologyWithAllItsRatesMultiplied) {
  for (const char* by : {"ring", "nccl-2.10", "openmpi-4"}) {
    const Changes plain{{"/platform", R"({"topology": "dgx-a100", "ranks": 32, "override": {}})"},
                        {"/strategy", R"({"kind": "ddp", "overlap": false, "broadcast_buffers": false})"},
                        {"/collectives", std::string(R"({"allreduce": ")") + by + R"("})"}};
    const auto iteration = [](const Changes& changes) { return test::run(changes).points[0].iteration; };
    for (const double rate : {0.5, 2.0}) {
      const Seconds scaled = iteration(with(plain, {{"/platform/scale", fmt::format(R"({{"rate": {}}})", rate)}}));
      const double apart = std::string_view(by).starts_with("nccl") ? 0.02 : 1e-12;
      EXPECT_NEAR(scaled / iteration(with(plain, {{"/platform/override", rates_times(rate)}})), 1, apart) << by << rate;
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

}}  // namespace farandole::what_if_test
