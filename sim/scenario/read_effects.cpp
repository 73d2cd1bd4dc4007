#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/section.hpp"
#include "scenario/effective_settings.hpp"
#include "scenario/read_distribution.hpp"
#include "scenario/read_parts.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// One object, or a list of them.
template <class T>
std::vector<T> read_one_or_more(const std::optional<Value>& where, T (*read_one)(const Value&)) {
  if (!where) return {};
  return where->is_array() ? mapped(where->elements(), read_one) : std::vector<T>{read_one(*where)};
}

std::vector<int> read_indices(const std::optional<Value>& where) {
  std::vector<int> result;
  std::set<int> known;
  if (!where) return result;
  for (const Value& element : where->elements()) {
    result.push_back(read_at_least(element, 0));
    if (!known.insert(result.back()).second) element.fail("a number that the list does not have yet");
  }
  return result;
}

Straggler read_straggler(const Value& where) {
  Section section(where);
  Straggler straggler;
  straggler.ranks = read_indices(section.child("ranks"));
  straggler.slowdown = read_share(section.child("slowdown"), 100);
  section.finish();
  return straggler;
}

/// A rank may be named by several.
void check_stragglers(const std::optional<Value>& where, const std::vector<Straggler>& stragglers) {
  constexpr double most = 1e6;
  std::map<int, double> times;
  for (const Straggler& straggler : stragglers) {
    for (const int rank : straggler.ranks) {
      double& all = times.try_emplace(rank, 1).first->second;
      all *= 1 + straggler.slowdown;
      if (all > most)
        where->fail(fmt::format("ranks at most {:.0f} times slower in all", most),
                    fmt::format("rank {}, {:.3g} times", rank, all));
    }
  }
}

double read_speed(const Value& where) {
  const double speed = read_share(where, 100);
  if (speed == 0) where.fail("a percentage above 0 %");
  return speed;
}

OtherDevice read_other_device(const Value& where, const WorkloadSpec& workload, const Catalogue& catalogue) {
  Section section(where);
  OtherDevice other;
  other.ranks = read_indices(section.maybe("ranks"));
  other.nodes = read_indices(section.maybe("nodes"));
  const auto speed = section.maybe("speed");
  const auto device = section.maybe("device");
  if (speed.has_value() == device.has_value()) where.fail("either a \"speed\" or a \"device\"");
  if (speed) other.speed = read_speed(*speed);
  if (device) {
    other.device = catalogue.device(read<std::string>(*device), *device);
    if (!has_rate(*other.device, workload))
      device->fail(fmt::format("a device with a rate for {}", name(workload.precision)));
  }
  section.finish();
  if (other.ranks.empty() && other.nodes.empty()) where.fail("the \"ranks\" or the \"nodes\" that have it");
  return other;
}

SlowLink read_slow_link(const Value& where) {
  Section section(where);
  SlowLink slow;
  slow.nodes = read_indices(section.maybe("nodes"));
  slow.links = section.optional<Text>("links", {}).value;
  if (const auto rate = section.maybe("rate")) slow.rate = read_speed(*rate);
  slow.added_latency = section.optional("added_latency", 0_s);
  section.finish();
  if (slow.nodes.empty() == slow.links.empty()) where.fail("either \"nodes\" or \"links\"");
  return slow;
}

void check_links(const Value& where, const SlowLink& slow, const Platform& platform) {
  if (slow.links.empty()) return;
  const auto known = std::ranges::any_of(platform.links, [&](const Link& l) { return l.name.starts_with(slow.links); });
  if (known) return;
  const std::string example = platform.links.empty() ? "" : platform.links.front().name;
  where.fail(fmt::format("the beginning of a link's name, such as {}", quoted(example)), quoted(slow.links));
}

OsNoise read_os_noise(const Value& where) {
  Section section(where);
  OsNoise noise;
  noise.period = section.above_zero<Seconds>("period");
  const TimeDistribution length = read_time_distribution(section.child("duration"));
  noise.length = length.mean;
  noise.spread = length.spread;
  section.finish();
  return noise;
}

/// true: what the device's file says; or the slowdown itself.
double read_shared_board(const Value& where, const Device& device) {
  if (device.board.devices < 2) {
    where.fail(fmt::format("a device with a board that several share; {} says nothing of one", quoted(device.name)));
  }
  if (where.is_string()) return read_share(where, 100);
  if (!read<bool>(where)) return 0;
  if (!device.board.slowdown) {
    where.fail(fmt::format("a percentage, because the file of {} gives none", quoted(device.name)));
  }
  return *device.board.slowdown;
}

