#include "explore_controls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "collective/algorithms.hpp"
#include "config/document.hpp"
#include "config/section.hpp"
#include "scenario/anchor.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/sweep.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

struct Site {
  const Document& written;
  const PlannedPoint& base;
  const Catalogue& catalogue;
};

/// That of the page's own scenario, which need not be built again: ten thousand nodes take a tenth of a second.
bool is_on_same_machine(const ControlValue& value) {
  const auto leaves_it = [](const auto& one) {
    return one.key() == "/platform/ranks" || !one.key().starts_with("/platform");
  };
  const auto all = value.set.items();
  return std::all_of(all.begin(), all.end(), leaves_it);
}

bool is_accepted(const Site& site, const ControlValue& value) {
  try {
    Document document = site.base.document;
    apply(value, document);
    const Platform* machine = is_on_same_machine(value) ? &site.base.scenario.platform.platform : nullptr;
    static_cast<void>(read_scenario(anchored(document, site.catalogue).root(), site.catalogue, machine));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

ControlValue putting(std::string text, const std::string& pointer, const Record& value) {
  ControlValue result{std::move(text)};
  result.set[pointer] = value;
  return result;
}

/// The values that the simulator takes; the one at `at` is the scenario's own, whose document needs no change.
void add(std::vector<Control>& controls, const Site& site, Control control) {
  Control kept{control.id, control.label, control.is_ordered, {}, 0};
  for (std::size_t i = 0; i < control.values.size(); ++i) {
    const bool is_own = i == control.at;
    if (is_own) kept.at = kept.values.size();
    if (is_own) control.values[i].set = Record::object();
    if (is_own || is_accepted(site, control.values[i])) kept.values.push_back(std::move(control.values[i]));
  }
  if (kept.values.size() > 1) controls.push_back(std::move(kept));
}

/// Of a network. The faster its links are, the more is left of them for others to take: where the simulator takes both
/// ends it takes what is between, and few machines are built.
void add_factors(std::vector<Control>& controls, const Site& site, Control control) {
  const bool are_all = is_accepted(site, control.values.front()) && is_accepted(site, control.values.back());
  if (!are_all) return add(controls, site, std::move(control));
  control.values[control.at].set = Record::object();
  controls.push_back(std::move(control));
}

/// What the scenario's sweep puts at a pointer, where that is an axis of its own.
std::vector<Record> swept_at(const Site& site, const std::string& pointer) {
  std::vector<Record> values;
  const auto sweep = site.written.find("/sweep");
  if (!sweep) return values;
  for (const Axis& axis : read_axes(*sweep)) {
    for (const Setting& setting : axis) {
      if (setting.assignments.size() == 1 && setting.assignments.front().pointer == pointer) {
        values.emplace_back(to_json(setting.assignments.front().value));
      }
    }
  }
  return values;
}

/// Powers of two up to 64 times as many as the scenario has, what it sweeps, and its own.
Control counts(const Site& site, const std::string& id, const std::string& label, const std::string& pointer, int own,
               std::int64_t most) {
  std::set<int> all{own};
  most = std::min<std::int64_t>(most, std::numeric_limits<int>::max());
  for (std::int64_t count = 1; count <= most; count *= 2) all.insert(static_cast<int>(count));
  for (const Record& value : swept_at(site, pointer)) all.insert(value.get<int>());
  Control control{id, label, true, {}, 0};
  for (const int count : all) {
    if (count == own) control.at = control.values.size();
    control.values.push_back(putting(fmt::format("{}", count), pointer, count));
  }
  return control;
}

Control factors(const std::string& id, const std::string& label, const std::string& pointer, double own) {
  Control control{id, label, true, {}, 0};
  for (int half_steps = -6; half_steps <= 8; ++half_steps) {
    if (half_steps == 0) control.at = control.values.size();
    const double factor = std::exp2(half_steps / 2.0);
    control.values.push_back(putting(fmt::format("× {:.3g}", factor), pointer, own * factor));
  }
  return control;
}

/// Powers of two of a size, from none on, and the one in force.
Control sizes_control(const std::string& id, const std::string& label, const std::string& pointer,
                      const std::string& own) {
  std::map<Bytes, std::string> all{{std::get<Bytes>(parse_quantity<Bytes>(own)), own}};
  all.try_emplace(Bytes(0), "0 B");
  for (int power = 0; power <= 10; ++power) {
    const Bytes size = std::exp2(power) * 1_MiB;
    all.try_emplace(size, format(size));
  }
  Control control{id, label, true, {}, 0};
  for (const auto& [size, text] : all) {
    if (text == own) control.at = control.values.size();
    control.values.push_back(putting(text, pointer, text));
  }
  return control;
}

Control choice(const Site& site, const std::string& id, const std::string& label, const std::string& pointer,
               const std::vector<std::string>& names, const std::string& own) {
  Control control{id, label, false, {}, 0};
  std::vector<std::string> all = names;
  for (const Record& value : swept_at(site, pointer)) {
    if (!value.is_string()) continue;
    const auto name = value.get<std::string>();
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  }
  if (std::ranges::find(all, own) == all.end()) all.insert(all.begin(), own);
  for (const std::string& name : all) {
    if (name == own) control.at = control.values.size();
    control.values.push_back(putting(name, pointer, name));
  }
  return control;
}

void add_fusion(std::vector<Control>& controls, const Site& site) {
  constexpr std::array<std::array<const char*, 3>, 3> settings{{{"fusion_threshold", "fusion", "fusion threshold"},
                                                                {"bucket_cap", "bucket", "bucket size"},
                                                                {"cycle_time", "cycle", "cycle time"}}};
  const auto& in_force = site.base.scenario.strategy.settings;
  for (const auto& [key, id, label] : settings) {
    const auto own = in_force.find(key);
    if (own == in_force.end()) continue;
    const std::string pointer = std::string("/strategy/") + key;
    if (std::string_view(key) != "cycle_time") {
      add(controls, site, sizes_control(id, label, pointer, own->second));
      continue;
    }
    Control control =
        choice(site, id, label, pointer, {"0.5 ms", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"}, own->second);
    control.is_ordered = true;
    std::ranges::sort(control.values, {},
                      [](const ControlValue& value) { return std::get<Seconds>(parse_quantity<Seconds>(value.text)); });
    control.at = static_cast<std::size_t>(std::ranges::find(control.values, own->second, &ControlValue::text) -
                                          control.values.begin());
    add(controls, site, std::move(control));
  }
}

void add_algorithm(std::vector<Control>& controls, const Site& site) {
  const Operation carrier = carrier_of(site.base.scenario.strategy);
  if (site.base.scenario.strategy.servers || !site.base.scenario.collectives.contains(carrier)) return;
  std::vector<std::string> names = algorithm_names(carrier);
  for (const char* library : {"library", "nccl-2.7", "openmpi-4", "mpich"}) names.emplace_back(library);
  const std::string& own = site.base.scenario.collectives.at(carrier).name;
  const std::string operation = name(carrier);
  add(controls, site, choice(site, "algorithm", operation + " by", "/collectives/" + operation, names, own));
}

/// Rank 0 that much slower than the others all the time.
void add_straggler(std::vector<Control>& controls, const Site& site) {
  Control control{"straggler", "one straggler", true, {{"as it is"}}, 0};
  for (const int percent : {2, 5, 10, 20, 30, 50, 75, 100}) {
    const Record straggler = {{"ranks", {0}}, {"slowdown", fmt::format("{} %", percent)}};
    control.values.push_back(putting(fmt::format("{} % slower", percent), "/effects/straggler", straggler));
  }
  add(controls, site, std::move(control));
}

/// "node nic rate" of "/platform/override/~1node~1nic~1rate".
std::string label_of(const std::set<std::string>& pointers) {
  if (pointers.size() != 1) return "variant";
  std::string label = split_pointer(*pointers.begin())->back();
  std::ranges::replace(label, '/', ' ');
  std::ranges::replace(label, '_', ' ');
  return label.starts_with(' ') ? label.substr(1) : label;
}

std::string id_of(std::string label) {
  std::ranges::replace_if(
      label, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return label;
}

std::set<std::string> pointers_of(const Axis& axis) {
  std::set<std::string> pointers;
  for (const Setting& setting : axis) {
    for (const Assignment& one : setting.assignments) pointers.insert(one.pointer);
  }
  return pointers;
}

/// Pointers that only some of an axis' values change are as the file has them for the others.
Control control_of(const Site& site, const Axis& axis) {
  const std::set<std::string> pointers = pointers_of(axis);
  const std::string label = label_of(pointers);
  Control control{id_of(label), label, false, {}, axis.size() - 1};
  for (const Setting& setting : axis) {
    ControlValue value{setting.swept.empty() ? setting.name : setting.swept.front().value};
    for (const std::string& pointer : pointers) {
      const auto written = site.written.find(pointer);
      value.set[pointer] = written ? Record(to_json(written->node())) : Record(nullptr);
    }
    for (const Assignment& one : setting.assignments) value.set[one.pointer] = to_json(one.value);
    control.values.push_back(std::move(value));
  }
  return control;
}

/// What is swept and has no control of its own already: one for each axis.
void add_axes(std::vector<Control>& controls, const Site& site, std::span<const Control> ours) {
  const auto sweep = site.written.find("/sweep");
  if (!sweep) return;
  std::set<std::string> taken;
  for (const Control& control : ours) {
    for (const ControlValue& value : control.values) {
      for (const auto& [pointer, json] : value.set.items()) taken.insert(pointer);
    }
  }
  for (const Axis& axis : read_axes(*sweep)) {
    const std::set<std::string> pointers = pointers_of(axis);
    if (pointers.size() > 1 || !taken.contains(*pointers.begin())) add(controls, site, control_of(site, axis));
  }
}

}  // namespace

void apply(const ControlValue& value, Document& document) {
  for (const auto& [pointer, json] : value.set.items()) {
    if (json.is_null()) {
      document.remove(pointer);
      continue;
    }
    for (auto at = pointer.find('/', 1); at != std::string::npos; at = pointer.find('/', at + 1)) {
      if (!document.find(pointer.substr(0, at))) document.set(pointer.substr(0, at), "{}");
    }
    document.set(pointer, json.dump());
  }
}

std::vector<Control> controls_of(const Document& written, const PlannedPoint& base, const Catalogue& catalogue) {
  const Site site{written, base, catalogue};
  const Scenario& scenario = base.scenario;
  const bool is_strong = scenario.workload.global_batch > 0;
  const std::string batch = is_strong ? "/workload/global_batch" : "/workload/batch_per_rank";
  const int own_batch = is_strong ? scenario.workload.global_batch : scenario.workload.batch_per_rank;
  std::vector<Control> controls;
  const int most_ranks = std::max(1024, scenario.platform.ranks);
  add(controls, site, counts(site, "ranks", "ranks", "/platform/ranks", scenario.platform.ranks, most_ranks));
  const NetworkScale& scale = scenario.platform.scale;
  add_factors(controls, site, factors("bandwidth", "network bandwidth", "/platform/scale/rate", scale.rate));
  add_factors(controls, site, factors("latency", "network latency", "/platform/scale/latency", scale.latency));
  add(controls, site,
      counts(site, "batch", is_strong ? "global batch" : "batch per rank", batch, own_batch,
             std::int64_t{32} * own_batch));
  add_fusion(controls, site);
  add_algorithm(controls, site);
  add(controls, site,
      choice(site, "precision", "precision", "/workload/precision", {"fp32", "tf32", "bf16", "fp16", "fp8"},
             name(scenario.workload.precision)));
  add(controls, site,
      choice(site, "compression", "compression of gradients", "/strategy/compression",
             {"none", "fp16", "int8", "top_k", "one_bit", "power_sgd"}, name(scenario.strategy.compression.kind)));
  add_straggler(controls, site);
  add(controls, site,
      choice(site, "fidelity", "fidelity", "/measure/fidelity", {"analytic", "flow"}, name(scenario.fidelity)));
  std::vector<Control> all;
  add_axes(all, site, controls);
  std::ranges::move(controls, std::back_inserter(all));
  return all;
}

}  // namespace farandole
