// What fsdp and zero offer to change: when they gather and reduce, what they shard among whom, and what else decides
// how much there is to hide and to keep. What does not fit into memory is refused when it is read, and so left out.
#include <array>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenario/explain.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<SetValue>;

const StrategyChoice& strategy_of(const WhatIfBase& base) {
  return base.scenario.strategy;
}

bool is(const WhatIfBase& base, const char* kind, const char* setting, const std::string& value) {
  const auto found = strategy_of(base).settings.find(setting);
  return strategy_of(base).kind == kind && found != strategy_of(base).settings.end() && found->second == value;
}

/// Whether the backward pass gathers parameters again.
bool gathers_again(const WhatIfBase& base) {
  return strategy_of(base).kind == "fsdp" && strategy_of(base).sharding_stage == 3;
}

// ---- when

Values no_prefetch(const WhatIfBase& base) {
  const bool prefetches = !is(base, "fsdp", "backward_prefetch", "NO_PREFETCH");
  return set_if(gathers_again(base) && prefetches, "/strategy/backward_prefetch", "NO_PREFETCH");
}

Values prefetch(const WhatIfBase& base) {
  const bool prefetches = is(base, "fsdp", "backward_prefetch", "BACKWARD_PRE");
  return set_if(gathers_again(base) && !prefetches, "/strategy/backward_prefetch", "BACKWARD_PRE");
}

Values no_limit(const WhatIfBase& base) {
  return set_if(gathers_again(base) && is(base, "fsdp", "limit_all_gathers", "true"), "/strategy/limit_all_gathers",
                false);
}

Values reductions_after(const WhatIfBase& base) {
  return set_if(is(base, "zero", "overlap_comm", "true"), "/strategy/overlap_comm", false);
}

Values reductions_beside(const WhatIfBase& base) {
  return set_if(is(base, "zero", "overlap_comm", "false"), "/strategy/overlap_comm", true);
}

Values parameters_beside(const WhatIfBase& base) {
  const bool gathers_once = strategy_of(base).sharding_stage < 3;
  return set_if(gathers_once && is(base, "zero", "overlap_params", "false"), "/strategy/overlap_params", true);
}

// ---- what, among whom

Values keep_parameters(const WhatIfBase& base) {
  return set_if(gathers_again(base), "/strategy/reshard_after_forward", false);
}

Values give_up_parameters(const WhatIfBase& base) {
  const bool are_kept = strategy_of(base).kind == "fsdp" && strategy_of(base).sharding_stage == 2;
  return set_if(are_kept, "/strategy/reshard_after_forward", true);
}

Values stage(const WhatIfBase& base, int number) {
  return set_if(strategy_of(base).kind == "zero" && strategy_of(base).sharding_stage != number, "/strategy/stage",
                number);
}
Values stage_1(const WhatIfBase& base) {
  return stage(base, 1);
}
Values stage_2(const WhatIfBase& base) {
  return stage(base, 2);
}
Values stage_3(const WhatIfBase& base) {
  return stage(base, 3);
}

/// fsdp has groups with its hybrid strategies only.
Values shard_group(const WhatIfBase& base, int ranks) {
  const StrategyChoice& strategy = strategy_of(base);
  if (strategy.sharding_stage == 0 || strategy.shards_of(base.point.ranks) == ranks) return {};
  Values values;
  if (is(base, "fsdp", "sharding_strategy", "FULL_SHARD")) {
    values = set_if(true, "/strategy/sharding_strategy", "HYBRID_SHARD");
  } else if (is(base, "fsdp", "sharding_strategy", "SHARD_GRAD_OP")) {
    values = set_if(true, "/strategy/sharding_strategy", "_HYBRID_SHARD_ZERO2");
  }
  values.push_back({"/strategy/shard_group", std::to_string(ranks)});
  return values;
}

Values group_of_a_node(const WhatIfBase& base) {
  const Placement& placement = base.scenario.platform.placement;
  const int ranks =
      placement.ranks_per_node(base.scenario.platform.platform.devices_per_node) / strategy_of(base).tensor_parallel;
  return base.point.nodes > 1 && ranks > 1 ? shard_group(base, ranks) : Values{};
}

Values group_of_all(const WhatIfBase& base) {
  return shard_group(base, base.scenario.replicas());
}

