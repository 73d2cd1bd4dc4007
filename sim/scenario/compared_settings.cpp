#include "scenario/compared_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "scenario/model_error.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {
namespace {

struct KindOfKey {
  std::string_view section;
  std::string_view key;  // empty: all others of the section
  const char* kind;      // null: none, or known from the scenario itself
};

/// The first that fits counts.
constexpr std::array kinds_of_keys{
    KindOfKey{"workload", "model", "model"},
    KindOfKey{"workload", "variant", "sequence or variant"},
    KindOfKey{"workload", "batch_per_rank", "batch"},
    KindOfKey{"workload", "global_batch", "batch"},
    KindOfKey{"workload", "precision", "precision"},
    KindOfKey{"workload", "gradient_type", "precision"},
    KindOfKey{"workload", "compile", "compile"},
    KindOfKey{"workload", "recompute", "recompute"},
    KindOfKey{"workload", "loss", nullptr},
    KindOfKey{"workload", "measured", nullptr},
    KindOfKey{"workload", "measured_under", nullptr},
    KindOfKey{"workload", "device_steps", nullptr},
    KindOfKey{"workload", "anchored_on", nullptr},
    KindOfKey{"workload", "anchored_runs", nullptr},
    KindOfKey{"workload", "anchored_device", nullptr},
    KindOfKey{"workload", "", "program"},
    KindOfKey{"platform", "ranks", "ranks"},
    KindOfKey{"platform", "launch", "ranks"},
    KindOfKey{"platform", "topology", nullptr},
    KindOfKey{"platform", "override", nullptr},
    KindOfKey{"platform", "", "network"},
    KindOfKey{"traffic", "", "network"},
    KindOfKey{"strategy", "kind", "strategy"},
    KindOfKey{"strategy", "accumulation", "batch"},
    KindOfKey{"strategy", "compression", "compression"},
    KindOfKey{"strategy", "stage", "sharding"},
    KindOfKey{"strategy", "sharding_strategy", "sharding"},
    KindOfKey{"strategy", "shard_group", "sharding"},
    KindOfKey{"strategy", "reshard_after_forward", "sharding"},
    KindOfKey{"strategy", "servers", "servers"},
    KindOfKey{"strategy", "server_placement", "servers"},
    KindOfKey{"strategy", "colocated", "servers"},
    KindOfKey{"strategy", "aggregate_on_node", "servers"},
    KindOfKey{"strategy", "", "strategy's settings"},
    KindOfKey{"collectives", "", "algorithm"},
    KindOfKey{"effects", "", "operation"},
};

const char* kind_of_key(std::string_view section, std::string_view key) {
  const auto fits = [&](const KindOfKey& row) { return row.section == section && (row.key.empty() || row.key == key); };
  const auto found = std::ranges::find_if(kinds_of_keys, fits);
  return found == kinds_of_keys.end() ? nullptr : found->kind;
}

}  // namespace

ComparedSettings compared_settings(const Document& document, const Scenario& scenario) {
  const nlohmann::json json = document.to_json();
  std::map<std::string, std::string> values{{"device", scenario.platform.device.name},
                                            {"generation", scenario.platform.device.generation},
                                            {"network", scenario.platform.platform.name},
                                            {"strategy", scenario.strategy.kind}};
  const auto add = [&](const char* kind, const std::string& key, const nlohmann::json& value) {
    if (kind == nullptr || key == "comment") return;
    std::string& text = values[kind];
    text += (text.empty() ? "" : ", ") + (value.is_string() ? value.get<std::string>() : key + " " + value.dump());
  };
  for (const auto& [section, members] : json.items()) {
    if (!members.is_object()) continue;
    for (const auto& [key, value] : members.items()) add(kind_of_key(section, key), key, value);
  }
  const nlohmann::json overrides = json.value("/platform/override"_json_pointer, nlohmann::json::object());
  for (const auto& [pointer, value] : overrides.items()) {
    if (pointer != "/node/device") add(pointer == "/node/measurements" ? "program" : "network", pointer, value);
  }
  return mapped(values, [](const auto& setting) { return ComparedSetting{setting.first, setting.second}; });
}

DifferenceErrors difference_errors(const Catalogue& catalogue, const std::string& without_family) {
  const Document* file = errors_file(catalogue);
  DifferenceErrors errors;
  if (file == nullptr) return errors;
  Section section(Section(file->root()).child("differences"));
  errors.much = section.required<double>("much");
  errors.largest_ranks = section.required<double>("largest_ranks");
  const auto of_others = section.child("without").members();
  const auto own = std::ranges::find(of_others, without_family, [](const auto& family) { return family.first; });
  const Value kinds = own == of_others.end() ? section.child("kinds") : own->second;
  for (const auto& [kind, spread] : kinds.members()) {
    Section numbers(spread);
    errors.kinds[kind] = {numbers.required<double>("little"), numbers.required<double>("much")};
  }
  return errors;
}

void put_apart(ComparedSettings& settings, const TrainingPoint& point, const DifferenceErrors& errors) {
  if (errors.kinds.empty()) return;
  const bool waits = point.breakdown.compute < (1 - errors.much) * point.breakdown.total();
  const double beyond = std::max(0.0, std::log2(point.ranks / errors.largest_ranks));
  for (ComparedSetting& setting : settings) {
    const auto own = errors.kinds.find(setting.of);
    const Interval& spread = own == errors.kinds.end() ? errors.kinds.at("other") : own->second;
    setting.apart = (waits ? spread.high : spread.low) * std::sqrt(1 + beyond);
  }
}

}}  // namespace farandole::scenario
