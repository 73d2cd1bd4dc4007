// What may be offered to a scenario: rows of words, kind and the values to set, in order of cost. Those of fsdp and
// zero say when they gather and reduce, what they shard among whom, and what else decides how much there is to hide and
// to keep. What does not fit into memory is refused when it is read, and so left out.
#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenario/explain.hpp"
#include "scenario/parts.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<SetValue>;
using Rows = std::vector<OfferedChange>;

/// That value alone, where it makes sense; else nothing.
Values set_if(bool makes_sense, const char* pointer, const Json& value) {
  return makes_sense ? Values{{pointer, value.dump()}} : Values{};
}

bool has_setting(const StrategyChoice& strategy, const char* kind, const char* key, const std::string& value) {
  const auto found = strategy.settings.find(key);
  return strategy.kind == kind && found != strategy.settings.end() && found->second == value;
}

Rows of_gradients(const WhatIfBase& base) {
  const Scenario& scenario = base.scenario;
  const StrategyChoice& strategy = scenario.strategy;
  const bool are_whole =
      scenario.workload.gradient_type == GradientType::fp32 && strategy.compression.kind == Compression::none;
  const auto cycle = strategy.settings.find("cycle_time");
  const bool has_own =
      !scenario.platform.platform.transport.library.empty() && !scenario.libraries.contains(Operation::allreduce);
  const bool nodes_of_several = base.point.nodes > 1 && base.point.ranks > base.point.nodes;
  const auto allreduce_by = [&](bool makes_sense, const char* name) {
    const bool is_other = makes_sense && carrier_of(strategy) == Operation::allreduce &&
                          scenario.collectives.at(Operation::allreduce).name != name;
    return set_if(is_other, "/collectives/allreduce", name);
  };
  return {
      {"fp16 gradients", "setting", set_if(are_whole, "/strategy/compression", "fp16")},
      {"cycle time 1 ms", "setting",
       set_if(cycle != strategy.settings.end() && cycle->second != format(1_ms), "/strategy/cycle_time", "1 ms")},
      {"the library's allreduce", "setting", allreduce_by(has_own, "library")},
      {"hierarchical allreduce", "setting", allreduce_by(nodes_of_several, "hierarchical")},
      {"double_tree allreduce", "setting", allreduce_by(true, "double_tree")},
  };
}

Rows of_servers(const WhatIfBase& base) {
  const auto& plan = base.scenario.strategy.servers;
  if (!plan) return {};
  const bool pushes_apart = !plan->aggregate_on_node && base.point.ranks > base.point.nodes;
  const bool have_room = !plan->colocated || 2 * plan->servers <= base.point.nodes;
  return {
      {"variables split over servers", "setting",
       set_if(plan->servers > 1 && plan->placement != "split", "/strategy/server_placement", "split")},
      {"one push per node", "setting", set_if(pushes_apart, "/strategy/aggregate_on_node", true)},
      {"servers x2", "hardware", set_if(have_room, "/strategy/servers", 2 * plan->servers)},
  };
}

/// What cannot be taken back with a value is left out of the whole section.
Values equal_ranks(const WhatIfBase& base) {
  const EffectsSpec& effects = base.scenario.effects;
  const bool differ = effects.ranks_vary() || !effects.stragglers.empty() || !effects.other_devices.empty() ||
                      effects.os_noise || effects.board_slowdown > 0;
  if (!differ) return {};
  const Json document = base.source.document.to_ordered_json();
  Json section = document.contains("effects") ? document.at("effects") : Json::object();
  for (const char* key : {"straggler", "other_devices", "os_noise", "shared_board"}) section.erase(key);
  for (const char* key : {"device_spread", "step_jitter"}) section[key] = "0 %";
  return set_if(true, "/effects", section);
}

/// Every limit that there is, twice as high.
template <class Limit>
void add_twice(Values& values, const std::string& pointer, Limit limit) {
  if constexpr (std::is_same_v<Limit, BytesPerSecond>) {
    if (limit < BytesPerSecond::infinity())
      values.push_back({pointer, Json(fmt::format("{:.6g} B/s", 2 * limit.si())).dump()});
  } else if (limit > 0) {
    values.push_back({pointer, Json(2 * limit).dump()});
  }
}

