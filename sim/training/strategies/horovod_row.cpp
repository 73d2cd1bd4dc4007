// What a scenario says about Horovod: its release, pasted HOROVOD_* variables, and settings of the same meaning.
#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "training/strategies/horovod.hpp"
#include "training/strategies/negotiation.hpp"
#include "training/strategies/rows.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

// The newest there is: what somebody has who does not say.
constexpr const char* default_version = "0.28.1";

using Environment = std::map<std::string, std::string>;

Environment pasted(const Value& where) {
  Environment environment;
  for (const auto& [key, value] : listed_members(where)) environment[key] = read<std::string>(value);
  return environment;
}

void paste(const Environment& variables, const Value& where, HorovodProfile& profile, StrategyChoice& choice) {
  auto applied = apply_environment(profile, variables, where);
  std::ranges::move(applied, std::back_inserter(choice.ignored));
}

HorovodProfile read_profile(const StrategyInput& input, StrategyChoice& choice) {
  Section& section = input.section;
  const auto version = section.maybe("version");
  HorovodProfile profile =
      horovod_profile(version ? read<std::string>(*version) : default_version, version.value_or(section.value()));
  if (const auto settings = section.maybe("settings")) paste(pasted(*settings), *settings, profile, choice);
  paste(input.environment, section.value(), profile, choice);
  if (const auto threshold = section.maybe_read<Bytes>("fusion_threshold")) {
    profile.fusion_threshold = *threshold;
    profile.tunable.fusion_threshold = false;
  }
  if (const auto cycle = section.maybe_read<Seconds>("cycle_time")) {
    profile.cycle = *cycle;
    profile.tunable.cycle_time = false;
  }
  return profile;
}

/// What the autotuner can change to any effect.
Tunable tunable_of(const HorovodProfile& profile, const StrategySite& site, const CompressionSettings& compression) {
  Tunable tunable = profile.tunable;
  const bool has_levels = site.ranks_per_node > 1 && site.ranks > site.ranks_per_node;
  const bool gathers = uses_allgather(compression.kind);
  // Horovod has no hierarchical allreduce without NCCL.
  tunable.hierarchical_allreduce = tunable.hierarchical_allreduce && has_levels && site.library == "NCCL" && !gathers;
  tunable.hierarchical_allgather = tunable.hierarchical_allgather && has_levels && gathers;
  tunable.cache_enabled = tunable.cache_enabled && profile.cache_capacity > 0;
  return tunable;
}

/// Gradients combined by Adasum instead of averaged.
bool read_adasum(Section& section, const HorovodProfile& profile, CompressionSettings compression) {
  const auto op = section.maybe("op");
  if (!op) return false;
  if (read_place(*op, "what is made of gradients", std::array{"average", "adasum"}) == 0) return false;
  if (!is_at_least(profile.version, "0.19.0")) op->fail("Horovod 0.19.0 or later for Adasum", profile.version);
  if (profile.hierarchical_allreduce) op->fail("Adasum, or HOROVOD_HIERARCHICAL_ALLREDUCE; it has levels of its own");
  if (compression.kind != Compression::none && compression.kind != Compression::fp16) {
    op->fail("Adasum of whole or of fp16 gradients", describe(compression));
  }
  return true;
}

/// On GPUs gradients are summed up within a node first; ranks_per_node is as it should be there.
std::optional<AdasumSite> adasum_site(bool adasum, const StrategySite& site) {
  if (!adasum) return std::nullopt;
  const bool sums_first = site.library == "NCCL" && site.ranks % site.ranks_per_node == 0;
  return AdasumSite{site.ranks, sums_first ? site.ranks_per_node : 1, site.control_latency, site.memory_bandwidth};
}

Settings effective(const HorovodProfile& profile, Seconds coordinator_per_message) {
  Settings settings{{"version", profile.version},
                    {"fusion_threshold", format(profile.fusion_threshold)},
                    {"cycle_time", format(profile.cycle)},
                    {"cache_capacity", fmt::format("{}", profile.cache_capacity)},
                    {"coordinator_per_message", format(coordinator_per_message)}};
  if (profile.hierarchical_allreduce) settings["hierarchical_allreduce"] = "true";
  if (profile.torus_allreduce) settings["torus_allreduce"] = "true";
  if (profile.streams > 1) settings["nccl_streams"] = fmt::format("{}", profile.streams);
  if (is_by_gloo(profile.negotiation)) settings["controller"] = "gloo";
  if (profile.hierarchical_allgather) settings["hierarchical_allgather"] = "true";
  if (const auto& tuner = profile.autotune) {
    settings["autotune"] = fmt::format("{} samples of {} steps, {} to warm up, noise {}", tuner->max_samples,
                                       tuner->steps_per_sample, tuner->warmup_samples, tuner->noise);
  }
  return settings;
}

/// What rank 0 spends, where somebody has set it.
struct CoordinatorSettings {
  std::optional<Seconds> request;
  std::optional<Seconds> received;
  std::optional<Seconds> sent;

  /// The software's cost of a message is the network's: through the kernel, as over TCP, or past it.
  [[nodiscard]] ControlPlane on(Seconds latency) const {
    const bool is_past_the_kernel = latency < 10_us;
    const CoordinatorCosts& costs = is_past_the_kernel ? coordinator_past_the_kernel() : coordinator_over_tcp();
    return {latency, request.value_or(coordinator_request().used), received.value_or(costs.received.used),
            sent.value_or(costs.sent.used)};
  }
};

