#include "scenario/effective_settings.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platform/mpi_transport.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/train.hpp"
#include "scenario/unused_nics.hpp"
#include "simulate/fluid_network.hpp"
#include "simulate/library/nccl_measured.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"

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

void add_transport(Settings& settings, const Transport& transport) {
  settings["transport.name"] = transport.name;
  settings["transport.intra_node_latency"] = format(transport.intra_node_latency);
  settings["transport.inter_node_latency"] = format(transport.inter_node_latency);
  settings["transport.launch"] = format(transport.launch);
  if (transport.reduce_rate < BytesPerSecond::infinity()) {
    settings["transport.reduce_rate"] = format(transport.reduce_rate);
  }
  if (transport.sharp) settings["transport.sharp"] = "true";
  if (const MessageCost& nic = transport.nic; nic.rendezvous_from < Bytes::infinity())
    settings["transport.nic_rendezvous"] =
        fmt::format("{} from {}", format(nic.rendezvous), format(nic.rendezvous_from));
  const auto& [send, receive] = transport.occupancy;
  if (send > Seconds(0)) settings["transport.occupancy.send"] = format(send);
  if (receive > Seconds(0)) settings["transport.occupancy.receive"] = format(receive);
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
      {"transport.control_latency", format(transport.control_latency)},
      {"measure.iterations", fmt::format("{}", scenario.measure.iterations)},
      {"measure.warmup", fmt::format("{}", scenario.measure.warmup)},
      {"measure.seed", fmt::format("{}", scenario.seed)},
  };
  add_transport(settings, transport);
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

namespace {

constexpr std::string_view of_libraries = "/transport/library_times/";
constexpr std::string_view of_messages = "/transport/";
constexpr std::string_view of_mpi = "/transport/mpi/";

enum class Use { full, followed, none };

/// What was fitted, in one word, and whether it was made use of.
struct Part {
  std::string what;
  Use use = Use::none;
};

/// What was measured of the operation itself counts; of another one only where both go the same way.
Use use_of(const LibraryTimes& times, const CarriedOut& what, const std::vector<const LibraryTimes*>& taken) {
  if (std::ranges::find(taken, &times) == taken.end()) return Use::none;
  return times.operation == what.operation ? Use::full : Use::followed;
}

/// Of nccl-tests.
std::string program_that_measures(Operation operation) {
  std::string name = farandole::name(operation);
  if (name.starts_with("all")) name.insert(3, "_");
  return name + "_perf -b 8 -e 4G -f 2";
}

/// Times of its own in place of links and messages: NCCL from 2.5 on.
bool has_own_times(const CarriedOut& what) {
  return what.library.library != nullptr && what.library.library->ways;
}

std::vector<const LibraryTimes*> taken_by(const CarriedOut& what, const Transport& transport) {
  // What pairs send one another in an alltoall is timed as messages (simulate/library/nccl_route.hpp).
  if (!has_own_times(what) || what.operation == Operation::alltoall) return {};
  return times_for(transport.library_times, {what.library.library->name, what.operation, what.ranks, what.nodes});
}

std::string name_of(const LibraryTimes& times) {
  const int driven = times.devices_per_process;
  return fmt::format("{} of {}, {} ranks on {} node{}{}", name(times.operation), times.library, times.ranks,
                     times.nodes, times.nodes == 1 ? "" : "s",
                     driven > 1 ? fmt::format(", {} of a process", driven) : "");
}

/// The entry of library_times that a pointer goes into.
std::size_t entry_of(const std::string& pointer) {
  return static_cast<std::size_t>(std::strtoul(pointer.c_str() + of_libraries.size(), nullptr, 10));
}

std::vector<Part> parts_of(const CalibrationRecord& record, const Transport& transport, const CarriedOut& what) {
  std::vector<Part> parts;
  const auto taken = taken_by(what, transport);
  const auto add = [&parts](Part part) {
    const auto same = [&](const Part& other) { return other.what == part.what; };
    if (std::ranges::none_of(parts, same)) parts.push_back(std::move(part));
  };
  for (const std::string& pointer : record.fitted) {
    if (pointer.starts_with(of_libraries)) {
      if (entry_of(pointer) >= transport.library_times.size()) continue;
      const LibraryTimes& times = transport.library_times[entry_of(pointer)];
      add({name_of(times), use_of(times, what, taken)});
    } else if (pointer.starts_with(of_mpi)) {
      add({"latencies of MPI's messages", what.by_mpi ? Use::full : Use::none});
    } else if (pointer.starts_with(of_messages)) {
      add({"latencies of messages", !has_own_times(what) && !what.by_mpi ? Use::full : Use::none});
    } else {
      add({"links", Use::full});
    }
  }
  return parts;
}

std::string list(const std::vector<Part>& parts, Use use) {
  const auto listed = those_of(parts, [&](const Part& part) { return part.use == use; });
  return fmt::format("{}", fmt::join(mapped(listed, &Part::what), "; "));
}

std::string origin(const CalibrationRecord& record) {
  std::string text = fmt::format("{}", fmt::join(record.sources, ", "));
  if (!record.date.empty() && record.date != "not given") text += " of " + record.date;
  if (!record.median.empty()) text += ", median error left " + record.median;
  return text + (record.forced ? ", written by --force in spite of it" : "");
}

}  // namespace

bool has_other_messages(const LibraryUse& use, const std::optional<Transport>& mpi) {
  return mpi && use.library != nullptr && use.library->mpi != nullptr;
}

std::string describe_use(const CalibrationRecord& record, const Transport& transport, const CarriedOut& what) {
  if (what.ranks == 1) return origin(record) + "; not used by one rank, which sends nothing";
  const auto parts = parts_of(record, transport, what);
  std::string text = origin(record);
  if (const std::string used = list(parts, Use::full); !used.empty())
    text += fmt::format("; used by {}: {}", what.by, used);
  if (const std::string followed = list(parts, Use::followed); !followed.empty()) {
    text += fmt::format(
        "; nothing measured of {}, which follows what was measured only where it goes the same way: {}; {} measures it",
        name(what.operation), followed, program_that_measures(what.operation));
  }
  if (const std::string unused = list(parts, Use::none); !unused.empty())
    text += fmt::format("; not used by {}: {}", what.by, unused);
  return text;
}

}}  // namespace farandole::scenario
