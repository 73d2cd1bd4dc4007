// Pipelines of data-parallel stages as scenarios: closed forms at all fidelities, memory, and what is refused.
#include "scenario/pipeline.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/fit_memory.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/scenario_kit.hpp"
#include "scenario/train.hpp"

namespace farandole::pipeline_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

using Changes = std::vector<test::Change>;

/// Devices are alike, and a running collective takes nothing from them.
Changes training(const std::string& model, const std::string& strategy, int ranks,
                 const std::string& fidelity = "analytic", const std::string& recompute = "full") {
  return {{"/workload", fmt::format(R"({{"model": "{}", "batch_per_rank": 1, "precision": "bf16",
                            "gradient_type": "bf16", "optimizer": "adam", "recompute": "{}"}})",
                                    model, recompute)},
          {"/platform", R"({"topology": "hgx-h100", "ranks": )" + std::to_string(ranks) + "}"},
          {"/strategy", strategy},
          {"/effects", R"({"device_spread": "0 %", "step_jitter": "0 %", "communication_compute_share": "0 %"})"},
          {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": ")" + fidelity + R"(", "bands": false})"}};
}

Changes llama(const std::string& strategy, int ranks, const std::string& fidelity = "analytic") {
  return training("llama3_8b", strategy, ranks, fidelity);
}

Scenario scenario_of(const Changes& changes) {
  return read_scenario(test::changed(changes).root(), Catalogue());
}

TrainingPoint point(const Changes& changes, const RunOptions& options = {}) {
  return test::run(changes, options).points.at(0);
}

struct Stages {
  std::vector<Seconds> forward;
  std::vector<Seconds> backward;
  Seconds update;  // the longest
  Seconds message;
};

Stages stages_in(const Scenario& scenario) {
  Stages result;
  const auto stages = stages_of(scenario, scenario.platform.placement);
  for (const PipelineStage& stage : stages) {
    Seconds& forward = result.forward.emplace_back();
    Seconds& backward = result.backward.emplace_back();
    for (const LayerPass& layer : stage.job.layers) {
      forward += layer.forward;
      backward += layer.backward;
    }
    result.update = std::max(result.update, stage.job.update);
  }
  // One message by itself, between the first ranks of the first two stages.
  const auto first = [&](int stage) {
    Placement one = stages[static_cast<std::size_t>(stage)].scenario.platform.placement;
    one.device_of_rank.resize(1);
    one.nodes_used = 1;
    return one;
  };
  const Scenario pair = pair_of(scenario, first(0), first(1));
  JobClocks clocks(pair, pair.platform.placement);
  const Bytes size = handed_on(scenario).front();
  const Collective message{Operation::broadcast, size, {}, {}, false, Group::neighbours};
  result.message = latest(clocks.clock_of(message).completion_times(size, all_at(2, 0_s)));
  return result;
}

TEST(PipelineScenario, HandsOnTheActivationsOfAMicroBatchAtTheRateOfItsNic) {
  // 8192 tokens of 4096 in bf16, 64 MiB, by each rank over the NIC beside it: 400 Gbit/s.
  const Scenario scenario =
      scenario_of(llama(R"({"kind": "ddp", "pipeline": 2, "tensor_parallel": 8, "accumulation": 4})", 16));
  const Bytes size = 8192.0 * 4096 * 2_B;
  EXPECT_EQ(handed_on(scenario), std::vector<Bytes>{size});
  const Transport& transport = scenario.platform.platform.transport;
  const Seconds latency = transport.inter_node_latency + transport.launch;
  EXPECT_NEAR(stages_in(scenario).message / (size / (50 * 1_GBps) + latency), 1, 0.05);
}

TEST(PipelineScenario, OfTwoStagesIsTheSecondsPassesAndWhatIsSentBetweenThem) {
  // The second stage, which has the head, computes longer: it waits for nothing but the exchanges that go with its own
  // passes. f0 + c + m (f1 + b1) + (m - 1) c + c + b0, at every fidelity.
  for (const char* fidelity : {"analytic", "flow", "message"}) {
    for (const int m : {1, 4}) {
      const Changes changes =
          llama(fmt::format(R"({{"kind": "ddp", "pipeline": 2, "pipeline_blocks": [15, 17], "accumulation": {},
                               "tensor_parallel": 8}})",
                            m),
                16, fidelity);
      const TrainingPoint result = point(changes);
      const Seconds exchanged = *result.exposed->tensor;  // of the second stage, m times
      const Scenario scenario = scenario_of(changes);
      const Stages s = stages_in(scenario);
      // Exchanges of a tensor group take as long in either stage. With full recomputation there are three times two a
      // block; the embedding has one forward, the head one backward.
      const Seconds first = (15 * 6 + 1.0) / (17 * 6 + 1) * exchanged / m;
      const Seconds expected = s.forward[0] + s.backward[0] + first + m * (s.forward[1] + s.backward[1]) + exchanged +
                               (m + 1) * s.message + s.update;
      EXPECT_NEAR(result.iteration / expected, 1, 1e-6) << fidelity << ", " << m << " micro-batches";
    }
  }
}

