// What fsdp and zero offer to change is what applies, and each is the run made by hand.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/what_if_kit.hpp"

namespace farandole::what_if_sharded_test { namespace {

using test::Changes;
using test::expect_not_offered_again;
using test::expect_the_laws;
using test::expect_the_run_by_hand;
using test::explained;
using test::find;
using test::machine;
using test::with;

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

TEST(WhatIf, OfAShardedStrategyIsNotOfferedAgainWhereItIsTheSetting) {
  for (const std::string& strategy : sharded_strategies) {
    const Changes changes = sharded(strategy);
    const TrainingPoint point = explained(changes);
    for (const WhatIf& what_if : point.explanation->what_ifs) {
      if (what_if.change.find("passes") == std::string::npos) expect_not_offered_again(changes, what_if);
    }
  }
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
  expect_the_run_by_hand(changes, point, *fewer);
}

/// Two DGX A100 as 64 devices of a rack that NVLink joins: eight hosts' NICs.
TEST(WhatIf, OfAnNvLinkDomainJoinsTheDevicesOfARack) {
  const Changes changes = with(sharded(sharded_strategies[0]), {{"/platform/override", "{}"}});
  const TrainingPoint point = explained(changes);
  const WhatIf* joined = find(point, "NVLink domain of 72");
  ASSERT_NE(joined, nullptr);
  std::string set;
  for (const SetValue& value : joined->set) set += value.json;
  EXPECT_THAT(set, testing::HasSubstr("64"));
  EXPECT_THAT(set, testing::HasSubstr(R"("switch31","switch31"])"));
  // Each device has a NIC of its own here, so there is little to gain; what a ring inside a node carries of its own
  // part costs as much.
  EXPECT_GT(joined->efficiency_points, -0.1);
  expect_the_run_by_hand(changes, point, *joined);
}

TEST(WhatIf, OfTensorGroupsHasAsManySamplesAStep) {
  const Changes changes = sharded(R"({"kind": "fsdp"})", R"({"model": "gpt2_medium", "batch_per_rank": 2,
      "precision": "bf16", "gradient_type": "bf16", "optimizer": "adam"})");
  const TrainingPoint point = explained(changes);
  const WhatIf* groups = find(point, "tensor groups of a node");
  ASSERT_NE(groups, nullptr);
  EXPECT_NEAR(groups->samples_per_second * groups->iteration.si(), 2 * 16, 1e-6);
  expect_the_run_by_hand(changes, point, *groups);
  const Changes grouped = with(changes, {{"/strategy/tensor_parallel", "8"}});
  EXPECT_EQ(find(explained(grouped), "tensor groups of a node"), nullptr);
  const TrainingPoint of_groups = explained(grouped);
  const WhatIf* shared = find(of_groups, "tokens shared within tensor groups");
  ASSERT_NE(shared, nullptr);
  expect_the_run_by_hand(grouped, of_groups, *shared);
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

}}  // namespace farandole::what_if_sharded_test