/// As many samples a step: a group has the batch of one rank.
Values tensor_group_of_a_node(const WhatIfBase& base) {
  const StrategyChoice& strategy = strategy_of(base);
  const Placement& placement = base.scenario.platform.placement;
  const int ranks = placement.ranks_per_node(base.scenario.platform.platform.devices_per_node);
  if (ranks == 1 || strategy.tensor_parallel > 1 || strategy.shards > 0 || base.scenario.workload.global_batch > 0) {
    return {};
  }
  return {{"/strategy/tensor_parallel", std::to_string(ranks)},
          {"/strategy/sequence_parallel", "true"},
          {"/strategy/accumulation", std::to_string(strategy.accumulation * ranks)}};
}

Values shared_tokens(const WhatIfBase& base) {
  const StrategyChoice& strategy = strategy_of(base);
  return set_if(strategy.tensor_parallel > 1 && !strategy.sequence_parallel, "/strategy/sequence_parallel", true);
}

// ---- in stages

/// As many samples a step: with half the replicas each has twice the micro-batches.
Values stages(const WhatIfBase& base, int number, int passes) {
  if (strategy_of(base).pipeline == 1 || base.scenario.workload.global_batch > 0) return {};
  return {{"/strategy/pipeline", std::to_string(number)}, {"/strategy/accumulation", std::to_string(passes)}};
}

Values twice_the_stages(const WhatIfBase& base) {
  return stages(base, 2 * strategy_of(base).pipeline, 2 * strategy_of(base).accumulation);
}

Values half_the_stages(const WhatIfBase& base) {
  const StrategyChoice& strategy = strategy_of(base);
  const bool halves = strategy.pipeline % 2 == 0 && strategy.accumulation % 2 == 0;
  return halves ? stages(base, strategy.pipeline / 2, strategy.accumulation / 2) : Values{};
}

/// A smaller share of it is the bubble. It is a larger step, too.
Values twice_the_micro_batches(const WhatIfBase& base) {
  return stages(base, strategy_of(base).pipeline, 2 * strategy_of(base).accumulation);
}

// ---- by which algorithm

/// Between replicas of a shard group.
Values tree_between_replicas(const WhatIfBase& base) {
  const StrategyChoice& strategy = strategy_of(base);
  const bool has_replicas = strategy.shards_of(base.point.ranks) < base.scenario.replicas();
  return set_if(has_replicas && base.scenario.collectives.at(Operation::allreduce).name != "double_tree",
                "/collectives/allreduce", "double_tree");
}

/// Of the operations that a sharded strategy always has.
Values own_sharded_collectives(const WhatIfBase& base) {
  if (base.scenario.platform.platform.transport.library.empty() || strategy_of(base).sharding_stage == 0) return {};
  Values values;
  for (const Operation operation : {Operation::allgather, Operation::reduce_scatter}) {
    if (base.scenario.libraries.contains(operation)) continue;
    values.push_back({"/collectives/" + name(operation), Json("library").dump()});
  }
  return values;
}

// ---- what a device does

Values recompute(const WhatIfBase& base, Recompute wanted) {
  const WorkloadSpec& workload = base.scenario.workload;
  return set_if(workload.recompute != wanted && has_blocks(workload.model), "/workload/recompute", name(wanted));
}
Values recompute_nothing(const WhatIfBase& base) {
  return recompute(base, Recompute::none);
}
Values recompute_selectively(const WhatIfBase& base) {
  return recompute(base, Recompute::selective);
}
Values recompute_everything(const WhatIfBase& base) {
  return recompute(base, Recompute::full);
}

Values micro_batch(const WhatIfBase& base, int batch, int passes) {
  if (base.scenario.workload.global_batch > 0) return {};
  return {{"/workload/batch_per_rank", std::to_string(batch)}, {"/strategy/accumulation", std::to_string(passes)}};
}

Values larger_micro_batch(const WhatIfBase& base) {
  const int passes = strategy_of(base).accumulation;
  return passes % 2 == 0 ? micro_batch(base, 2 * base.point.batch_per_rank, passes / 2) : Values{};
}

Values smaller_micro_batch(const WhatIfBase& base) {
  const int batch = base.point.batch_per_rank;
  return batch % 2 == 0 ? micro_batch(base, batch / 2, 2 * strategy_of(base).accumulation) : Values{};
}

// ---- what it runs on

std::optional<Topology> topology_of(const WhatIfBase& base) {
  const auto name_at = base.source.document.find("/platform/topology");
  if (!name_at) return std::nullopt;
  return base.source.catalogue.topology(read<std::string>(*name_at), *name_at,
                                        base.source.document.find("/platform/override"));
}