TEST(PipelineScenario, WaitsForTheBubbleWhereSendingIsFree) {
  // Blocks alone would give (p - 1)/(m + p - 1); with embedding and head the longest way of the stages' own passes.
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    Scenario scenario = scenario_of(llama(R"({"kind": "ddp", "pipeline": 4, "accumulation": 8})", 32));
    scenario.fidelity = fidelity;
    scenario.mechanisms.latency = 0;
    scenario.mechanisms.network_rate = 1e9;
    scenario.mechanisms.copy_rate = 1e9;
    const Stages s = stages_in(scenario);
    // The last stage is the longest: it computes without a break once it has its first input.
    Seconds expected = 8 * (s.forward[3] + s.backward[3]) + s.update;
    for (int stage = 0; stage < 3; ++stage) {
      expected += s.forward[static_cast<std::size_t>(stage)] + s.backward[static_cast<std::size_t>(stage)];
    }
    EXPECT_NEAR(train(scenario, nullptr).iteration / expected, 1, 1e-6) << name(fidelity);
  }
}

TEST(PipelineScenario, FoldedIsUnfolded) {
  for (const char* kind : {R"({"kind": "ddp", "pipeline": 4, "accumulation": 6})",
                           R"({"kind": "zero", "pipeline": 2, "accumulation": 3, "tensor_parallel": 4})",
                           R"({"kind": "fsdp", "pipeline": 2, "accumulation": 4})"}) {
    RunOptions unfolded;
    unfolded.folding = FoldingPolicy::never;
    const Changes changes = llama(kind, 32, "flow");
    EXPECT_NEAR(point(changes).iteration / point(changes, unfolded).iteration, 1, 1e-9) << kind;
  }
}

TEST(PipelineScenario, CountsSamplesOfReplicasAndSumsUpItsParts) {
  const Changes changes = llama(R"({"kind": "fsdp", "pipeline": 2, "accumulation": 4})", 32);
  const TrainingPoint result = point(changes);
  EXPECT_NEAR(result.samples_per_second * result.iteration.si(), 16 * 4, 1e-9);
  EXPECT_NEAR(result.breakdown.total() / result.iteration, 1, 1e-9);
  EXPECT_GT(*result.exposed->pipeline, 0_s);
  EXPECT_LE(result.scaling_efficiency, 1);
  EXPECT_GT(result.scaling_efficiency, 0.5);
}

/// The draw puts fast devices on the stage that computes longest: a replica of the same devices is as fast.
TEST(PipelineScenario, OfALuckyDrawOfDevicesIsMeasuredAgainstTheSameDevices) {
  Changes changes{
      {"/workload", R"({"model": "llama3_8b", "variant": "seq8192", "batch_per_rank": 1, "precision": "bf16",
                                    "gradient_type": "bf16", "optimizer": "adam", "recompute": "full"})"},
      {"/platform", R"({"topology": "hgx-h100", "ranks": 16})"},
      {"/strategy", R"({"kind": "ddp", "tensor_parallel": 4, "pipeline": 4, "accumulation": 16})"},
      {"/measure", R"({"iterations": 3, "warmup": 1, "seed": 1})"}};
  EXPECT_NEAR(point(changes).scaling_efficiency, 1, 1e-9);
  changes.push_back({"/platform/ranks", "32"});
  EXPECT_LE(point(changes).scaling_efficiency, 1 + 1e-9);
}

TEST(PipelineScenario, StagesHaveAllOfTheModelBetweenThem) {
  for (const char* model : {"llama3_8b", "gpt2_medium"}) {
    const Scenario scenario = scenario_of(training(model, R"({"kind": "ddp", "pipeline": 4, "accumulation": 4})", 32));
    double parameters = 0;
    double macs = 0;
    for (const Model& stage : scenario.workload.staged.stages) {
      parameters += static_cast<double>(stage.parameters());
      macs += stage.macs();
    }
    const double twice = scenario.workload.staged.tied;  // what the first and the last both keep
    EXPECT_EQ(parameters, static_cast<double>(scenario.workload.model.parameters()) + twice) << model;
    EXPECT_NEAR(macs / scenario.workload.model.macs(), 1, 1e-12);
    EXPECT_EQ(twice > 0, std::string(model) == "gpt2_medium");
  }
}

TEST(PipelineScenario, AddsUpTheGradientsOfWordsThatTwoStagesKeep) {
  // GPT-2's head is its embedding. After both stages have reduced theirs, an allreduce between them: without it all
  // would be over earlier by as much.
  Scenario scenario = scenario_of(training("gpt2_medium", R"({"kind": "ddp", "pipeline": 2, "accumulation": 2})", 16));
  const Seconds tied = train(scenario, nullptr).iteration;
  const Bytes size = tied_gradient(scenario);
  EXPECT_EQ(size, 50257.0 * 1024 * 2_B);
  scenario.workload.staged.tied = 0;
  const Seconds apart = train(scenario, nullptr).iteration;
  EXPECT_GT(tied - apart, size / (50 * 1_GBps));  // each sends half of it twice
}

