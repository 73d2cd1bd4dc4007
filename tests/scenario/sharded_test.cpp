// fsdp and zero from a scenario's text: what is refused, and laws of whole runs.
#include <algorithm>
#include <cstdio>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::sharded_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Changes = std::vector<test::Change>;

Changes llama(const std::string& strategy, const std::string& fidelity = "analytic", int ranks = 16) {
  return {{"/workload", R"({"model": "llama3_8b", "variant": "seq8192", "batch_per_rank": 1, "precision": "bf16",
                            "recompute": "full", "optimizer": "adam"})"},
          {"/platform", R"({"topology": "hgx-h100", "ranks": )" + std::to_string(ranks) + "}"},
          {"/strategy", strategy},
          {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": ")" + fidelity + R"("})"}};
}

TrainingPoint point(const Changes& changes, const RunOptions& options = {}) {
  return test::run(changes, options).points.at(0);
}

const std::vector<std::string> strategies{
    R"({"kind": "fsdp"})",
    R"({"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP"})",
    R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 8})",
    R"({"kind": "zero", "stage": 1, "overlap_params": true})",
    R"({"kind": "zero", "stage": 2})",
    R"({"kind": "zero", "stage": 3, "shard_group": 8})",
};

TEST(ShardedScenario, RefusesAGroupThatDoesNotDivideTheRanks) {
  for (const char* strategy : {R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 3})",
                               R"({"kind": "zero", "stage": 1, "shard_group": 3})"}) {
    EXPECT_THAT(test::error_of(llama(strategy)),
                AllOf(HasSubstr("/strategy/shard_group"), HasSubstr("a divisor of the 16 ranks")));
  }
}

TEST(ShardedScenario, NamesTheNearestOfWhatItDoesNotKnow) {
  const auto error = [](const std::string& setting) {
    return test::error_of(llama(R"({"kind": "fsdp", )" + setting + "}"));
  };
  EXPECT_THAT(error(R"("sharding_strategy": "FULL_SHRAD")"), HasSubstr("did you mean \"FULL_SHARD\"?"));
  EXPECT_THAT(error(R"("backward_prefetch": "BACKWARD_PRO")"), HasSubstr("did you mean \"BACKWARD_PRE\"?"));
  EXPECT_THAT(error(R"("param_dtype": "bf61")"), HasSubstr("did you mean \"bf16\"?"));
  EXPECT_THAT(error(R"("limit_all_gather": true)"), HasSubstr("did you mean \"limit_all_gathers\"?"));
}

TEST(ShardedScenario, TakesAGroupWithHybridShardingAndOnlyThen) {
  EXPECT_THAT(test::error_of(llama(R"({"kind": "fsdp", "shard_group": 8})")), HasSubstr("no shard_group but with"));
}

TEST(ShardedScenario, KeepsAModelInANodeWhereHybridShardingNamesNoGroup) {
  const auto hybrid = [](const std::string& more) {
    return point(llama(R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD")" + more + "}")).iteration;
  };
  EXPECT_EQ(hybrid(""), hybrid(R"(, "shard_group": 8)"));
  EXPECT_NE(hybrid(""), hybrid(R"(, "shard_group": 4)"));
  EXPECT_EQ(hybrid(R"(, "tensor_parallel": 2)"), hybrid(R"(, "tensor_parallel": 2, "shard_group": 4)"));
  EXPECT_THAT(test::error_of(llama(R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD"})", "analytic", 12)),
              HasSubstr("the 12 ranks are no whole nodes of 8"));
}

TEST(ShardedScenario, TakesTheSameAtAllFidelities) {
  for (const std::string& strategy : strategies) {
    const Seconds flow = point(llama(strategy, "flow")).iteration;
    EXPECT_NEAR(point(llama(strategy, "analytic")).iteration / flow, 1, 0.02) << strategy;
    EXPECT_NEAR(point(llama(strategy, "message")).iteration / flow, 1, 0.05) << strategy;
  }
}

TEST(ShardedScenario, SaysWhichOperationsAreExposedAtAllFidelities) {
  for (const std::string& strategy : strategies) {
    for (const char* fidelity : {"analytic", "flow", "message"}) {
      const TrainingPoint result = point(llama(strategy, fidelity));
      ASSERT_TRUE(result.exposed) << strategy;
      const auto& [allgather, reduce_scatter, allreduce, tensor, experts, pipeline] = *result.exposed;
      EXPECT_FALSE(tensor || experts || pipeline) << strategy;
      EXPECT_NEAR((allgather + reduce_scatter + allreduce) / result.breakdown.exposed_communication, 1, 1e-9);
      EXPECT_GT(allgather, Seconds(0)) << strategy;
      EXPECT_GT(reduce_scatter, Seconds(0)) << strategy;
      EXPECT_EQ(allreduce > Seconds(0), strategy.find("shard_group") != std::string::npos) << strategy;
    }
  }
  EXPECT_FALSE(point({{"/strategy", R"({"kind": "ddp"})"}}).exposed);
}

/// A step that can exist is one of a rank that updates its share, as in the run: no device holds the whole of a model
/// that is sharded because none does. Where ranks are alike, E = (T - exposed) / T.
TEST(ShardedScenario, IsMeasuredAgainstARankThatUpdatesItsShare) {
  for (const std::string& strategy : strategies) {
    Changes changes = llama(strategy);
    changes.push_back(
        {"/effects", R"({"device_spread": "0 %", "step_jitter": "0 %", "communication_compute_share": "0 %"})"});
    const TrainingPoint sharded = point(changes);
    EXPECT_NEAR(sharded.scaling_efficiency, sharded.breakdown.compute / sharded.iteration, 1e-9) << strategy;
    EXPECT_TRUE(sharded.notes.empty()) << strategy;
  }
}

