#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenario/explain.hpp"
#include "scenario/parts.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/run.hpp"
#include "scenario/train.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<SetValue>;  // none: not offered

std::string as_text(BytesPerSecond rate) {
  return fmt::format("{:.17g} B/s", rate.si());
}

std::string as_text(Seconds time) {
  return fmt::format("{:.17g} s", time.si());
}

Values fp16_gradients(const WhatIfBase& base) {
  const bool are_whole = base.scenario.workload.gradient_type == GradientType::fp32 &&
                         base.scenario.strategy.compression.kind == Compression::none;
  return set_if(are_whole, "/strategy/compression", "fp16");
}

Values short_cycle(const WhatIfBase& base) {
  const auto& settings = base.scenario.strategy.settings;
  const auto cycle = settings.find("cycle_time");
  return set_if(cycle != settings.end() && cycle->second != format(1_ms), "/strategy/cycle_time", "1 ms");
}

Values allreduce_by(const WhatIfBase& base, const std::string& name) {
  const bool allreduces = carrier_of(base.scenario.strategy) == Operation::allreduce;
  return set_if(allreduces && base.scenario.collectives.at(Operation::allreduce).name != name, "/collectives/allreduce",
                name);
}

Values hierarchical(const WhatIfBase& base) {
  const bool nodes_of_several = base.point.nodes > 1 && base.point.ranks > base.point.nodes;
  return nodes_of_several ? allreduce_by(base, "hierarchical") : Values{};
}

Values double_tree(const WhatIfBase& base) {
  return allreduce_by(base, "double_tree");
}

Values own_allreduce(const WhatIfBase& base) {
  const bool has_other = !base.scenario.platform.platform.transport.library.empty() &&
                         !base.scenario.libraries.contains(Operation::allreduce);
  return has_other ? allreduce_by(base, "library") : Values{};
}

Values twice_the_batch(const WhatIfBase& base) {
  const WorkloadSpec& workload = base.scenario.workload;
  return set_if(workload.global_batch == 0, "/workload/batch_per_rank", 2 * workload.batch_per_rank);
}

Values twice_the_servers(const WhatIfBase& base) {
  const auto& plan = base.scenario.strategy.servers;
  if (!plan) return {};
  const bool have_room = !plan->colocated || 2 * plan->servers <= base.point.nodes;
  return set_if(have_room, "/strategy/servers", 2 * plan->servers);
}

Values split_variables(const WhatIfBase& base) {
  const auto& plan = base.scenario.strategy.servers;
  return set_if(plan && plan->servers > 1 && plan->placement != "split", "/strategy/server_placement", "split");
}

Values one_push_per_node(const WhatIfBase& base) {
  const auto& plan = base.scenario.strategy.servers;
  return set_if(plan && !plan->aggregate_on_node && base.point.ranks > base.point.nodes, "/strategy/aggregate_on_node",
                true);
}

bool differ_in_speed(const EffectsSpec& effects) {
  return effects.device_spread > 0 || effects.step_jitter.varies() || !effects.stragglers.empty() ||
         !effects.other_devices.empty() || effects.os_noise || effects.board_slowdown > 0;
}

/// What cannot be taken back with a value is left out of the whole section.
Values equal_ranks(const WhatIfBase& base) {
  if (!differ_in_speed(base.scenario.effects)) return {};
  const Json document = base.source.document.to_ordered_json();
  Json effects = document.contains("effects") ? document.at("effects") : Json::object();
  for (const char* key : {"straggler", "other_devices", "os_noise", "shared_board"}) effects.erase(key);
  for (const char* key : {"device_spread", "step_jitter"}) effects[key] = "0 %";
  return set_if(true, "/effects", effects);
}

Values faster_input(const WhatIfBase& base) {
  if (!base.scenario.effects.input) return {};
  const InputSupply& supply = *base.scenario.effects.input;
  Values values;
  const auto add = [&](bool limits, const char* key, const Json& value) {
    if (limits) values.push_back({std::string("/effects/input/") + key, value.dump()});
  };
  const auto limits = [](BytesPerSecond rate) { return rate < BytesPerSecond::infinity(); };
  add(limits(supply.storage_bandwidth), "storage_bandwidth", as_text(2 * supply.storage_bandwidth));
  add(supply.storage_samples_per_second > 0, "storage_samples_per_second", 2 * supply.storage_samples_per_second);
  add(limits(supply.node_bandwidth), "node_bandwidth", as_text(2 * supply.node_bandwidth));
  add(supply.decode_workers > 0, "decode_workers", 2 * supply.decode_workers);
  return values;
}

Values faster_checkpoints(const WhatIfBase& base) {
  if (!base.scenario.effects.checkpoint) return {};
  const Checkpoint& checkpoint = *base.scenario.effects.checkpoint;
  Values values;
  const auto add = [&](BytesPerSecond rate, const std::string& key) {
    if (rate == BytesPerSecond::infinity()) return;
    values.push_back({"/effects/checkpoint/" + key, Json(as_text(2 * rate)).dump()});
  };
  add(checkpoint.rate, "rate");
  add(checkpoint.node_bandwidth, "node_bandwidth");
  add(checkpoint.storage_bandwidth, "storage_bandwidth");
  add(checkpoint.snapshot_rate, "snapshot_rate");
  if (checkpoint.latency > Seconds(0)) {
    values.push_back({"/effects/checkpoint/latency", Json(as_text(checkpoint.latency / 2)).dump()});
  }
  return values;
}

