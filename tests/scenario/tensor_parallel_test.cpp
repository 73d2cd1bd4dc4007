// Replicas of several ranks: what a tensor group exchanges, what is left for data parallelism, and what is refused.
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"
#include "scenario/scenario_kit.hpp"
#include "scenario/train.hpp"

namespace farandole::tensor_parallel_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

using Changes = std::vector<test::Change>;

constexpr int blocks = 32;  // of Llama 3 8B

/// Devices are alike, and a running collective takes nothing from them.
Changes llama(const std::string& strategy, int ranks, const std::string& fidelity = "analytic",
              const std::string& recompute = "none") {
  return {{"/workload", R"({"model": "llama3_8b", "variant": "seq8192", "batch_per_rank": 1, "precision": "bf16",
                            "gradient_type": "bf16", "optimizer": "adam", "recompute": ")" +
                            recompute + R"("})"},
          {"/platform", R"({"topology": "hgx-h100", "ranks": )" + std::to_string(ranks) + "}"},
          {"/strategy", strategy},
          {"/effects", R"({"device_spread": "0 %", "step_jitter": "0 %", "communication_compute_share": "0 %"})"},
          {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": ")" + fidelity + R"("})"}};
}

Scenario scenario_of(const Changes& changes) {
  return read_scenario(test::changed(changes).root(), Catalogue());
}

TrainingPoint point(const Changes& changes, const RunOptions& options = {}) {
  return test::run(changes, options).points.at(0);
}

std::string fsdp(const std::string& more) {
  return R"({"kind": "fsdp", "tensor_parallel": 8)" + more + "}";
}

/// Tokens x width in bf16.
const Bytes once = 8192.0 * 4096 * 2_B;

/// Of all eight devices of a node.
Seconds within_a_node(Operation operation, const std::string& fidelity) {
  return collective_time(scenario_of(llama(R"({"kind": "fsdp"})", 8, fidelity, "full")), operation, once) -
         scenario_of(llama(R"({"kind": "fsdp"})", 8, fidelity, "full")).platform.platform.transport.launch;
}

TEST(TensorParallel, FourAllreducesOfABlockAndTwoForTheWordsAreWaitedFor) {
  // Megatron-LM: two forward and two backward a block, of batch x tokens x width; one for the embedding, one for the
  // head. One replica: nothing else is communicated, and an iteration is computation and these.
  for (const char* fidelity : {"analytic", "flow", "message"}) {
    const TrainingPoint alone = point(llama(fsdp(""), 8, fidelity));
    const Seconds each = within_a_node(Operation::allreduce, fidelity);
    EXPECT_NEAR(*alone.exposed->tensor / each, 4 * blocks + 2, 1e-6 * blocks) << fidelity;
    EXPECT_NEAR(alone.iteration.si(), (alone.breakdown.compute + *alone.exposed->tensor).si(), 1e-9) << fidelity;
    EXPECT_EQ(alone.collectives_per_iteration, 4 * blocks + 2);
  }
}

TEST(TensorParallel, SharedTokensMakeEachAllreduceAReduceScatterAndAnAllgather) {
  const TrainingPoint alone = point(llama(fsdp(R"(, "sequence_parallel": true)"), 8, "flow"));
  const Seconds both = within_a_node(Operation::allgather, "flow") + within_a_node(Operation::reduce_scatter, "flow");
  EXPECT_NEAR(*alone.exposed->tensor / both, 4 * blocks + 2, 1e-6 * blocks);
}

TEST(TensorParallel, WhatIsRecomputedIsExchangedAgain) {
  const Seconds kept = *point(llama(fsdp(""), 8)).exposed->tensor;
  const Seconds again = *point(llama(fsdp(""), 8, "analytic", "full")).exposed->tensor;
  EXPECT_NEAR(again / kept, (6.0 * blocks + 2) / (4.0 * blocks + 2), 1e-9);
}

