// Layers of experts: what ranks that share them exchange, keep and reduce, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::experts_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

using Changes = std::vector<test::Change>;

constexpr int blocks = 32;  // of Mixtral 8x7B

/// Devices are alike, and a running collective takes nothing from them; with sgd all of it fits.
Changes mixtral(const std::string& strategy, int ranks, const std::string& fidelity = "analytic",
                const std::string& recompute = "none") {
  return {{"/workload", R"({"model": "mixtral_8x7b", "batch_per_rank": 1, "precision": "bf16", "sequence_length": 1024,
                            "gradient_type": "bf16", "optimizer": "sgd", "recompute": ")" +
                            recompute + R"("})"},
          {"/platform", R"({"topology": "hgx-h100", "ranks": )" + std::to_string(ranks) + "}"},
          {"/strategy", strategy},
          {"/effects", R"({"device_spread": "0 %", "step_jitter": "0 %", "communication_compute_share": "0 %"})"},
          {"/measure", R"({"iterations": 1, "warmup": 1, "bands": false, "fidelity": ")" + fidelity + R"("})"}};
}

Scenario scenario_of(const Changes& changes) {
  return read_scenario(test::changed(changes).root(), Catalogue());
}

TrainingPoint point(const Changes& changes) {
  return test::run(changes).points.at(0);
}

const std::string shared = R"({"kind": "ddp", "expert_parallel": 8, "gradient_as_bucket_view": true})";

TEST(Experts, AreSentToAndFromTwiceForwardAndTwiceBackwardInEveryLayer) {
  // Pairwise alltoall among n ranks: n - 1 messages of 2 tokens x width / n each, one after the other (closed form
  // latency + bytes / rate); 4 of them a block, and one replica group has nothing else to send but what all have.
  for (const char* fidelity : {"analytic", "flow", "message"}) {
    Changes changes = mixtral(shared, 8, fidelity);
    changes.push_back({"/collectives", R"({"alltoall": "pairwise"})"});
    const TrainingPoint result = point(changes);
    const Scenario scenario = scenario_of(changes);
    JobClocks clocks(scenario, scenario.platform.placement);
    const Bytes size = 2 * 1024.0 * 4096 * 2_B;
    const Collective alltoall{Operation::alltoall, size, {}, {}, false, Group::experts};
    const Seconds each = latest(clocks.clock_of(alltoall).completion_times(size, all_at(8, 0_s)));
    const Transport& transport = scenario.platform.platform.transport;
    const Seconds message =
        transport.intra_node_latency + size / 8 / (400 * 1_GBps);  // NVLink, topologies/hgx-h100.json
    EXPECT_NEAR(each / (transport.launch + 7 * message), 1, 1e-6) << fidelity;
    // Gradients on the same links may hold some of the backward ones up.
    EXPECT_GE(*result.exposed->experts / each, 4 * blocks * (1 - 1e-9)) << fidelity;
    EXPECT_LE(*result.exposed->experts / each, 4 * blocks * 2.0) << fidelity;
  }
}

TEST(Experts, TakeTheirTimeExactlyWhereNothingElseIsOnTheLinks) {
  // One step in 100 passes: but for the last pass nothing else is sent.
  const Changes changes = mixtral(R"({"kind": "ddp", "expert_parallel": 8, "overlap": false})", 8);
  const TrainingPoint result = point(changes);
  const Scenario scenario = scenario_of(changes);
  JobClocks clocks(scenario, scenario.platform.placement);
  const Bytes size = 2 * 1024.0 * 4096 * 2_B;
  const Collective alltoall{Operation::alltoall, size, {}, {}, false, Group::experts};
  const Seconds each = latest(clocks.clock_of(alltoall).completion_times(size, all_at(8, 0_s)));
  EXPECT_NEAR(*result.exposed->experts / each, 4 * blocks, 1e-6 * blocks);
}

TEST(Experts, WhatIsRecomputedIsSentAgain) {
  const auto exchanged = [](const char* recompute) {
    return *point(mixtral(R"({"kind": "ddp", "expert_parallel": 8, "overlap": false})", 8, "analytic", recompute))
                .exposed->experts;
  };
  EXPECT_NEAR(exchanged("full") / exchanged("none"), 6.0 / 4, 1e-9);
}