Values faster_input(const WhatIfBase& base) {
  if (!base.scenario.effects.input) return {};
  const InputSupply& supply = *base.scenario.effects.input;
  Values values;
  add_twice(values, "/effects/input/storage_bandwidth", supply.storage_bandwidth);
  add_twice(values, "/effects/input/storage_samples_per_second", supply.storage_samples_per_second);
  add_twice(values, "/effects/input/node_bandwidth", supply.node_bandwidth);
  add_twice(values, "/effects/input/decode_workers", supply.decode_workers);
  return values;
}

Values faster_checkpoints(const WhatIfBase& base) {
  if (!base.scenario.effects.checkpoint) return {};
  const Checkpoint& checkpoint = *base.scenario.effects.checkpoint;
  Values values;
  add_twice(values, "/effects/checkpoint/rate", checkpoint.rate);
  add_twice(values, "/effects/checkpoint/node_bandwidth", checkpoint.node_bandwidth);
  add_twice(values, "/effects/checkpoint/storage_bandwidth", checkpoint.storage_bandwidth);
  add_twice(values, "/effects/checkpoint/snapshot_rate", checkpoint.snapshot_rate);
  if (checkpoint.latency > Seconds(0)) {
    const double half = checkpoint.latency.si() / 2;
    values.push_back({"/effects/checkpoint/latency", Json(fmt::format("{:.6g} s", half)).dump()});
  }
  return values;
}

Rows of_everything_else(const WhatIfBase& base) {
  const WorkloadSpec& workload = base.scenario.workload;
  const auto& checkpoint = base.scenario.effects.checkpoint;
  const NetworkScale& scale = base.scenario.platform.scale;
  return {
      {"double the batch", "setting",
       set_if(workload.global_batch == 0, "/workload/batch_per_rank", 2 * workload.batch_per_rank)},
      {"no stragglers", "operation", equal_ranks(base)},
      {"input x2", "operation", faster_input(base)},
      {"every rank writes its part of a checkpoint", "setting",
       set_if(checkpoint && !checkpoint->sharded, "/effects/checkpoint/sharded", true)},
      {"checkpoints x2", "operation", faster_checkpoints(base)},
      {"latency / 2", "hardware", set_if(scale.latency > 0, "/platform/scale/latency", scale.latency / 2)},
      {"network x2", "hardware", set_if(true, "/platform/scale/rate", 2 * scale.rate)},
  };
}

// ---- of sharded strategies

Rows of_their_timing(const WhatIfBase& base) {
  const StrategyChoice& strategy = base.scenario.strategy;
  const bool gathers_again = strategy.kind == "fsdp" && strategy.sharding_stage == 3;
  const auto prefetches = [&](const char* how) { return has_setting(strategy, "fsdp", "backward_prefetch", how); };
  const auto zero_has = [&](const char* key, const char* value) { return has_setting(strategy, "zero", key, value); };
  return {
      {"no prefetch in the backward pass", "setting",
       set_if(gathers_again && !prefetches("NO_PREFETCH"), "/strategy/backward_prefetch", "NO_PREFETCH")},
      {"prefetch before each block's backward pass", "setting",
       set_if(gathers_again && !prefetches("BACKWARD_PRE"), "/strategy/backward_prefetch", "BACKWARD_PRE")},
      {"no limit on allgathers", "setting",
       set_if(gathers_again && has_setting(strategy, "fsdp", "limit_all_gathers", "true"),
              "/strategy/limit_all_gathers", false)},
      {"reductions after the backward pass", "setting",
       set_if(zero_has("overlap_comm", "true"), "/strategy/overlap_comm", false)},
      {"reductions beside the backward pass", "setting",
       set_if(zero_has("overlap_comm", "false"), "/strategy/overlap_comm", true)},
      {"parameters gathered beside the forward pass", "setting",
       set_if(strategy.sharding_stage < 3 && zero_has("overlap_params", "false"), "/strategy/overlap_params", true)},
      {"parameters kept after the forward pass", "setting",
       set_if(gathers_again, "/strategy/reshard_after_forward", false)},
      {"parameters given up after the forward pass", "setting",
       set_if(strategy.kind == "fsdp" && strategy.sharding_stage == 2, "/strategy/reshard_after_forward", true)},
  };
}

