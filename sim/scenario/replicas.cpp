#include <fmt/format.h>

#include "config/section.hpp"
#include "scenario/read_parts.hpp"
#include "workload/recompute.hpp"

namespace farandole { inline namespace scenario {
namespace {

bool is_split(const StrategyChoice& choice) {
  return choice.replica() > 1 || choice.expert_parallel > 1;
}

/// By which it is.
const char* parallelism_key(const StrategyChoice& choice) {
  if (choice.pipeline > 1) return "pipeline";
  return choice.tensor_parallel > 1 ? "tensor_parallel" : "expert_parallel";
}

/// What a rank has of a model of which several compute every layer together, which must be on one node.
void split_layers(Scenario& scenario, const Value& strategy) {
  const int tensor = scenario.strategy.tensor_parallel;
  if (tensor == 1) return;
  const Value where = Section(strategy).child("tensor_parallel");
  const PlatformSpec& spec = scenario.platform;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    const auto node_of = [&](int of) { return spec.platform.node_of(spec.placement.device_of_rank[as_index(of)]); };
    if (node_of(rank) == node_of(rank / tensor * tensor)) continue;
    where.fail(fmt::format("groups of neighbouring ranks within a node, {} devices of one at most",
                           spec.placement.ranks_per_node(spec.platform.devices_per_node)));
  }
  SplitModel split = split_model(scenario.workload.model, tensor, scenario.strategy.sequence_parallel);
  if (!split.refusal.empty()) where.fail(split.refusal);
  scenario.workload.part = std::move(split.model);
}

/// Of that its part of the experts.
void split_experts(Scenario& scenario, const Value& strategy) {
  const StrategyChoice& choice = scenario.strategy;
  if (choice.expert_parallel == 1) return;
  Section section(strategy);
  const Value where = section.child("expert_parallel");
  if (choice.compression.kind != Compression::none) {
    section.child("compression").fail("none with \"expert_parallel\": both together are not simulated");
  }
  SplitModel shared = share_experts(scenario.workload.of_rank(), choice.expert_parallel, choice.expert_imbalance);
  if (!shared.refusal.empty()) where.fail(shared.refusal);
  scenario.workload.part = std::move(shared.model);
}

/// What the stages of a pipeline have of that.
void split_into_stages(Scenario& scenario, const Value& strategy) {
  const StrategyChoice& choice = scenario.strategy;
  if (choice.pipeline == 1) return;
  Section section(strategy);
  const Value where = section.child("pipeline");
  if (!has_blocks(scenario.workload.model)) where.fail("1 with a model that has no blocks");
  scenario.workload.staged = stage_model(scenario.workload.of_rank(), choice.pipeline, choice.pipeline_blocks);
  const StagedModel& staged = scenario.workload.staged;
  if (!staged.refusal.empty()) section.maybe("pipeline_blocks").value_or(where).fail(staged.refusal);
  if (staged.tied > 0 && choice.kind == "fsdp") {
    where.fail("1 with fsdp and a head that is the embedding, too: PyTorch shares no parameters between stages");
  }
}

}  // namespace

void split_among_ranks(Scenario& scenario, const Value& strategy, const Value& workload) {
  if (scenario.strategy.servers && !scenario.workload.model.is_trained_whole())
    Section(strategy).child("kind").fail("a strategy without servers where parameters are frozen");
  const StrategyChoice& choice = scenario.strategy;
  if (is_split(choice) && !scenario.workload.device_steps.empty()) {
    workload.fail(fmt::format("no measured steps with \"{}\": they are of the whole model on one device",
                              parallelism_key(choice)));
  }
  split_layers(scenario, strategy);
  split_experts(scenario, strategy);
  split_into_stages(scenario, strategy);
}

void refuse_with_replicas(const Scenario& scenario, const std::optional<Value>& effects, const Value& root) {
  const StrategyChoice& choice = scenario.strategy;
  if (!is_split(choice)) return;
  const char* const key = parallelism_key(choice);
  if (scenario.effects.input) {
    Section(*effects).child("input").fail(
        fmt::format("no \"input\" with \"{}\": which of its ranks reads is not simulated", key));
  }
  if (scenario.learning) {
    Section(root)
        .child("learning")
        .fail(fmt::format("no \"learning\" with \"{}\": numeric problems are trained whole", key));
  }
}

}}  // namespace farandole::scenario