Values sharded_checkpoints(const WhatIfBase& base) {
  const auto& checkpoint = base.scenario.effects.checkpoint;
  return set_if(checkpoint && !checkpoint->sharded, "/effects/checkpoint/sharded", true);
}

Values half_the_latency(const WhatIfBase& base) {
  const double latency = base.scenario.platform.scale.latency;
  return set_if(latency > 0, "/platform/scale/latency", latency / 2);
}

Values twice_the_network(const WhatIfBase& base) {
  return set_if(true, "/platform/scale/rate", 2 * base.scenario.platform.scale.rate);
}

/// In order of cost.
constexpr std::array offered_changes{
    OfferedChange{"fp16 gradients", "setting", fp16_gradients},
    OfferedChange{"cycle time 1 ms", "setting", short_cycle},
    OfferedChange{"the library's allreduce", "setting", own_allreduce},
    OfferedChange{"hierarchical allreduce", "setting", hierarchical},
    OfferedChange{"double_tree allreduce", "setting", double_tree},
    OfferedChange{"variables split over servers", "setting", split_variables},
    OfferedChange{"one push per node", "setting", one_push_per_node},
    OfferedChange{"double the batch", "setting", twice_the_batch},
    OfferedChange{"no stragglers", "operation", equal_ranks},
    OfferedChange{"input x2", "operation", faster_input},
    OfferedChange{"every rank writes its part of a checkpoint", "setting", sharded_checkpoints},
    OfferedChange{"checkpoints x2", "operation", faster_checkpoints},
    OfferedChange{"servers x2", "hardware", twice_the_servers},
    OfferedChange{"latency / 2", "hardware", half_the_latency},
    OfferedChange{"network x2", "hardware", twice_the_network},
};

constexpr const char* uncertain = "uncertain";

std::size_t cost_of(const WhatIf& what_if) {
  constexpr std::array<std::string_view, 4> kinds{"setting", "operation", "hardware", uncertain};
  return static_cast<std::size_t>(std::ranges::find(kinds, what_if.kind) - kinds.begin());
}

/// Of an offered change: how much surely, and how surely, as between two points of a sweep.
void judge(WhatIf& what_if, const WhatIfBase& base, TrainingPoint point, const ChangedScenario& changed) {
  if (!base.scenario.bands) return;
  point.scaling_efficiency = what_if.scaling_efficiency;
  add_bands(point, changed.document, base.source.catalogue, changed.scenario);
  const auto gain = difference(base.point, point);
  if (!gain) return;
  const auto points = [&](double factor) { return base.point.scaling_efficiency * (factor - 1) * 100; };
  what_if.sure = gain->sure;
  what_if.points_band = Interval{points(gain->band.low), points(gain->band.high)};
}

WhatIf run(const WhatIfBase& base, const std::string& name, const char* kind, const ChangedScenario& changed) {
  const TrainingPoint point = train(changed.scenario, nullptr);
  const double gain = point.samples_per_second / base.point.samples_per_second - 1;
  WhatIf result{name,
                kind,
                point.samples_per_second,
                base.point.scaling_efficiency * gain * 100,
                point.iteration,
                scaling_efficiency(changed.scenario, point),
                changed.set,
                std::nullopt,
                std::nullopt};
  if (kind != uncertain) judge(result, base, point, changed);
  return result;
}

/// At the ends of what was measured of the numbers that nobody has set.
void add_uncertain(std::vector<WhatIf>& results, const WhatIfBase& base) {
  for (const UncertainSetting& setting : base.scenario.strategy.uncertain) {
    for (const Seconds value : {setting.least, setting.most}) {
      auto changed = change(base.source, base.scenario, {{setting.pointer, Json(as_text(value)).dump()}});
      const std::string name = fmt::format("{}: {}, not {}", setting.what, format(value), format(setting.used));
      if (changed) results.push_back(run(base, name, uncertain, *changed));
    }
  }
}

}  // namespace

Values set_if(bool makes_sense, const char* pointer, const Json& value) {
  return makes_sense ? Values{{pointer, value.dump()}} : Values{};
}

std::vector<WhatIf> what_ifs(const WhatIfBase& base) {
  std::vector<WhatIf> results;
  if (base.point.ranks == 1) return results;
  const auto add = [&](std::span<const OfferedChange> offered) {
    for (const OfferedChange& change_of : offered) {
      const Values values = change_of.propose(base);
      if (values.empty()) continue;
      if (auto changed = change(base.source, base.scenario, values)) {
        results.push_back(run(base, change_of.name, change_of.kind, *changed));
      }
    }
  };
  add(offered_changes);
  if (is_sharded(base.scenario.strategy)) add(sharded_changes());
  add_uncertain(results, base);
  std::ranges::stable_sort(results, [](const WhatIf& a, const WhatIf& b) {
    if (cost_of(a) != cost_of(b)) return cost_of(a) < cost_of(b);
    return a.efficiency_points > b.efficiency_points;
  });
  return results;
}

}}  // namespace farandole::scenario
