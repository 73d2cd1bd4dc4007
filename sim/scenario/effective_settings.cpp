#include "scenario/effective_settings.hpp"

#include <fmt/format.h>

#include "simulate/fluid_network.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

std::string percent(double share) {
  return fmt::format("{:.4g} %", share * 100);
}

}  // namespace

Settings effective_settings(const Scenario& scenario) {
  const StrategyChoice& strategy = scenario.strategy;
  const Transport& transport = scenario.platform.platform.transport;
  const auto& dispatch = scenario.workload.host_dispatch;
  Settings settings{
      {"effects.device_spread", percent(scenario.effects.device_spread)},
      {"effects.step_jitter", percent(scenario.effects.step_jitter)},
      {"workload.host_dispatch", dispatch ? format(*dispatch) : "ready"},
      {"transport.name", transport.name},
      {"transport.intra_node_latency", format(transport.intra_node_latency)},
      {"transport.inter_node_latency", format(transport.inter_node_latency)},
      {"transport.launch", format(transport.launch)},
      {"transport.control_latency", format(transport.control_latency)},
      {"measure.iterations", fmt::format("{}", scenario.measure.iterations)},
      {"measure.warmup", fmt::format("{}", scenario.measure.warmup)},
      {"measure.seed", fmt::format("{}", scenario.seed)},
  };
  if (transport.reduce_rate < BytesPerSecond::infinity()) {
    settings["transport.reduce_rate"] = format(transport.reduce_rate);
  }
  for (const auto& [name, value] : strategy.settings) settings[strategy.kind + "." + name] = value;
  if (strategy.compression.kind != Compression::none) {
    settings["strategy.compression"] = describe(strategy.compression);
  }
  if (strategy.accumulation > 1) settings["strategy.accumulation"] = fmt::format("{}", strategy.accumulation);
  if (scenario.fidelity != Fidelity::analytic) {
    for (const auto& [name, value] : simgrid_settings()) settings["simgrid." + name] = value;
  }
  return settings;
}

void merge_settings(Settings& all, const Settings& more) {
  for (const auto& [name, value] : more) {
    auto [place, added] = all.emplace(name, value);
    std::string& listed = place->second;
    if (added || listed == value || listed.starts_with(value + ", ") || listed.ends_with(", " + value) ||
        listed.find(", " + value + ", ") != std::string::npos) {
      continue;
    }
    listed += ", " + value;
  }
}

}  // namespace farandole