/// At least one of the three rates bounds what is written.
void read_checkpoint_rates(const Value& where, Section& section, Checkpoint& checkpoint) {
  const auto rate = section.maybe("rate");
  const auto of_node = section.maybe("node_bandwidth");
  const auto of_storage = section.maybe("storage_bandwidth");
  if (!rate && !of_node && !of_storage) {
    where.fail("a \"rate\" of each writer, a \"node_bandwidth\" or a \"storage_bandwidth\"");
  }
  if (rate) checkpoint.rate = read_above_zero<BytesPerSecond>(*rate);
  if (of_node) checkpoint.node_bandwidth = read_above_zero<BytesPerSecond>(*of_node);
  if (of_storage) checkpoint.storage_bandwidth = read_above_zero<BytesPerSecond>(*of_storage);
}

Checkpoint read_checkpoint(const Value& where) {
  Section section(where);
  Checkpoint checkpoint;
  if (const auto steps = section.maybe("every_steps")) checkpoint.every_steps = read_at_least(*steps, 1);
  if (const auto every = section.maybe("every")) {
    // "best": the interval that failures make the best (scenario/read_scenario.cpp).
    checkpoint.every_best = every->is_string() && read<std::string>(*every) == "best";
    checkpoint.every = checkpoint.every_best ? 0_s : read<Seconds>(*every);
    if (!checkpoint.every_best && *checkpoint.every == 0_s) every->fail("a time above 0, or \"best\"");
  }
  if (checkpoint.every.has_value() == checkpoint.every_steps.has_value()) {
    where.fail("either \"every\" (a time) or \"every_steps\"");
  }
  checkpoint.size = section.optional("size", 0_B);
  read_checkpoint_rates(where, section, checkpoint);
  checkpoint.sharded = section.optional("sharded", false);
  checkpoint.asynchronous = section.optional("asynchronous", false);
  const auto snapshot = section.maybe("snapshot_rate");
  if (snapshot.has_value() != checkpoint.asynchronous) {
    where.fail(
        "a \"snapshot_rate\", at which a rank copies its part to its host, with \"asynchronous\" and only there");
  }
  if (snapshot) checkpoint.snapshot_rate = read_above_zero<BytesPerSecond>(*snapshot);
  if (const auto over = section.maybe("over_network")) {
    checkpoint.over_network = read<bool>(*over);
    if (checkpoint.over_network && !checkpoint.asynchronous) {
      over->fail("an \"asynchronous\" checkpoint, beside which training communicates");
    }
  }
  checkpoint.latency = section.optional("latency", 0_s);
  section.finish();
  return checkpoint;
}

}  // namespace

EffectsSpec read_effects(const std::optional<Value>& where, const Scenario& scenario, double compute_share,
                         const Catalogue& catalogue) {
  const Platform& platform = scenario.platform.platform;
  EffectsSpec effects;
  effects.communication_compute_share = compute_share;
  effects.device_spread = platform.device_spread;
  effects.step_jitter = {"normal", platform.step_jitter};
  if (!where) return effects;
  Section section(*where);
  if (const auto spread = section.maybe("device_spread")) effects.device_spread = read_share(*spread, 0.2);
  if (const auto jitter = section.maybe("step_jitter")) effects.step_jitter = read_jitter(*jitter);
  const auto stragglers = section.maybe("straggler");
  effects.stragglers = read_one_or_more(stragglers, read_straggler);
  check_stragglers(stragglers, effects.stragglers);
  if (const auto others = section.maybe("other_devices")) {
    for (const Value& other : others->elements())
      effects.other_devices.push_back(read_other_device(other, scenario.workload, catalogue));
  }
  const auto links = section.maybe("slow_links");
  effects.slow_links = read_one_or_more(links, read_slow_link);
  for (const SlowLink& slow : effects.slow_links) check_links(*links, slow, platform);
  if (const auto noise = section.maybe("os_noise")) effects.os_noise = read_os_noise(*noise);
  if (const auto share = section.maybe("communication_compute_share")) {
    effects.communication_compute_share = read<Fraction>(*share).value;
    if (effects.communication_compute_share >= 1) share->fail("a percentage below 100 %");
  }
  if (const auto board = section.maybe("shared_board"))
    effects.board_slowdown = read_shared_board(*board, scenario.platform.device);
  if (const auto input = section.maybe("input")) effects.input = read_input(*input);
  if (const auto checkpoint = section.maybe("checkpoint")) effects.checkpoint = read_checkpoint(*checkpoint);
  section.finish();
  return effects;
}