TEST(Experts, OfOneRankAreItsPartOfTheModel) {
  // 8 x 3 x 4096 x 14336 a block are experts'; all else every rank has.
  const double of_experts = 32.0 * 8 * 3 * 4096 * 14336;
  const double whole = 46'702'792'704;
  const Model model = scenario_of(mixtral(shared, 8)).workload.model;
  for (const int group : {1, 2, 4, 8}) {
    const Model part = share_experts(model, group, 1).model;
    EXPECT_EQ(static_cast<double>(part.parameters()), whole - of_experts * (1 - 1.0 / group));
    EXPECT_NEAR(part.macs() / model.macs(), 1, 1e-12);
  }
}

TEST(Experts, AreReducedBetweenThoseThatHaveTheSameAndTheRestBetweenAll) {
  // Two nodes of eight, the experts of every layer over each of them: an allreduce's ring of two sends as many bytes as
  // the gradients have, over every rank's own NIC.
  const Scenario scenario = scenario_of(mixtral(shared, 16));
  const Job job = job_of(scenario, times_of(scenario));
  double of_experts = 0;
  double rest = 0;
  for (const Gradient& gradient : job.gradients) (gradient.is_of_experts ? of_experts : rest) += gradient.size.si();
  EXPECT_EQ(of_experts, 2 * 32.0 * 3 * 4096 * 14336);
  EXPECT_EQ(rest, 2 * (46'702'792'704 - 32.0 * 8 * 3 * 4096 * 14336));
  EXPECT_EQ(members_of(scenario, Group::expert_replicas, scenario.platform.placement).size(), 8U);
  EXPECT_THAT(members_of(scenario, Group::expert_replicas, scenario.platform.placement).at(3),
              testing::ElementsAre(3, 11));
  EXPECT_EQ(members_of(scenario, Group::experts, scenario.platform.placement).size(), 2U);
}

TEST(Experts, OfAnUnevenLoadMakeAllWaitForTheFullest) {
  const auto run = [](double imbalance) {
    return point(
        mixtral(fmt::format(R"({{"kind": "ddp", "expert_parallel": 8, "overlap": false, "gradient_as_bucket_view": true,
                         "expert_imbalance": {}}})",
                            imbalance),
                8));
  };
  const TrainingPoint even = run(1);
  const TrainingPoint uneven = run(1.5);
  EXPECT_GT(uneven.breakdown.compute, even.breakdown.compute);
  EXPECT_GT(*uneven.exposed->experts, 1.3 * *even.exposed->experts);
  EXPECT_LT(*uneven.exposed->experts, 1.5 * *even.exposed->experts * (1 + 1e-9));
}

TEST(Experts, GoIntoPipelines) {
  const TrainingPoint result =
      point(mixtral(R"({"kind": "ddp", "expert_parallel": 4, "pipeline": 2, "accumulation": 2})", 16));
  EXPECT_GT(*result.exposed->experts, 0_s);
  EXPECT_GT(*result.exposed->pipeline, 0_s);
  EXPECT_NEAR(result.breakdown.total() / result.iteration, 1, 1e-9);
}

TEST(Experts, RefuseWhatIsNotSimulated) {
  const auto error = [](const std::string& strategy) { return test::error_of(mixtral(strategy, 16)); };
  EXPECT_THAT(error(R"({"kind": "fsdp", "expert_parallel": 8})"),
              AllOf(HasSubstr("/strategy/expert_parallel"), HasSubstr("only ddp")));
  EXPECT_THAT(error(R"({"kind": "ddp", "expert_parallel": 3})"), HasSubstr("a divisor of the 16 replicas"));
  EXPECT_THAT(error(R"({"kind": "ddp", "expert_parallel": 16})"), HasSubstr("a divisor of the 8 experts"));
  EXPECT_THAT(error(R"({"kind": "ddp", "expert_parallel": 2, "tensor_parallel": 2})"), HasSubstr("not simulated"));
  EXPECT_THAT(error(R"({"kind": "ddp", "expert_imbalance": 2})"), HasSubstr("/strategy/expert_imbalance"));
  EXPECT_THAT(error(R"({"kind": "ddp", "expert_parallel": 8, "expert_imbalance": 9})"), HasSubstr("a number from 1"));
  Changes dense = mixtral(shared, 16);
  dense.push_back({"/workload/model", R"("llama3_8b")"});
  EXPECT_THAT(test::error_of(dense), HasSubstr("no layers of experts"));
}

}}  // namespace farandole::experts_test
