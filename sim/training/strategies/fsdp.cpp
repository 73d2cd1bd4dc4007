// PyTorch's FullyShardedDataParallel, and its fully_shard (FSDP2).
#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "training/strategies/rows.hpp"
#include "training/strategies/sharded.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

struct Kind {
  const char* name;
  bool parameters;  // sharded
  bool reshards;
  bool in_groups;
};

constexpr std::array kinds{Kind{"FULL_SHARD", true, true, false}, Kind{"SHARD_GRAD_OP", true, false, false},
                           Kind{"HYBRID_SHARD", true, true, true}, Kind{"_HYBRID_SHARD_ZERO2", true, false, true},
                           Kind{"NO_SHARD", false, false, false}};

struct Prefetch {
  const char* name;
  BackwardPrefetch when;
};

/// The last is what accelerate calls PyTorch's None.
constexpr std::array prefetches{Prefetch{"BACKWARD_PRE", BackwardPrefetch::before},
                                Prefetch{"BACKWARD_POST", BackwardPrefetch::after},
                                Prefetch{"NO_PREFETCH", BackwardPrefetch::none}};

struct Type {
  std::string name;
  Bytes element;
};

Bytes read_type(Section& section, const std::string& key, StrategyChoice& choice, const std::string& usual) {
  static const std::vector<Type> types{{"fp32", 4_B}, {"bf16", 2_B}, {"fp16", 2_B}};
  const auto given = section.maybe(key);
  const Type& type =
      given ? read_named(*given, "a type", types, &Type::name) : *std::ranges::find(types, usual, &Type::name);
  choice.settings[key] = type.name;
  return type.element;
}

/// How many ranks keep a model together: all of them, in groups a node's where nothing is said, as PyTorch does
/// (torch/distributed/fsdp/_init_utils.py, _init_intra_and_inter_node_groups).
void read_group(Section& section, const StrategyInput& input, const Kind& sharding, ShardedPlan& plan) {
  const auto group = section.maybe("shard_group");
  if (group && !sharding.in_groups) group->fail("no shard_group but with HYBRID_SHARD and _HYBRID_SHARD_ZERO2");
  if (!sharding.in_groups) return;
  plan.shards = group ? read_between(*group, 1, input.ranks) : std::max(1, input.ranks_of_node);
  if (input.ranks % plan.shards == 0) return;
  if (group) group->fail(fmt::format("a divisor of the {} ranks", input.ranks));
  input.section.value().fail(
      fmt::format("\"shard_group\": the {} ranks are no whole nodes of {}", input.ranks, plan.shards));
}

/// Or FSDP2's number of neighbours that keep what was computed forward (_fsdp_init.py, _get_post_forward_mesh_info).
void read_reshard(Section& section, int shards, ShardedPlan& plan) {
  const auto given = section.maybe("reshard_after_forward");
  const bool is_number = given && std::holds_alternative<std::int64_t>(given->node().value);
  if (given && !is_number) plan.reshards = read<bool>(*given);
  if (!is_number) return;
  const int kept = read_between(*given, 1, shards);
  if (shards % kept != 0) given->fail(fmt::format("a divisor of the {} ranks of a shard group", shards));
  plan.reshards = kept > 1 || shards == 1;
  plan.kept = plan.reshards && kept < shards ? kept : 0;
}

/// What PyTorch's pipelines do to it (torch/distributed/pipelining/stage.py, _BackwardStage's
/// _backward_maybe_with_nosync): parameters stay from the first pass of a step to the last, torchtitan's default with a
/// pipeline too, and gradients are reduced when the last pass is over.
void read_in_pipeline(Section& section, ShardedPlan& plan) {
  const auto refuse = [&](const char* key, bool simulated, const char* why) {
    const auto given = section.maybe(key);
    if (given && read<bool>(*given) != simulated) given->fail(why);
  };
  refuse("reshard_after_forward", false,
         "false with a \"pipeline\": that every micro-batch gathers parameters anew is not simulated");
  refuse("no_sync", true, "true with a \"pipeline\": gradients are reduced after the last of its passes");
  plan.reshards = false;
  plan.overlaps_reducing = false;
}