namespace {

std::string describe(const Distribution& spread) {
  return spread.kind == "normal" ? setting_of_share(spread.deviation)
                                 : spread.kind + " " + setting_of_share(spread.deviation);
}

std::string describe(const Straggler& straggler) {
  return fmt::format("ranks {} {} slower", fmt::join(straggler.ranks, " "), setting_of_share(straggler.slowdown));
}

std::string describe(const OtherDevice& other) {
  const std::string what = other.device ? other.device->name : "speed " + setting_of_share(other.speed);
  const bool by_rank = !other.ranks.empty();
  std::string where = by_rank ? fmt::format("ranks {}", fmt::join(other.ranks, " ")) : "";
  if (!other.nodes.empty()) where += fmt::format("{}nodes {}", by_rank ? " " : "", fmt::join(other.nodes, " "));
  return where + " " + what;
}

std::string describe(const SlowLink& slow) {
  const std::string where = slow.links.empty() ? fmt::format("nodes {}", fmt::join(slow.nodes, " ")) : slow.links;
  return fmt::format("{} at {}, {} more latency", where, setting_of_share(slow.rate), format(slow.added_latency));
}

std::string describe(const OsNoise& noise) {
  const std::string spread = noise.spread.varies() ? " (" + describe(noise.spread) + ")" : "";
  return fmt::format("{}{} every {}", format(noise.length), spread, format(noise.period));
}

std::string describe(const InputSupply& input) {
  std::string storage;
  if (input.storage_bandwidth < BytesPerSecond::infinity())
    storage = format(input.storage_bandwidth) + " from storage, ";
  if (input.storage_samples_per_second > 0)
    storage += fmt::format("{} samples/s from storage, ", input.storage_samples_per_second);
  return fmt::format("{}, {} per sample, {}{} decode workers, {} batches ahead",
                     input.access == Access::random ? "random" : "partition", format(input.sample_size), storage,
                     input.decode_workers, input.prefetch);
}

std::string describe(const Checkpoint& checkpoint) {
  const std::string behind =
      checkpoint.asynchronous ? fmt::format(", then {} in the background,", format(checkpoint.writing())) : "";
  return fmt::format("{}{} every {}", format(checkpoint.pause()), behind,
                     checkpoint.every ? format(*checkpoint.every) : fmt::format("{} steps", *checkpoint.every_steps));
}

template <class Effect>
void add_all(Settings& settings, const std::string& name, const std::vector<Effect>& effects) {
  const auto texts = mapped(effects, [](const Effect& effect) { return describe(effect); });
  if (!texts.empty()) settings[name] = fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

void add_effects(Settings& settings, const EffectsSpec& effects) {
  settings["effects.device_spread"] = setting_of_share(effects.device_spread);
  settings["effects.step_jitter"] = describe(effects.step_jitter);
  add_all(settings, "effects.straggler", effects.stragglers);
  add_all(settings, "effects.other_devices", effects.other_devices);
  add_all(settings, "effects.slow_links", effects.slow_links);
  if (effects.os_noise) settings["effects.os_noise"] = describe(*effects.os_noise);
  if (effects.communication_compute_share > 0) {
    settings["effects.communication_compute_share"] = setting_of_share(effects.communication_compute_share);
  }
  if (effects.board_slowdown > 0) settings["effects.shared_board"] = setting_of_share(effects.board_slowdown);
  if (effects.input) settings["effects.input"] = describe(*effects.input);
  if (effects.checkpoint) settings["effects.checkpoint"] = describe(*effects.checkpoint);
}

std::vector<std::string> left_out_of_replay(const EffectsSpec& effects) {
  std::vector<std::string> left_out;
  if (!effects.slow_links.empty()) left_out.emplace_back("effects.slow_links");
  if (effects.communication_compute_share > 0) left_out.emplace_back("effects.communication_compute_share");
  if (effects.checkpoint) left_out.emplace_back("effects.checkpoint");
  return left_out;
}

}}  // namespace farandole::scenario