/// fsdp has groups with its hybrid strategies only.
Values shard_group(const WhatIfBase& base, int ranks) {
  const StrategyChoice& strategy = base.scenario.strategy;
  if (strategy.sharding_stage == 0 || strategy.shards_of(base.point.ranks) == ranks) return {};
  Values values;
  if (has_setting(strategy, "fsdp", "sharding_strategy", "FULL_SHARD")) {
    values = set_if(true, "/strategy/sharding_strategy", "HYBRID_SHARD");
  } else if (has_setting(strategy, "fsdp", "sharding_strategy", "SHARD_GRAD_OP")) {
    values = set_if(true, "/strategy/sharding_strategy", "_HYBRID_SHARD_ZERO2");
  }
  values.push_back({"/strategy/shard_group", std::to_string(ranks)});
  return values;
}

/// As many samples a step: a tensor group has the batch of one rank.
Rows of_their_groups(const WhatIfBase& base) {
  const StrategyChoice& strategy = base.scenario.strategy;
  const PlatformSpec& platform = base.scenario.platform;
  const int of_node = platform.placement.ranks_per_node(platform.platform.devices_per_node);
  const int shards = of_node / strategy.tensor_parallel;
  const bool makes_groups =
      of_node > 1 && strategy.tensor_parallel == 1 && strategy.shards == 0 && base.scenario.workload.global_batch == 0;
  const Values tensor_group{{"/strategy/tensor_parallel", std::to_string(of_node)},
                            {"/strategy/sequence_parallel", "true"},
                            {"/strategy/accumulation", std::to_string(strategy.accumulation * of_node)}};
  const auto stage = [&](int number) {
    return set_if(strategy.kind == "zero" && strategy.sharding_stage != number, "/strategy/stage", number);
  };
  return {
      {"stage 1", "setting", stage(1)},
      {"stage 2", "setting", stage(2)},
      {"stage 3", "setting", stage(3)},
      {"shard group of a node", "setting", base.point.nodes > 1 && shards > 1 ? shard_group(base, shards) : Values{}},
      {"shard group of all ranks", "setting", shard_group(base, base.scenario.replicas())},
      {"tensor groups of a node", "setting", makes_groups ? tensor_group : Values{}},
      {"tokens shared within tensor groups", "setting",
       set_if(strategy.tensor_parallel > 1 && !strategy.sequence_parallel, "/strategy/sequence_parallel", true)},
  };
}

/// As many samples a step: with half the replicas each has twice the micro-batches. Twice the micro-batches alone are a
/// larger step, of which the bubble is a smaller share.
Rows of_their_stages(const WhatIfBase& base) {
  const StrategyChoice& strategy = base.scenario.strategy;
  if (strategy.pipeline == 1 || base.scenario.workload.global_batch > 0) return {};
  const auto stages = [](int number, int passes) {
    return Values{{"/strategy/pipeline", std::to_string(number)}, {"/strategy/accumulation", std::to_string(passes)}};
  };
  const int number = strategy.pipeline;
  const int passes = strategy.accumulation;
  const bool halves = number % 2 == 0 && passes % 2 == 0;
  return {
      {"twice the stages", "setting", stages(2 * number, 2 * passes)},
      {"half the stages", "setting", halves ? stages(number / 2, passes / 2) : Values{}},
      {"twice the micro-batches", "setting", stages(number, 2 * passes)},
  };
}