StrategyChoice read_fsdp(const StrategyInput& input) {
  Section& section = input.section;
  StrategyChoice choice;
  ShardedPlan plan;
  const auto given = section.maybe("sharding_strategy");
  const Kind& sharding = given ? read_named(*given, "a sharding strategy", kinds, &Kind::name) : kinds.front();
  read_group(section, input, sharding, plan);
  if (!sharding.parameters) plan.shards = 1;
  plan.reshards = sharding.reshards;
  if (input.pipeline == 1) read_reshard(section, plan.shards == 0 ? input.ranks : plan.shards, plan);
  const bool limits = section.optional("limit_all_gathers", true);
  plan.in_flight = limits ? 2 : 0;
  const auto prefetch = section.maybe("backward_prefetch");
  const Prefetch& prefetching =
      prefetch ? read_named(*prefetch, "a way to prefetch", prefetches, &Prefetch::name) : prefetches.front();
  plan.backward_prefetch = prefetching.when;
  plan.parameter_element = read_type(section, "param_dtype", choice, "bf16");
  plan.gradient_element = read_type(section, "reduce_dtype", choice, "fp32");
  if (const auto blocks = section.maybe("blocks_per_unit")) {
    plan.blocks_per_unit = choice.blocks_per_unit = read_at_least(*blocks, 0);
    choice.settings["blocks_per_unit"] = fmt::format("{}", plan.blocks_per_unit);
  }
  read_offload(section, choice);
  choice.accumulation = read_accumulation(section);
  plan.passes = choice.accumulation;
  plan.reduces_every_pass = !section.optional("no_sync", true);
  choice.no_sync = !plan.reduces_every_pass;
  if (input.pipeline > 1) read_in_pipeline(section, plan);
  choice.variant = sharding.name;
  choice.shards = plan.shards;
  choice.kept = plan.kept;
  choice.sharding_stage = !sharding.parameters ? 0 : plan.reshards ? 3 : 2;
  choice.settings["sharding_strategy"] = sharding.name;
  choice.settings["shard_group"] = fmt::format("{}", plan.shards == 0 ? input.ranks : plan.shards);
  choice.settings["reshard_after_forward"] =
      plan.kept > 0 ? fmt::format("{}", plan.kept) : fmt::format("{}", plan.reshards);
  choice.settings["limit_all_gathers"] = limits ? "true" : "false";
  choice.settings["backward_prefetch"] = prefetching.name;
  choice.settings["no_sync"] = plan.reduces_every_pass ? "false" : "true";
  ignore_environment(input, choice);
  choice.make = maker_of(plan);
  return choice;
}

}  // namespace

StrategyRow fsdp_strategy() {
  return {
      "fsdp", "PyTorch's FullyShardedDataParallel: parameters are gathered before each block and given up after it",
      "Settings of \"strategy\" in a scenario:\n"
      "  sharding_strategy      FULL_SHARD (default), SHARD_GRAD_OP, HYBRID_SHARD, _HYBRID_SHARD_ZERO2, NO_SHARD\n"
      "  shard_group            of HYBRID_SHARD: neighbours that keep a model together (default a node's)\n"
      "  reshard_after_forward  whether the backward pass gathers again (default as the sharding strategy says), or\n"
      "                         from how many neighbours, who together keep what was computed forward\n"
      "  limit_all_gathers      allgathers wait for units that are given up (default true)\n"
      "  backward_prefetch      BACKWARD_PRE (default), BACKWARD_POST or NO_PREFETCH\n"
      "  param_dtype            as parameters are gathered: bf16 (default), fp16, fp32\n"
      "  reduce_dtype           as gradients are reduced: fp32 (default), bf16, fp16\n"
      "  blocks_per_unit        blocks that are wrapped as one (default 1); 0: none is, and the model is one unit\n"
      "  offload_optimizer      its state is in the host's memory, which updates (default false)\n"
      "  accumulation           passes whose gradients add up (default 1)\n"
      "  tensor_parallel        neighbouring ranks that compute every layer together (default 1)\n"
      "  sequence_parallel      they share the tokens of what lies between (default false)\n"
      "  pipeline               stages that have some of the layers each (default 1): accumulation's passes are\n"
      "                         micro-batches in 1F1B; parameters stay gathered, gradients are reduced at the end\n"
      "  pipeline_blocks        how many blocks each stage has (default: all as many)\n"
      "  no_sync                gradients are reduced in the last pass only (default true)\n",
      read_fsdp};
}

}}  // namespace farandole::training
