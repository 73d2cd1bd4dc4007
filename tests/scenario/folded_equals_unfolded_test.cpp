// A folded run is the unfolded one in every number of its point: all strategies and modes, with every effect, at every
// fidelity, on nodes of one device and of several.
#include <random>

#include <gtest/gtest.h>

#include "report/record.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::folded_equals_unfolded_test { namespace {

const std::vector<std::string> with_servers{
    R"({"kind": "parameter_server"})",
    R"({"kind": "parameter_server", "servers": 3, "server_placement": "by_size", "colocated": true})",
    R"({"kind": "parameter_server", "servers": "one per node", "server_placement": "split", "colocated": true})",
    R"({"kind": "parameter_server", "servers": 2, "aggregate_on_node": true, "server_rate": "1 GB/s"})",
    R"({"kind": "parameter_server", "mode": "asynchronous"})",
    R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 2, "colocated": true})",
    R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 3, "server_placement": "split"})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 0})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 2, "servers": 2, "colocated": true})",
    R"({"kind": "distributed_replicated", "servers": 2})",
};

const std::vector<std::string> with_collectives{
    R"({"kind": "horovod", "version": "0.21.0"})",
    R"({"kind": "horovod", "version": "0.9.6", "compression": "int8"})",
    R"({"kind": "ddp"})",
    R"({"kind": "ddp", "streams": 2})",
    R"({"kind": "ddp", "compression": "power_sgd"})",
    R"({"kind": "allgather"})",
    R"({"kind": "local_sgd", "period": 4})",
    R"({"kind": "diloco", "inner_steps": 2})",
    R"({"kind": "diloco", "inner_steps": 2, "fragments": 2, "overlap_steps": 1})",
};

const std::vector<std::string> effects_of_all{
    R"({})",
    R"({"step_jitter": "1 %"})",
    R"({"device_spread": "2 %"})",
    R"({"os_noise": {"period": "20 s", "duration": "500 ms"}})",
    R"({"straggler": {"ranks": [1], "slowdown": "10 %"}})",
    R"({"slow_links": {"nodes": [1], "rate": "50 %"}})",
    R"({"checkpoint": {"every_steps": 50, "rate": "1 GB/s"}})",
};

const std::vector<std::string> effects_of_collectives{
    R"({"input": {"storage_samples_per_second": 900, "prefetch": 2, "variation": "10 %"}})",
    R"({"communication_compute_share": "5 %"})",
};

/// Seconds of a breakdown may be zero but for rounding: they are small beside the iteration, not beside themselves.
void expect_equal(const Record& folded, const Record& unfolded, double iteration, const std::string& of_what) {
  ASSERT_EQ(folded.size(), unfolded.size()) << of_what;
  const Record expected = unfolded.flatten();
  const Record flat = folded.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (pointer == "/folded") continue;
    ASSERT_TRUE(expected.contains(pointer)) << of_what << pointer;
    if (!value.is_number()) {
      EXPECT_EQ(value, expected[pointer]) << of_what << pointer;
      continue;
    }
    const double one = value.get<double>();
    const double other = expected[pointer].get<double>();
    const double scale = std::max({std::abs(one), std::abs(other), pointer.starts_with("/breakdown") ? iteration : 0});
    EXPECT_NEAR(one, other, 1e-9 * scale) << of_what << pointer;
  }
}

void expect_same_folded(const std::string& strategy, const std::string& effects, const char* fidelity,
                        const std::vector<test::Change>& platform) {
  std::vector<test::Change> changes{{"/strategy", strategy},
                                    {"/effects", effects},
                                    {"/measure/fidelity", '"' + std::string(fidelity) + '"'},
                                    {"/measure/iterations", "12"},
                                    {"/measure/warmup", "2"}};
  changes.insert(changes.end(), platform.begin(), platform.end());
  RunOptions options;
  const TrainingPoint folded = test::run(changes, options).points.front();
  options.folding = FoldingPolicy::never;
  const TrainingPoint unfolded = test::run(changes, options).points.front();
  EXPECT_FALSE(unfolded.folded) << strategy;
  expect_equal(to_record(folded), to_record(unfolded), folded.iteration.si(),
               strategy + ", effects " + effects + ", " + fidelity + ", " + platform.front().value + " ");
}

const std::vector<std::vector<test::Change>> platforms{
    {{"/platform/topology", "ethernet-25g"}, {"/platform/ranks", "5"}},
    {{"/platform/topology", "dgx1-p100"},
     {"/platform/ranks", "8"},
     {"/platform/override",
      R"({"/node/devices": 4, "/node/fabric": {"pcie": {"link": {"rate": "12 GB/s"}}}, "/node/nics_at": ["socket0"], "/variability": {"device_spread": "0 %", "step_jitter": "0 %"}})"}},
};

