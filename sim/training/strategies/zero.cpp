// DeepSpeed's ZeRO, stages 1 to 3.
#include <array>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "training/strategies/rows.hpp"
#include "training/strategies/sharded.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr double default_bucket = 5e8;  // elements; DeepSpeed's reduce_bucket_size

StrategyChoice read_zero(const StrategyInput& input) {
  Section& section = input.section;
  StrategyChoice choice;
  ShardedPlan plan;
  const auto given = section.maybe("stage");
  const int stage = given ? read_between(*given, 1, 3) : 1;
  if (const auto group = section.maybe("shard_group")) {
    plan.shards = read_between(*group, 1, input.ranks);
    if (input.ranks % plan.shards != 0) group->fail(fmt::format("a divisor of the {} ranks", input.ranks));
  }
  plan.gathers_once = stage < 3;
  if (input.pipeline > 1 && stage > 1) given->fail("stage 1 with a \"pipeline\", as DeepSpeed has it");
  plan.overlaps_reducing = section.optional("overlap_comm", input.pipeline == 1);
  plan.overlaps_gathering = section.optional("overlap_params", false);
  plan.shards_gradients = section.optional("reduce_scatter", true);
  const auto bucket = section.maybe("reduce_bucket_size");
  const double elements = bucket ? read_at_least(*bucket, 1) : default_bucket;
  const auto type = section.maybe("communication_data_type");
  const std::string type_name = type ? read_named(*type, "a type", std::array{"bf16", "fp16", "fp32"}) : "bf16";
  const Bytes element = type_name == "fp32" ? 4_B : 2_B;
  plan.parameter_element = 2_B;
  plan.gradient_element = element;
  plan.bucket = stage == 3 ? 0_B : elements * element;
  read_offload(section, choice);
  choice.accumulation = read_accumulation(section);
  plan.passes = choice.accumulation;
  plan.reduces_every_pass = stage > 1;  // sharded gradients have nowhere else to add up
  choice.no_sync = !plan.reduces_every_pass;
  choice.variant = fmt::format("stage {}", stage);
  choice.shards = plan.shards;
  choice.sharding_stage = stage;
  choice.settings = {{"stage", fmt::format("{}", stage)},
                     {"shard_group", fmt::format("{}", plan.shards == 0 ? input.ranks : plan.shards)},
                     {"overlap_comm", plan.overlaps_reducing ? "true" : "false"},
                     {"overlap_params", plan.overlaps_gathering ? "true" : "false"},
                     {"reduce_scatter", plan.shards_gradients ? "true" : "false"},
                     {"reduce_bucket_size", fmt::format("{:.0f}", elements)},
                     {"communication_data_type", type_name}};
  ignore_environment(input, choice);
  choice.make = maker_of(plan);
  return choice;
}

}  // namespace

StrategyRow zero_strategy() {
  return {
      "zero", "DeepSpeed's ZeRO: optimizer state, gradients and parameters sharded in stages",
      "Settings of \"strategy\" in a scenario:\n"
      "  stage                    1 (default): optimizer state is sharded; 2: gradients too; 3: parameters too\n"
      "  shard_group              neighbouring ranks that keep one copy together (default: all)\n"
      "  overlap_comm             gradients are reduced beside the backward pass (default true; with a pipeline\n"
      "                           false, as DeepSpeed has it; true: as Megatron-LM's distributed optimizer)\n"
      "  overlap_params           of stages 1 and 2: updated parameters are gathered beside the next forward pass,\n"
      "                           unit by unit (InternEvo; default false: before it)\n"
      "  reduce_scatter           false: gradients are reduced by allreduce (default true)\n"
      "  reduce_bucket_size       elements of gradients that travel together (default 500000000)\n"
      "  communication_data_type  as gradients are reduced: bf16 (default), fp16 or fp32\n"
      "  offload_optimizer        its state is in the host's memory, which updates (default false)\n"
      "  accumulation             passes whose gradients add up (default 1)\n"
      "  tensor_parallel          neighbouring ranks that compute every layer together (default 1)\n"
      "  sequence_parallel        they share the tokens of what lies between (default false)\n"
      "  pipeline                 with stage 1: stages that have some of the layers each (default 1), whose\n"
      "                           micro-batches are accumulation's passes, in 1F1B\n"
      "  pipeline_blocks          how many blocks each stage has (default: all as many)\n",
      read_zero};
}

}}  // namespace farandole::training