/// The ranks of one node share the memory of its host, and each updates its share there, by itself as in the run.
TEST(ShardedScenario, WhoseOptimizerIsOnTheHostsIsMeasuredAgainstARankThatUpdatesItsShareThere) {
  for (const std::string strategy : {R"({"kind": "fsdp", "offload_optimizer": true})",
                                     R"({"kind": "zero", "stage": 2, "offload_optimizer": true})"}) {
    Changes changes = llama(strategy, "analytic", 8);
    changes.push_back({"/platform/override", R"({"/node/host": {"memory_bandwidth": "40 GB/s"}})"});
    const double efficiency = point(changes).scaling_efficiency;
    EXPECT_GT(efficiency, 0.8) << strategy;
    EXPECT_LE(efficiency, 1) << strategy;
  }
}

/// Of the one iteration that is measured: as many as there are collectives, in line on each stream.
TEST(ShardedScenario, HasEveryCollectiveOnTheTimelineOfItsStream) {
  for (const std::string& strategy : strategies) {
    RunOptions with_timeline;
    with_timeline.record_timeline = true;
    const RunResult result = test::run(llama(strategy), with_timeline);
    std::map<std::string, std::vector<std::pair<Seconds, Seconds>>> lanes;
    for (const Span& span : result.timeline->spans()) {
      if (span.lane.starts_with("communication")) lanes[span.lane].emplace_back(span.start, span.start + span.duration);
    }
    std::size_t collectives = 0;
    for (auto& [lane, spans] : lanes) {
      collectives += spans.size();
      std::ranges::sort(spans);
      for (std::size_t i = 1; i < spans.size(); ++i) {
        EXPECT_GE(spans[i].first, spans[i - 1].second * (1 - 1e-12)) << strategy << ": " << lane;
      }
    }
    EXPECT_EQ(collectives, 3 * result.points.at(0).collectives_per_iteration) << strategy;  // warm-up, too
  }
}

/// In every number, with one rank unlike the other.
TEST(ShardedScenario, FoldsExactly) {
  RunOptions unfolded;
  unfolded.folding = FoldingPolicy::never;
  for (const std::string& strategy : strategies) {
    const TrainingPoint folded = point(llama(strategy, "flow", 32));
    const TrainingPoint plain = point(llama(strategy, "flow", 32), unfolded);
    EXPECT_NEAR(folded.iteration / plain.iteration, 1, 1e-9) << strategy;
    EXPECT_NEAR(folded.scaling_efficiency, plain.scaling_efficiency, 1e-9) << strategy;
    EXPECT_EQ(folded.collectives_per_iteration, plain.collectives_per_iteration) << strategy;
    for (Seconds Breakdown::*part : {&Breakdown::compute, &Breakdown::exposed_communication, &Breakdown::negotiation,
                                     &Breakdown::straggler, &Breakdown::input, &Breakdown::other}) {
      EXPECT_NEAR((folded.breakdown.*part - plain.breakdown.*part) / plain.iteration, 0, 1e-9) << strategy;
    }
  }
}

TEST(ShardedScenario, OfSeventyBillionParametersOnEightDevicesIsRefusedWithWaysOutThatFit) {
  Changes changes = llama(R"({"kind": "fsdp"})", "analytic", 8);
  changes.push_back({"/workload/model", R"("llama3_70b")"});
  const std::string error = test::error_of(changes);
  EXPECT_THAT(error, AllOf(HasSubstr("ways out"), HasSubstr("fsdp with FULL_SHARD over "),
                           Not(HasSubstr("a sharded optimizer"))));
  changes.push_back({"/platform/ranks", error.substr(error.find("SHARD over ") + 11,
                                                     error.find(" ranks") - error.find("SHARD over ") - 11)});
  EXPECT_EQ(test::error_of(changes), "no error");
}

/// DDP's copies of all gradients in buckets are not there any more where parameters are sharded.
TEST(ShardedScenario, OfEightBillionParametersByDdpIsRefusedWithAShardingThatFitsTheSameRanks) {
  Changes changes = llama(R"({"kind": "ddp"})", "analytic", 64);
  EXPECT_THAT(test::error_of(changes), HasSubstr("fsdp with FULL_SHARD over 64 ranks; "));
  changes.push_back({"/strategy", R"({"kind": "fsdp"})"});
  EXPECT_EQ(test::error_of(changes), "no error");
}

TEST(ShardedScenario, IsOfferedWithTheRecomputationWithoutWhichItWouldNotFitEither) {
  Changes changes = llama(R"({"kind": "ddp"})", "analytic", 64);
  changes.push_back({"/workload/batch_per_rank", "2"});
  changes.push_back({"/workload/recompute", "none"});
  EXPECT_THAT(test::error_of(changes), HasSubstr(R"(fsdp with FULL_SHARD over 64 ranks and "recompute": "selective")"));
  changes.push_back({"/strategy", R"({"kind": "fsdp"})"});
  EXPECT_NE(test::error_of(changes), "no error");
  changes.push_back({"/workload/recompute", "selective"});
  EXPECT_EQ(test::error_of(changes), "no error");
}

}}  // namespace farandole::sharded_test