/// The NICs of so many hosts, each beside its own devices; empty where they are not at PCIe switches.
Json nics_of_hosts(const Topology& topology, int hosts) {
  const std::string at_switch = "switch";
  const int switches = topology.pcie ? topology.devices_per_node / topology.pcie->devices_per_switch : 0;
  Json nics = Json::array();
  for (int host = 0; host < hosts; ++host) {
    for (const std::string& nic : topology.nics_at) {
      if (!nic.starts_with(at_switch)) return Json::array();
      nics.push_back(fmt::format("{}{}", at_switch, std::stoi(nic.substr(at_switch.size())) + host * switches));
    }
  }
  return nics;
}

/// As a rack of 72 GPUs is joined; powers of two leave eight of them idle.
Values nvlink_domain_of_72(const WhatIfBase& base) {
  constexpr int domain = 72;
  constexpr int power_of_two = 64;
  const int ranks = base.point.ranks;
  const auto topology = topology_of(base);
  const bool is_placed =
      base.source.document.find("/platform/placement") || base.source.document.find("/platform/launch");
  if (base.point.nodes == 1 || !topology || is_placed || !topology->nvlink || !topology->nvlink->mesh.empty())
    return {};
  const int devices = ranks % domain == 0 ? domain : power_of_two;
  const int of_host = topology->devices_per_node;
  if (of_host >= power_of_two || devices % of_host != 0 || (ranks > devices && ranks % devices != 0)) return {};
  const Json nics = nics_of_hosts(*topology, devices / of_host);
  if (nics.empty()) return {};
  return {{"/platform/override/~1node~1devices", std::to_string(devices)},
          {"/platform/override/~1node~1nics_at", nics.dump()}};
}

/// Every second one stays, so that those near one device go before all of those near another.
Values half_the_nics(const WhatIfBase& base) {
  if (base.point.nodes == 1) return {};
  const auto topology = topology_of(base);
  if (!topology || topology->nics_at.size() < 2) return {};
  Json kept = Json::array();
  for (std::size_t nic = 0; nic < topology->nics_at.size(); nic += 2) kept.push_back(topology->nics_at[nic]);
  return set_if(true, "/platform/override/~1node~1nics_at", kept);
}

/// In order of cost.
constexpr std::array offered_when_sharded{
    OfferedChange{"no prefetch in the backward pass", "setting", no_prefetch},
    OfferedChange{"prefetch before each block's backward pass", "setting", prefetch},
    OfferedChange{"no limit on allgathers", "setting", no_limit},
    OfferedChange{"reductions after the backward pass", "setting", reductions_after},
    OfferedChange{"reductions beside the backward pass", "setting", reductions_beside},
    OfferedChange{"parameters gathered beside the forward pass", "setting", parameters_beside},
    OfferedChange{"parameters kept after the forward pass", "setting", keep_parameters},
    OfferedChange{"parameters given up after the forward pass", "setting", give_up_parameters},
    OfferedChange{"stage 1", "setting", stage_1},
    OfferedChange{"stage 2", "setting", stage_2},
    OfferedChange{"stage 3", "setting", stage_3},
    OfferedChange{"shard group of a node", "setting", group_of_a_node},
    OfferedChange{"shard group of all ranks", "setting", group_of_all},
    OfferedChange{"tensor groups of a node", "setting", tensor_group_of_a_node},
    OfferedChange{"tokens shared within tensor groups", "setting", shared_tokens},
    OfferedChange{"twice the stages", "setting", twice_the_stages},
    OfferedChange{"half the stages", "setting", half_the_stages},
    OfferedChange{"twice the micro-batches", "setting", twice_the_micro_batches},
    OfferedChange{"the library's allgather and reduce-scatter", "setting", own_sharded_collectives},
    OfferedChange{"double_tree between replicas", "setting", tree_between_replicas},
    OfferedChange{"nothing recomputed", "setting", recompute_nothing},
    OfferedChange{"selective recomputation", "setting", recompute_selectively},
    OfferedChange{"full recomputation", "setting", recompute_everything},
    OfferedChange{"double the batch in half the passes", "setting", larger_micro_batch},
    OfferedChange{"batch / 2 in twice the passes", "setting", smaller_micro_batch},
    OfferedChange{"half the NICs of a node", "hardware", half_the_nics},
    OfferedChange{"NVLink domain of 72", "hardware", nvlink_domain_of_72},
};

}  // namespace

std::span<const OfferedChange> sharded_changes() {
  return offered_when_sharded;
}

}}  // namespace farandole::scenario