/// The operations are those that a sharded strategy always has; the tree is between replicas of a shard group.
Rows of_their_algorithms(const WhatIfBase& base) {
  const Scenario& scenario = base.scenario;
  const StrategyChoice& strategy = scenario.strategy;
  Values by_library;
  for (const Operation wanted : {Operation::allgather, Operation::reduce_scatter}) {
    const bool can = !scenario.platform.platform.transport.library.empty() && strategy.sharding_stage > 0;
    if (can && !scenario.libraries.contains(wanted))
      by_library.push_back({"/collectives/" + name(wanted), Json("library").dump()});
  }
  const bool has_replicas = strategy.shards_of(base.point.ranks) < scenario.replicas();
  return {
      {"the library's allgather and reduce-scatter", "setting", by_library},
      {"double_tree between replicas", "setting",
       set_if(has_replicas && scenario.collectives.at(Operation::allreduce).name != "double_tree",
              "/collectives/allreduce", "double_tree")},
  };
}

Rows of_their_compute(const WhatIfBase& base) {
  const WorkloadSpec& workload = base.scenario.workload;
  const int batch = base.point.batch_per_rank;
  const int passes = base.scenario.strategy.accumulation;
  const auto recompute = [&](Recompute wanted) {
    const bool is_other = workload.recompute != wanted && has_blocks(workload.model);
    return set_if(is_other, "/workload/recompute", name(wanted));
  };
  const auto micro_batch = [&](bool makes_sense, int samples, int number) {
    if (!makes_sense || workload.global_batch > 0) return Values{};
    return Values{{"/workload/batch_per_rank", std::to_string(samples)},
                  {"/strategy/accumulation", std::to_string(number)}};
  };
  return {
      {"nothing recomputed", "setting", recompute(Recompute::none)},
      {"selective recomputation", "setting", recompute(Recompute::selective)},
      {"full recomputation", "setting", recompute(Recompute::full)},
      {"double the batch in half the passes", "setting", micro_batch(passes % 2 == 0, 2 * batch, passes / 2)},
      {"batch / 2 in twice the passes", "setting", micro_batch(batch % 2 == 0, batch / 2, 2 * passes)},
  };
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
Values nvlink_domain_of_72(const WhatIfBase& base, const Topology& topology) {
  constexpr int domain = 72;
  constexpr int power_of_two = 64;
  const Document& document = base.source.document;
  if (document.find("/platform/placement") || document.find("/platform/launch")) return {};
  if (!topology.nvlink || !topology.nvlink->mesh.empty()) return {};
  const int ranks = base.point.ranks;
  const int devices = ranks % domain == 0 ? domain : power_of_two;
  const int of_host = topology.devices_per_node;
  if (of_host >= power_of_two || devices % of_host != 0 || (ranks > devices && ranks % devices != 0)) return {};
  const Json nics = nics_of_hosts(topology, devices / of_host);
  if (nics.empty()) return {};
  return {{"/platform/override/~1node~1devices", std::to_string(devices)},
          {"/platform/override/~1node~1nics_at", nics.dump()}};
}

/// Of half the NICs every second one stays, so that those near one device go before all of those near another.
Rows of_nodes(const WhatIfBase& base) {
  const Document& document = base.source.document;
  const auto name_at = document.find("/platform/topology");
  if (base.point.nodes == 1 || !name_at) return {};
  const Topology topology =
      base.source.catalogue.topology(read<std::string>(*name_at), *name_at, document.find("/platform/override"));
  Json kept = Json::array();
  for (std::size_t nic = 0; nic < topology.nics_at.size(); nic += 2) kept.push_back(topology.nics_at[nic]);
  return {
      {"half the NICs of a node", "hardware",
       set_if(topology.nics_at.size() > 1, "/platform/override/~1node~1nics_at", kept)},
      {"NVLink domain of 72", "hardware", nvlink_domain_of_72(base, topology)},
  };
}

}  // namespace

std::vector<OfferedChange> offered_changes(const WhatIfBase& base) {
  Rows rows;
  const auto add = [&](std::initializer_list<Rows (*)(const WhatIfBase&)> groups) {
    for (const auto& group : groups) std::ranges::move(group(base), std::back_inserter(rows));
  };
  add({of_gradients, of_servers, of_everything_else});
  if (is_sharded(base.scenario.strategy)) {
    add({of_their_timing, of_their_groups, of_their_stages, of_their_algorithms, of_their_compute, of_nodes});
  }
  std::erase_if(rows, [](const OfferedChange& row) { return row.set.empty(); });
  return rows;
}

}}  // namespace farandole::scenario