TEST(PipelineScenario, TheFirstStageKeepsActivationsOfAsManyMicroBatchesAsThereAreStages) {
  // Between its passes a stage keeps, with full recomputation, the inputs of its 8 blocks, 8192 x 4096 in bf16 each,
  // and what it has handed on (PyTorch's stage.py: fwd_cache has the outputs, too).
  const auto activations = [](int stage, int in_flight) {
    const Scenario scenario = scenario_of(llama(R"({"kind": "ddp", "pipeline": 4, "accumulation": 1})", 32));
    return activations_of_a_sample(scenario.workload.staged.stages[static_cast<std::size_t>(stage)], 2_B,
                                   Recompute::full, in_flight);
  };
  const Bytes input = 8192.0 * 4096 * 2_B;
  for (const int in_flight : {2, 3, 4}) {
    const Bytes more = activations(1, in_flight) - activations(1, in_flight - 1);
    EXPECT_NEAR(more / input, 9, 0.01);
  }
  const auto memory = [](int passes) {
    return memory_of(
        scenario_of(llama(fmt::format(R"({{"kind": "fsdp", "pipeline": 4, "accumulation": {}}})", passes), 32)));
  };
  EXPECT_EQ(memory(4).total(), memory(16).total());  // no more are in flight, however many there are
  EXPECT_GE(memory(4).total(), memory(1).total());
}

TEST(PipelineScenario, LinksCarryEveryMicroBatchThereAndBack) {
  // Two nodes, a stage on each; nothing but what is handed on leaves a node: replicas of a stage are on one.
  RunOptions options;
  options.links = 64;
  const TrainingPoint result =
      point(llama(R"({"kind": "ddp", "pipeline": 2, "accumulation": 3, "tensor_parallel": 8})", 16, "flow"), options);
  const Bytes each = 3 * 8192.0 * 4096 * 2_B;
  int nics = 0;
  for (const LinkUse& link : result.links) {
    if (link.name.find("/device") == std::string::npos) continue;  // their NICs' ways to the rails
    ++nics;
    EXPECT_NEAR(link.bytes / each, 1, 1e-9) << link.name;
  }
  EXPECT_EQ(nics, 32);  // both ways
}

TEST(PipelineScenario, RefusesWhatIsNotSimulated) {
  const auto error = [](const std::string& strategy, const std::string& model = "llama3_8b",
                        const std::string& recompute = "full") {
    return test::error_of(training(model, strategy, 32, "analytic", recompute));
  };
  EXPECT_THAT(error(R"({"kind": "horovod", "pipeline": 4})"),
              AllOf(HasSubstr("/strategy/pipeline"), HasSubstr("only ddp")));
  EXPECT_THAT(error(R"({"kind": "ddp", "pipeline": 5})"), HasSubstr("a divisor of the 32 ranks"));
  EXPECT_THAT(error(R"({"kind": "zero", "stage": 3, "pipeline": 4})"),
              AllOf(HasSubstr("/strategy/stage"), HasSubstr("stage 1")));
  EXPECT_THAT(error(R"({"kind": "fsdp", "pipeline": 4, "reshard_after_forward": true})"),
              HasSubstr("/strategy/reshard_after_forward"));
  EXPECT_THAT(error(R"({"kind": "fsdp", "pipeline": 4, "no_sync": false})"), HasSubstr("/strategy/no_sync"));
  EXPECT_THAT(error(R"({"kind": "ddp", "pipeline": 4, "pipeline_blocks": [8, 8, 8, 9]})"),
              AllOf(HasSubstr("/strategy/pipeline_blocks"), HasSubstr("32 blocks")));
  EXPECT_THAT(error(R"({"kind": "ddp", "pipeline_blocks": [32]})"), HasSubstr("a \"pipeline\" above 1"));
  EXPECT_THAT(error(R"({"kind": "ddp", "pipeline": 2})", "vgg16", "none"), HasSubstr("/strategy/pipeline"));
  EXPECT_THAT(error(R"({"kind": "ddp", "pipeline": 2})", "t5_base"), HasSubstr("do not follow one another"));
  EXPECT_THAT(error(R"({"kind": "fsdp", "pipeline": 2})", "gpt2_medium"), HasSubstr("PyTorch shares no parameters"));
  Changes with_input = llama(R"({"kind": "fsdp", "pipeline": 2})", 32);
  with_input.push_back({"/effects/input", R"({"access": "random"})"});
  EXPECT_THAT(test::error_of(with_input), HasSubstr("no \"input\" with \"pipeline\""));
}

}}  // namespace farandole::pipeline_test
