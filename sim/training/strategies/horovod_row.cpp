// What a scenario says about Horovod: its release, pasted HOROVOD_* variables, and settings of the same meaning.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "training/strategies/horovod.hpp"
#include "training/strategies/rows.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

// The newest version whose defaults we know.
constexpr const char* default_version = "0.21.0";

using Environment = std::map<std::string, std::string>;

Environment pasted(const Value& where) {
  Environment environment;
  for (const auto& [key, value] : where.members()) {
    if (key != "comment") environment[key] = read<std::string>(value);
  }
  return environment;
}

void paste(const Environment& variables, const Value& where, HorovodProfile& profile, StrategyChoice& choice) {
  auto applied = apply_environment(profile, variables, where);
  if (applied.timeline_file) choice.timeline_file = applied.timeline_file;
  std::ranges::move(applied.ignored, std::back_inserter(choice.ignored));
}

HorovodProfile read_profile(const StrategyInput& input, StrategyChoice& choice) {
  Section& section = input.section;
  const auto version = section.maybe("version");
  HorovodProfile profile =
      horovod_profile(version ? read<std::string>(*version) : default_version, version.value_or(section.value()));
  if (const auto settings = section.maybe("settings")) paste(pasted(*settings), *settings, profile, choice);
  paste(input.environment, section.value(), profile, choice);
  profile.fusion_threshold = section.optional("fusion_threshold", profile.fusion_threshold);
  profile.cycle = section.optional("cycle_time", profile.cycle);
  return profile;
}

Settings effective(const HorovodProfile& profile, Seconds coordinator_per_message) {
  Settings settings{{"version", profile.version},
                    {"fusion_threshold", format(profile.fusion_threshold)},
                    {"cycle_time", format(profile.cycle)},
                    {"cache_capacity", fmt::format("{}", profile.cache_capacity)},
                    {"coordinator_per_message", format(coordinator_per_message)}};
  if (profile.hierarchical_allreduce) settings["hierarchical_allreduce"] = "true";
  return settings;
}

StrategyChoice read(const StrategyInput& input) {
  StrategyChoice choice;
  const HorovodProfile profile = read_profile(input, choice);
  // Deserialising a request and counting it in a hash map: of the order of a microsecond on a server core.
  const Seconds per_message = input.section.optional("coordinator_per_message", 1_us);
  choice.compression = read_compression(input.section);
  choice.accumulation = read_accumulation(input.section);
  choice.settings = effective(profile, per_message);
  choice.buffers = profile.fusion_threshold;
  if (profile.hierarchical_allreduce) choice.algorithms[Operation::allreduce] = "hierarchical";
  choice.make = [profile, per_message, compression = choice.compression](const StrategySite& site) {
    HorovodSettings settings{
        profile, {site.control_latency, per_message}, site.memory_bandwidth, site.seed, site.library, compression};
    settings.profile.fusion_threshold = fusion_buffer(profile, site.ranks_per_node);
    return std::make_unique<Horovod>(site.job, site.ranks, std::move(settings), site.timeline);
  };
  return choice;
}

}  // namespace

StrategyRow horovod_strategy() {
  return {
      "horovod", "background cycle: negotiate announced tensors, fuse them, allreduce one fused buffer after another",
      "Settings of \"strategy\" in a scenario:\n"
      "  version            Horovod release whose defaults apply (default 0.21.0)\n"
      "  settings           pasted HOROVOD_* variables, as Horovod writes them\n"
      "  fusion_threshold   largest fused buffer, such as \"64 MiB\"; \"0 B\" switches fusion off\n"
      "  cycle_time         time between passes of the background thread, such as \"5 ms\"\n"
      "  coordinator_per_message  rank 0's work per tensor and rank while negotiating (default \"1 us\")\n"
      "  accumulation       backward_passes_per_step: passes whose gradients add up before they travel (default 1)\n"
      "  compression        none, fp16, bf16, int8, top_k, one_bit, power_sgd\n"
      "Defaults by version:\n"
      "  0.9.0   no fusion,  5 ms after each pass\n"
      "  0.9.3   64 MiB,     5 ms after each pass\n"
      "  0.13.8  64 MiB,     a pass every 5 ms, HOROVOD_CYCLE_TIME\n"
      "  0.16.0  the same, and fusion passes over tensors that do not fit\n"
      "  0.16.2  the same, and a response cache of 1024\n"
      "  0.21.0  128 MiB,    a pass every 1 ms\n",
      read};
}

}  // namespace farandole