void expect_same_folded(const std::vector<std::string>& strategies, const std::vector<std::string>& effects,
                        const char* fidelity) {
  for (const auto& platform : platforms) {
    for (const std::string& strategy : strategies) {
      for (const std::string& effect : effects) expect_same_folded(strategy, effect, fidelity, platform);
    }
  }
}

class FoldedRun : public testing::TestWithParam<const char*> {};

TEST_P(FoldedRun, WithServersIsTheUnfoldedOneInEveryNumber) {
  expect_same_folded(with_servers, effects_of_all, GetParam());
}

TEST_P(FoldedRun, WithCollectivesIsTheUnfoldedOneInEveryNumber) {
  // Horovod's cycles, counted in messages one by one, turn rounding into a later or earlier tick.
  std::vector<std::string> strategies = with_collectives;
  if (std::string(GetParam()) == "message") {
    std::erase_if(strategies,
                  [](const std::string& strategy) { return strategy.find("horovod") != std::string::npos; });
  }
  expect_same_folded(strategies, effects_of_all, GetParam());
  std::erase_if(strategies, [](const std::string& strategy) { return strategy.find("streams") != std::string::npos; });
  expect_same_folded(strategies, effects_of_collectives, GetParam());
}

/// Few of many ranks stand for all: drawn strategies, groups, effects and machines, by which they differ.
TEST(FoldedShards, AreTheUnfoldedOnesInEveryNumber) {
  std::mt19937 random(31);
  const auto one_of = [&](const std::vector<std::string>& all) {
    return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  };
  const std::vector<std::string> strategies{
      R"("kind": "fsdp")",
      R"("kind": "fsdp", "reshard_after_forward": false)",
      R"("kind": "fsdp", "limit_all_gathers": false, "backward_prefetch": "NO_PREFETCH")",
      R"("kind": "fsdp", "accumulation": 2, "no_sync": false)",
      R"("kind": "fsdp", "sharding_strategy": "NO_SHARD")",
      R"("kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 16)",
      R"("kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 4, "accumulation": 2)",
      R"("kind": "fsdp", "sharding_strategy": "_HYBRID_SHARD_ZERO2")",
      R"("kind": "fsdp", "tensor_parallel": %)",
      R"("kind": "fsdp", "tensor_parallel": %, "sequence_parallel": true, "accumulation": 3)",
      R"("kind": "zero", "stage": 1)",
      R"("kind": "zero", "stage": 1, "tensor_parallel": %)",
      R"("kind": "zero", "stage": 2)",
      R"("kind": "zero", "stage": 3, "shard_group": 8)"};
  const std::vector<std::string> effects{
      R"("step_jitter": "2 %")",
      R"("step_jitter": "1 %", "device_spread": "5 %")",
      R"("device_spread": "3 %", "communication_compute_share": "40 %")",
      R"("step_jitter": "1 %", "os_noise": {"period": "2 s", "duration": "50 ms"})",
      R"("step_jitter": "1 %", "straggler": {"ranks": [77], "slowdown": "10 %"}, "communication_compute_share": "20 %")",
      R"("step_jitter": "1 %", "slow_links": {"nodes": [3], "rate": "20 %"})"};
  for (int drawn = 0; drawn < 60; ++drawn) {
    std::string strategy = one_of(strategies);
    std::vector<std::string> machines{"dgx-h100", "hgx-h100", "polaris"};
    const auto place = strategy.find('%');
    if (place == std::string::npos) machines.emplace_back("aurora");
    const std::string machine = one_of(machines);
    if (place != std::string::npos) strategy[place] = machine == "polaris" ? '4' : '8';  // a node's devices
    expect_same_folded("{" + strategy + "}", "{" + one_of(effects) + "}", "analytic",
                       {{"/platform/topology", '"' + machine + '"'},
                        {"/platform/ranks", one_of({"96", "192"})},
                        {"/workload", R"({"model": "gpt2_medium", "batch_per_rank": )" + one_of({"1", "4", "16"}) +
                                          R"(, "precision": "bf16", "optimizer": "adam"})"},
                        {"/measure/bands", "false"}});
  }
}

/// Servers with nodes of their own: what workers are is told apart, what servers are is not.
const std::vector<std::string> with_alike_servers{
    R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 4, "server_placement": "split", "server_rate": "1 GB/s"})",
    R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 4, "server_placement": "split", "compression": "int8"})",
    R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 5, "server_placement": "by_size"})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1, "servers": 4, "server_placement": "split"})",
    R"({"kind": "parameter_server", "servers": 4, "server_placement": "split"})",
    R"({"kind": "distributed_replicated", "servers": 4, "server_placement": "split"})",
};