TEST(TensorParallel, EveryPassOfAccumulationExchanges) {
  const Seconds once_only = *point(llama(fsdp(""), 16)).exposed->tensor;
  for (const char* kind : {"fsdp", "zero", "ddp"}) {
    const std::string three = std::string(R"({"kind": ")") + kind + R"(", "tensor_parallel": 8, "accumulation": 3})";
    EXPECT_NEAR(*point(llama(three, 16)).exposed->tensor / once_only, 3, 1e-6) << kind;
  }
}

TEST(TensorParallel, DataParallelismHasOnlyItsPartToSend) {
  // Norms are whole on every rank.
  const TrainingPoint whole = point(llama(R"({"kind": "fsdp"})", 32, "analytic", "full"));
  const TrainingPoint parts = point(llama(fsdp(""), 32, "analytic", "full"));
  const double norms = (2 * blocks + 1) * 4096 * 2.0;
  EXPECT_NEAR(parts.gradient_bytes.si(), (whole.gradient_bytes.si() - norms) / 8 + norms, 1);
  EXPECT_LT(parts.memory.activations, whole.memory.activations);
  EXPECT_LT(parts.memory.gathered.si(), whole.memory.gathered.si() / 7);
}

TEST(TensorParallel, SamplesTokensAndUtilisationCountReplicas) {
  const TrainingPoint of_two = point(llama(fsdp(R"(, "accumulation": 4)"), 16));
  EXPECT_NEAR(of_two.samples_per_second * of_two.iteration.si(), 2 * 4, 1e-9);
  EXPECT_NEAR(of_two.utilisation.tokens_per_second, 8192 * of_two.samples_per_second, 1e-6);
  const TrainingPoint whole = point(llama(R"({"kind": "fsdp"})", 16, "analytic", "full"));
  EXPECT_NEAR(of_two.utilisation.tflops / of_two.samples_per_second,
              whole.utilisation.tflops / whole.samples_per_second, 1e-9);
  EXPECT_LE(of_two.scaling_efficiency, 1 + 1e-9);
  EXPECT_GT(of_two.scaling_efficiency, 0.5);
}

TEST(TensorParallel, FoldedIsUnfolded) {
  for (const char* kind : {R"({"kind": "ddp", "tensor_parallel": 8})", R"({"kind": "zero", "tensor_parallel": 4})",
                           R"({"kind": "fsdp", "tensor_parallel": 4, "sharding_strategy": "HYBRID_SHARD",
                               "shard_group": 2})"}) {
    RunOptions unfolded;
    unfolded.folding = FoldingPolicy::never;
    const Changes changes = llama(kind, 16, "flow", "full");
    EXPECT_NEAR(point(changes).iteration / point(changes, unfolded).iteration, 1, 1e-9) << kind;
  }
}

TEST(TensorParallel, RefusesWhatIsNotSimulated) {
  const auto error = [](const std::string& strategy, int ranks = 16) {
    return test::error_of(llama(strategy, ranks, "analytic", "full"));
  };
  EXPECT_THAT(error(R"({"kind": "horovod", "tensor_parallel": 8})"),
              AllOf(HasSubstr("/strategy/tensor_parallel"), HasSubstr("only ddp, fsdp, zero")));
  EXPECT_THAT(error(R"({"kind": "fsdp", "tensor_parallel": 3})"), HasSubstr("a divisor of the 16 ranks"));
  EXPECT_THAT(error(R"({"kind": "fsdp", "tensor_parallel": 16})"), HasSubstr("within a node"));
  EXPECT_THAT(error(R"({"kind": "fsdp", "sequence_parallel": true})"), HasSubstr("/strategy/sequence_parallel"));
  EXPECT_THAT(error(R"({"kind": "fsdp", "tensor_parallel": 8, "sharding_strategy": "HYBRID_SHARD", "shard_group": 4})"),
              HasSubstr("/strategy/shard_group"));  // two replicas
  Changes with_input = llama(fsdp(""), 16);
  with_input.push_back({"/effects/input", R"({"access": "random"})"});
  EXPECT_THAT(test::error_of(with_input), HasSubstr("/effects/input: expected no \"input\""));
  Changes measured = llama(fsdp(""), 16);
  measured.push_back({"/workload/device_steps", R"([{"batch": 1, "time": "1 s"}])"});
  EXPECT_THAT(test::error_of(measured), HasSubstr("no measured steps with \"tensor_parallel\""));
}

/// With t ranks a replica and s replicas that keep a model together, rank r is at place r mod t of replica r / t. Ranks
/// meet in the groups whose other coordinates they share, and every kind of group has each rank once.
TEST(GroupMembers, AreTheLinesOfAGridOfPlacesReplicasAndShards) {
  constexpr int ranks = 64;
  Placement placement;
  placement.device_of_rank.resize(ranks);
  std::iota(placement.device_of_rank.begin(), placement.device_of_rank.end(), 0);
  placement.nodes_used = ranks / 8;
  for (const int t : {1, 2, 8}) {
    for (const int s : {2, 4, 8}) {
      const Scenario scenario = scenario_of(llama(
          fmt::format(
              R"({{"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": {}, "tensor_parallel": {}}})", s,
              t),
          ranks, "analytic", "full"));
      const std::map<Group, std::function<std::pair<int, int>(int)>> coordinates{
          {Group::all, [&](int r) { return std::pair(r % t, 0); }},
          {Group::tensor, [&](int r) { return std::pair(r / t, 0); }},
          {Group::shards, [&](int r) { return std::pair(r % t, r / t / s); }},
          {Group::replicas, [&](int r) { return std::pair(r % t, r / t % s); }},
      };
      for (const auto& [group, of] : coordinates) {
        std::map<std::pair<int, int>, std::vector<int>> expected;
        for (int rank = 0; rank < ranks; ++rank) expected[of(rank)].push_back(rank);
        std::vector<std::vector<int>> lines;
        for (const auto& line : expected) lines.push_back(line.second);
        EXPECT_THAT(members_of(scenario, group, placement), testing::UnorderedElementsAreArray(lines))
            << "group " << static_cast<int>(group) << ", " << t << " ranks a replica, " << s << " shards";
      }
    }
  }
}

}}  // namespace farandole::tensor_parallel_test