CoordinatorSettings read_coordinator(Section& section, StrategyChoice& choice) {
  CoordinatorSettings settings{section.maybe_read<Seconds>("coordinator_per_message"),
                               section.maybe_read<Seconds>("coordinator_receives"),
                               section.maybe_read<Seconds>("coordinator_sends")};
  if (!settings.request) choice.uncertain.push_back(coordinator_request().as_setting());
  return settings;
}

struct Asked {
  HorovodProfile profile;
  CoordinatorSettings coordinator;
  CompressionSettings compression;
  int groups = 0;
  bool adasum = false;
};

void choose_algorithms(const Asked& asked, StrategyChoice& choice) {
  const HorovodProfile& profile = asked.profile;
  const bool may_reduce_by_levels = profile.autotune && profile.tunable.hierarchical_allreduce;
  choice.reduces_through_hosts = !asked.adasum && (profile.hierarchical_allreduce || may_reduce_by_levels);
  if (profile.hierarchical_allreduce || profile.torus_allreduce) {
    choice.algorithms[Operation::allreduce] = "hierarchical";
  }
  if (profile.hierarchical_allgather) choice.algorithms[Operation::allgather] = "hierarchical";
  if (asked.adasum) choice.algorithms[Operation::allreduce] = "adasum";
}

std::unique_ptr<Strategy> make_horovod(const Asked& asked, const StrategySite& site) {
  HorovodSettings settings{asked.profile,
                           asked.coordinator.on(site.control_latency),
                           site.memory_bandwidth,
                           site.coder,
                           site.seed,
                           site.library,
                           asked.compression};
  settings.groups = std::min(asked.groups, static_cast<int>(std::ssize(site.job.gradients)));
  settings.ranks_per_node = site.ranks_per_node;
  settings.hierarchy = {site.ranks % site.ranks_per_node == 0, site.to_host};
  const bool has_levels = site.library == "NCCL" && site.ranks > site.ranks_per_node;
  settings.profile.hierarchical_allreduce = asked.profile.hierarchical_allreduce && has_levels;
  if (site.library != "NCCL") settings.profile.streams = 1;
  settings.adasum = adasum_site(asked.adasum, site);
  if (asked.profile.autotune) settings.tunable = tunable_of(asked.profile, site, asked.compression);
  return std::make_unique<Horovod>(site.job, site.ranks, std::move(settings), site.timeline);
}

StrategyChoice read_horovod(const StrategyInput& input) {
  StrategyChoice choice;
  choice.negotiates = true;
  Asked asked{read_profile(input, choice), read_coordinator(input.section, choice), read_compression(input.section)};
  const HorovodProfile& profile = asked.profile;
  choice.compression = asked.compression;
  choice.accumulation = read_accumulation(input.section);
  choice.settings = effective(profile, asked.coordinator.on(Seconds(0)).request);
  read_overlap(input.section, choice);
  const auto groups = input.section.maybe("groups");
  asked.groups = groups ? read_at_least(*groups, 1) : 0;
  if (groups) choice.settings["groups"] = fmt::format("{}", asked.groups);
  asked.adasum = read_adasum(input.section, profile, choice.compression);
  if (asked.adasum) choice.settings["op"] = "adasum";
  choice.streams = profile.streams;
  // A buffer for each stream, the largest that the autotuner tries.
  const Bytes buffer = profile.autotune ? std::max(profile.fusion_threshold, 64_MiB) : profile.fusion_threshold;
  choice.buffers = profile.streams * buffer;
  choose_algorithms(asked, choice);
  choice.make = [asked](const StrategySite& site) { return make_horovod(asked, site); };
  return choice;
}

}  // namespace

StrategyRow horovod_strategy() {
  return {
      "horovod", "background cycle: negotiate announced tensors, fuse them, allreduce one fused buffer after another",
      "Settings of \"strategy\" in a scenario:\n"
      "  version            Horovod release whose defaults apply (default 0.28.1, the newest)\n"
      "  settings           pasted HOROVOD_* variables, as Horovod writes them\n"
      "  fusion_threshold   largest fused buffer, such as \"64 MiB\"; \"0 B\" switches fusion off\n"
      "  cycle_time         time between passes of the background thread, such as \"5 ms\"\n"
      "  coordinator_per_message  rank 0's work per tensor and rank while negotiating (default \"0.38 us\")\n"
      "  coordinator_receives     what a message takes rank 0 to receive (default \"0.53 us\", over TCP \"6.1 us\")\n"
      "  coordinator_sends        and to send (default \"0.98 us\", over TCP \"6.8 us\")\n"
      "  overlap            false: gradients wait for the end of the backward pass (default true)\n"
      "  groups             num_groups of DistributedOptimizer: gradients of a group travel together (default: none)\n"
      "  op                 average (default) or adasum, with its own allreduce\n"
      "  accumulation       backward_passes_per_step: passes whose gradients add up before they travel (default 1)\n"
      "  compression        none, fp16, bf16, int8, top_k, one_bit, power_sgd\n"
      "HOROVOD_AUTOTUNE=1 among the settings tunes threshold, cycle and switches before anything is measured.\n"
      "Defaults by version:\n"
      "  0.9.0   no fusion,  5 ms after each pass\n"
      "  0.9.3   64 MiB,     5 ms after each pass\n"
      "  0.13.3  the same, HOROVOD_CYCLE_TIME; negotiation by collectives, no longer message by message\n"
      "  0.13.8  64 MiB,     a pass every 5 ms\n"
      "  0.16.0  the same, and HOROVOD_AUTOTUNE\n"
      "  0.16.2  the same, and a response cache of 1024\n"
      "  0.21.0  128 MiB,    a pass every 1 ms; one kernel copies many tensors\n"
      "  0.23.0  the same; the thread does not wait for data\n",
      read_horovod};
}

}}  // namespace farandole::training
