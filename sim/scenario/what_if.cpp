#include "scenario/what_if.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "config/error.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/train.hpp"

namespace farandole {
namespace {

using Changed = std::optional<Scenario>;

/// The scenario with one value of its document replaced; nothing where that is refused.
Changed with_value(const WhatIfBase& base, const char* pointer, const char* value) {
  Document document = base.document;
  try {
    document.set(pointer, value);
    Scenario changed = read_scenario(document.root(), base.catalogue);
    changed.fidelity = base.scenario.fidelity;
    changed.folding = base.scenario.folding;
    return changed;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

Changed with_fp16_gradients(const WhatIfBase& base) {
  const bool full = element_size(base.scenario.workload.precision) == element_size(Precision::fp32) &&
                    base.scenario.strategy.compression.kind == Compression::none;
  return full ? with_value(base, "/strategy/compression", "fp16") : std::nullopt;
}

Changed with_short_cycle(const WhatIfBase& base) {
  const auto& settings = base.scenario.strategy.settings;
  const auto cycle = settings.find("cycle_time");
  const bool horovod = cycle != settings.end() && cycle->second != "1 ms";
  return horovod ? with_value(base, "/strategy/cycle_time", "1 ms") : std::nullopt;
}

Changed with_allreduce(const WhatIfBase& base, const std::string& name) {
  const Algorithm* algorithm = find_algorithm(Operation::allreduce, name);
  const auto current = base.scenario.collectives.find(Operation::allreduce);
  const bool other = current != base.scenario.collectives.end() && current->second.name != name;
  if (algorithm == nullptr || !other) return std::nullopt;
  Scenario changed = base.scenario;
  changed.collectives[Operation::allreduce] = *algorithm;
  return changed;
}

Changed with_hierarchical(const WhatIfBase& base) {
  const bool nodes_of_several = base.point.nodes > 1 && base.point.ranks > base.point.nodes;
  return nodes_of_several ? with_allreduce(base, "hierarchical") : std::nullopt;
}

Changed with_double_tree(const WhatIfBase& base) {
  return with_allreduce(base, "double_tree");
}

Changed with_twice_the_batch(const WhatIfBase& base) {
  Scenario changed = base.scenario;
  changed.workload.batch_per_rank *= 2;
  const MemoryUse use = memory_of(changed);
  const bool fits = use.total() <= use.device || !changed.platform.device.asynchronous;
  return fits && changed.workload.global_batch == 0 ? Changed(changed) : std::nullopt;
}

Changed with_equal_ranks(const WhatIfBase& base) {
  Scenario changed = base.scenario;
  without_stragglers(changed);
  return base.point.breakdown.straggler > Seconds(0) ? Changed(changed) : std::nullopt;
}

Changed with_faster_input(const WhatIfBase& base) {
  if (!base.scenario.effects.input) return std::nullopt;
  Scenario changed = base.scenario;
  InputSupply& supply = *changed.effects.input;
  supply.sample_size /= 2;
  supply.storage_samples_per_second *= 2;
  supply.decode_workers *= 2;
  return changed;
}

Changed with_rare_checkpoints(const WhatIfBase& base) {
  if (!base.scenario.effects.checkpoint) return std::nullopt;
  Scenario changed = base.scenario;
  Checkpoint& checkpoint = *changed.effects.checkpoint;
  checkpoint.rate *= 2;
  checkpoint.latency /= 2;
  return changed;
}

Changed with_half_the_latency(const WhatIfBase& base) {
  Scenario changed = base.scenario;
  changed.mechanisms.latency /= 2;
  return changed;
}

Changed with_twice_the_network(const WhatIfBase& base) {
  Scenario changed = base.scenario;
  changed.mechanisms.network_rate *= 2;
  return changed;
}

struct Change {
  const char* name;
  const char* kind;
  Changed (*apply)(const WhatIfBase&);
};

/// In order of cost.
constexpr std::array changes{
    Change{"fp16 gradients", "setting", with_fp16_gradients},
    Change{"a cycle of 1 ms", "setting", with_short_cycle},
    Change{"hierarchical allreduce", "setting", with_hierarchical},
    Change{"double_tree allreduce", "setting", with_double_tree},
    Change{"batch x2", "setting", with_twice_the_batch},
    Change{"no stragglers", "operation", with_equal_ranks},
    Change{"input x2", "operation", with_faster_input},
    Change{"checkpoints x2", "operation", with_rare_checkpoints},
    Change{"latency / 2", "hardware", with_half_the_latency},
    Change{"network x2", "hardware", with_twice_the_network},
};

std::size_t cost_of(const WhatIf& what_if) {
  constexpr std::array<std::string_view, 3> kinds{"setting", "operation", "hardware"};
  return static_cast<std::size_t>(std::ranges::find(kinds, what_if.kind) - kinds.begin());
}

}  // namespace

void without_stragglers(Scenario& scenario) {
  EffectsSpec& effects = scenario.effects;
  effects.device_spread = 0;
  effects.step_jitter = {};
  effects.stragglers.clear();
  effects.other_devices.clear();
  effects.os_noise.reset();
  effects.board_slowdown = 0;
}

std::vector<WhatIf> what_ifs(const WhatIfBase& base) {
  std::vector<WhatIf> results;
  if (base.point.ranks == 1) return results;
  for (const Change& change : changes) {
    const Changed changed = change.apply(base);
    if (!changed) continue;
    const double rate = train(*changed, nullptr).samples_per_second;
    const double gain = rate / base.point.samples_per_second - 1;
    results.push_back({change.name, change.kind, rate, base.point.scaling_efficiency * gain * 100});
  }
  std::ranges::stable_sort(results, [](const WhatIf& a, const WhatIf& b) {
    if (cost_of(a) != cost_of(b)) return cost_of(a) < cost_of(b);
    return a.efficiency_points > b.efficiency_points;
  });
  return results;
}

}  // namespace farandole