TEST_P(FoldedRun, WithAlikeServersIsTheUnfoldedOneInEveryNumber) {
  for (const auto& platform : std::vector<std::vector<test::Change>>{
           {{"/platform/topology", "ethernet-25g"}, {"/platform/ranks", "5"}},
           {{"/platform/topology", "thetagpu"},
            {"/platform/ranks", "11"},
            {"/platform/override",
             R"({"/network/nodes_per_leaf": 3, "/network/spine_ports": 400, "/network/leaf_ports": 400})"}}}) {
    for (const std::string& strategy : with_alike_servers) {
      for (const char* effect : {R"({"step_jitter": "1 %"})", R"({"slow_links": {"nodes": [1, 6], "rate": "50 %"}})",
                                 R"({"communication_compute_share": "5 %"})"}) {
        expect_same_folded(strategy, effect, GetParam(), platform);
      }
    }
  }
}

TEST_P(FoldedRun, WithAWorkerAndAServerOnEveryLeafIsTheUnfoldedOneInEveryNumber) {
  // All workers look alike and so do all servers, but not all pairs of them: each worker has one server on its leaf.
  for (const char* mode : {"synchronous", "asynchronous"}) {
    expect_same_folded(R"({"kind": "parameter_server", "servers": 2, "server_placement": "split", "mode": ")" +
                           std::string(mode) + R"("})",
                       "{}", GetParam(),
                       {{"/platform/topology", "lab-two-tier"},
                        {"/platform/ranks", "2"},
                        {"/platform/override", R"({"/network/link/rate": "10 Mbit/s"})"},
                        {"/platform/placement", R"("by_group")"}});
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& fidelity) {
  return fidelity.param;
}

INSTANTIATE_TEST_SUITE_P(AtEveryFidelity, FoldedRun, testing::Values("analytic", "flow", "message"), name_of);

TEST(FoldedServers, StalenessWithoutVariabilityIsThatOfAllOthers) {
  // n workers that do everything at the same moment: between a worker's pull and its push each other one pushes once.
  for (const char* mode : {"asynchronous", "stale_synchronous"}) {
    for (const int ranks : {1, 4, 8, 16}) {
      const auto point = [&](FoldingPolicy folding) {
        RunOptions options;
        options.folding = folding;
        return test::run({{"/workload/model", "resnet50"},
                          {"/platform/ranks", std::to_string(ranks)},
                          {"/strategy", R"({"kind": "parameter_server", "mode": ")" + std::string(mode) + R"("})"}},
                         options)
            .points.front();
      };
      EXPECT_NEAR(point(FoldingPolicy::where_exact).mean_staleness, ranks - 1, 1e-9) << mode << ' ' << ranks;
      EXPECT_NEAR(point(FoldingPolicy::never).mean_staleness, ranks - 1, 1e-9) << mode << ' ' << ranks;
      EXPECT_EQ(point(FoldingPolicy::where_exact).folded, ranks > 1);
    }
  }
}

TEST(FoldedServers, ThatSplitEveryVariableAreCarriedAsOneHoweverWorkersDiffer) {
  const auto folded = [](const char* placement, const char* effects) {
    return test::run({{"/effects", effects},
                      {"/strategy",
                       R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 4, "server_placement": ")" +
                           std::string(placement) + R"("})"}})
        .points.front()
        .folded;
  };
  EXPECT_TRUE(folded("split", R"({"step_jitter": "1 %"})"));
  EXPECT_FALSE(folded("by_size", R"({"step_jitter": "1 %"})"));  // each keeps variables of its own
}

TEST(FoldedServers, NoiseThatSparesTheFirstIterationsIsNotFoldedAway) {
  // Every 20 s for 500 ms: of 4 ranks and 400 iterations of 0.26 s, 20 are hit in the mean.
  const auto point = [](const char* mode, const char* effects) {
    return test::run({{"/workload/model", "resnet50"},
                      {"/measure/iterations", "400"},
                      {"/effects", effects},
                      {"/strategy", R"({"kind": "parameter_server", "mode": ")" + std::string(mode) + R"("})"}})
        .points.front();
  };
  const char* noise = R"({"os_noise": {"period": "20 s", "duration": "500 ms"}})";
  EXPECT_GT(point("synchronous", noise).iteration, point("synchronous", "{}").iteration * 1.002);
  EXPECT_TRUE(point("asynchronous", "{}").folded);
  EXPECT_FALSE(point("asynchronous", noise).folded);
  EXPECT_GT(point("asynchronous", noise).breakdown.straggler, 0_s);
}

}}  // namespace farandole::folded_equals_unfolded_test
