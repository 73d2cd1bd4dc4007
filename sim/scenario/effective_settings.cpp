#include "scenario/effective_settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platform/mpi_transport.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/train.hpp"
#include "scenario/unused_nics.hpp"
#include "simulate/fluid_network.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

void add_traffic(Settings& settings, const TrafficSpec& traffic) {
  std::vector<std::string> texts;
  for (const OnOffSpec& source : traffic.on_off) {
    texts.push_back(fmt::format("{} on {} links, on {} and off {}", format(source.rate), source.links.size(),
                                format(source.on.mean), format(source.off.mean)));
  }
  for (const auto& job : traffic.jobs) {
    texts.push_back(fmt::format("{} on {} ranks", job->workload.model.name, job->platform.ranks));
  }
  if (!texts.empty()) settings["platform.traffic"] = fmt::format("{}", fmt::join(texts, "; "));
}

bool uses_mpi(const Scenario& scenario) {
  const auto is_one = [](const auto& use) { return use.second.library->mpi != nullptr && !use.second.by_default; };
  return scenario.strategy.reduces_through_hosts || std::ranges::any_of(scenario.libraries, is_one);
}

/// Who carries out the collective that carries the gradients, and those that were chosen.
void add_collectives(Settings& settings, const Scenario& scenario) {
  const PlatformSpec& spec = scenario.platform;
  const Operation carrier = carrier_of(scenario.strategy);
  for (const auto& [operation, use] : scenario.libraries) {
    if (use.by_default && operation != carrier) continue;
    settings["collectives." + name(operation)] = use.library->name;
  }
  const auto plain = scenario.plain_by_default.find(carrier);
  if (plain != scenario.plain_by_default.end()) settings["collectives." + name(carrier)] = plain->second;
  if (spec.calibration) {
    const auto library = scenario.libraries.find(carrier);
    const LibraryUse use = library == scenario.libraries.end() ? LibraryUse{} : library->second;
    const std::string by = use.library != nullptr ? use.library->name : algorithm_of(scenario).name;
    settings["calibration"] = describe_use(
        *spec.calibration, spec.platform.transport,
        {carrier, by, use, spec.ranks, spec.placement.nodes_used, has_other_messages(use, spec.platform.mpi)});
  }
  if (const auto note = note_on_nics(scenario)) settings["note"] = *note;
}

}  // namespace

std::string setting_of_share(double share) {
  return fmt::format("{:.4g} %", share * 100);
}

std::optional<std::string> note_on_nics(const Scenario& scenario) {
  const PlatformSpec& spec = scenario.platform;
  const Operation carrier = carrier_of(scenario.strategy);
  if (scenario.strategy.servers) return std::nullopt;
  if (const auto library = scenario.libraries.find(carrier); library != scenario.libraries.end())
    return note_on_fabric(*library->second.library, spec.platform, spec.placement);
  if (scenario.strategy.replica() > 1 || scenario.strategy.expert_parallel > 1)
    return std::nullopt;  // it speaks of one group of all ranks
  if (spec.placement.nodes_used < 2 || spec.platform.node.nics.size() < 2) return std::nullopt;
  const Schedule schedule = schedule_of(scenario, carrier);
  const auto use = unused_nics(schedule, spec.platform, spec.placement);
  return use ? std::optional(describe(*use, schedule, spec.platform.transport)) : std::nullopt;
}

void add_condition(Settings& settings, const Condition& condition) {
  for (const auto& [pattern, rest] : condition.degraded)
    settings["platform.degraded." + pattern] = setting_of_share(rest);
  for (const auto& [pattern, rate] : condition.background) settings["platform.background." + pattern] = format(rate);
  for (const auto& [pattern, curve] : condition.congestion) {
    const auto& [flows, left] = curve->points().back();
    settings["platform.congestion." + pattern] = fmt::format("{} of {:g} flows", setting_of_share(left), flows);
  }
  if (!condition.failed.empty()) settings["platform.failed"] = fmt::format("{}", fmt::join(condition.failed, ", "));
}

void add_occupancy(Settings& settings, const Occupancy& occupancy) {
  if (occupancy.send > Seconds(0)) settings["transport.occupancy.send"] = format(occupancy.send);
  if (occupancy.receive > Seconds(0)) settings["transport.occupancy.receive"] = format(occupancy.receive);
}

void add_mpi(Settings& settings, const Transport& transport, const std::optional<Transport>& mpi) {
  if (!mpi) {
    if (transport.library.empty() || is_mpi(transport.library)) return;
    settings["transport.mpi.name"] = fmt::format("as {}, for nothing is known of MPI there", transport.name);
    return;
  }
  settings["transport.mpi.name"] = mpi->name;
  settings["transport.mpi.intra_node_latency"] = format(mpi->intra_node_latency);
  settings["transport.mpi.inter_node_latency"] = format(mpi->inter_node_latency);
  settings["transport.mpi.rendezvous.from"] = format(mpi->message.rendezvous_from);
  settings["transport.mpi.rendezvous.latency"] = format(mpi->message.rendezvous);
  settings["transport.mpi.occupancy.send"] = format(mpi->occupancy.send);
}

Settings effective_settings(const Scenario& scenario) {
  const StrategyChoice& strategy = scenario.strategy;
  const Transport& transport = scenario.platform.platform.transport;
  const auto& dispatch = scenario.workload.host_dispatch;
  Settings settings{
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
  if (transport.sharp) settings["transport.sharp"] = "true";
  add_occupancy(settings, transport.occupancy);
  for (const auto& [name, value] : strategy.settings) settings[strategy.kind + "." + name] = value;
  if (strategy.compression.kind != Compression::none) {
    settings["strategy.compression"] = describe(strategy.compression);
  }
  if (strategy.accumulation > 1) settings["strategy.accumulation"] = fmt::format("{}", strategy.accumulation);
  if (scenario.seeds > 1) settings["measure.seeds"] = fmt::format("{}", scenario.seeds);
  add_effects(settings, scenario.effects);
  const NetworkScale& scale = scenario.platform.scale;
  if (scale.rate != 1) settings["platform.scale.rate"] = fmt::format("{}", scale.rate);
  if (scale.latency != 1) settings["platform.scale.latency"] = fmt::format("{}", scale.latency);
  add_condition(settings, scenario.platform.condition);
  add_traffic(settings, scenario.traffic);
  add_collectives(settings, scenario);
  if (uses_mpi(scenario)) add_mpi(settings, transport, scenario.platform.platform.mpi);
  if (scenario.learning) {
    settings["learning.problem"] = scenario.learning->kind;
    settings["learning.learning_rate"] = fmt::format("{}", scenario.learning->learning_rate);
    settings["learning.epochs"] = fmt::format("{}", scenario.learning->epochs);
  }
  if (scenario.fidelity != Fidelity::analytic) {
    for (const auto& [name, value] : network_settings(scenario.network)) settings[name] = value;
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

}}  // namespace farandole::scenario
