#include "scenario/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "config/error.hpp"
#include "report/answer.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/run.hpp"
#include "scenario/train.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

void without_stragglers(Scenario& scenario) {
  EffectsSpec& effects = scenario.effects;
  effects.device_spread = 0;
  effects.step_jitter = {};
  effects.stragglers.clear();
  effects.other_devices.clear();
  effects.os_noise.reset();
  effects.board_slowdown = 0;
}

constexpr double without_bandwidth = 1e6;  // what took a second takes a microsecond
constexpr double without_work = 1e9;

bool has_servers(const Scenario& scenario) {
  return scenario.strategy.servers.has_value();
}

bool has_collectives(const Scenario& scenario) {
  return !has_servers(scenario);
}

bool codes(const Scenario& scenario) {
  return has_collectives(scenario) || scenario.strategy.compression.kind != Compression::none;
}

bool always(const Scenario& /*scenario*/) {
  return true;
}

struct Mechanism {
  const char* name;
  void (*switch_off)(Scenario&);
  bool (*is_there)(const Scenario&);
};

constexpr std::array mechanism_rows{
    Mechanism{"checkpoint", [](Scenario& s) { s.effects.checkpoint.reset(); }, always},
    Mechanism{"stragglers", without_stragglers, always},
    Mechanism{"collective_kernels", [](Scenario& s) { s.effects.communication_compute_share = 0; }, has_collectives},
    Mechanism{"contention", [](Scenario& s) { s.mechanisms.contention = false; }, has_collectives},
    Mechanism{"exposed_bandwidth", [](Scenario& s) { s.mechanisms.network_rate = without_bandwidth; }, always},
    Mechanism{"exposed_latency", [](Scenario& s) { s.mechanisms.latency = 0; }, always},
    Mechanism{"fusion_copies", [](Scenario& s) { s.mechanisms.copy_rate = without_work; }, codes},
    Mechanism{"server_update", [](Scenario& s) { s.mechanisms.server_rate = without_work; }, has_servers},
};

/// Parts from the actual iteration down to the device's.
class Waterfall {
 public:
  explicit Waterfall(Seconds actual) : actual_(actual), before_(actual) {}

  void add(const char* name, Seconds without) {
    parts_.push_back({name, before_ - without});
    before_ = without;
  }

  /// Down to what must be left now. The rates above are large, not infinite: what they leave is part of the last.
  void close_at(Seconds expected) {
    constexpr double rounding = 2e-6;
    if (std::abs((before_ - expected) / actual_) > rounding) return add("other", expected);
    parts_.back().time += before_ - expected;
    before_ = expected;
  }

  std::vector<WaterfallPart> finish() {
    parts_.push_back({"device", before_});
    std::ranges::reverse(parts_);
    return std::move(parts_);
  }

 private:
  Seconds actual_;
  Seconds before_;
  std::vector<WaterfallPart> parts_;
};

}  // namespace

std::vector<WaterfallPart> waterfall_of(const Scenario& scenario, Seconds actual) {
  Scenario ideal = scenario;
  Waterfall waterfall(actual);
  for (const Mechanism& mechanism : mechanism_rows) {
    if (!mechanism.is_there(scenario)) continue;
    mechanism.switch_off(ideal);
    waterfall.add(mechanism.name, train(ideal, nullptr).iteration);
  }
  if (!has_collectives(scenario)) {
    waterfall.close_at(job_of(ideal, times_of(ideal)).backward_end);
    return waterfall.finish();
  }
  const Seconds fed = train_alone(ideal, Alone::fed_as_in_the_job).iteration;
  scenario.strategy.negotiates ? waterfall.add("negotiation", fed) : waterfall.close_at(fed);
  waterfall.add("input", train_alone(ideal, Alone::fed_for_nothing).iteration);
  return waterfall.finish();
}

Explanation explain(const WhatIfBase& base) {
  return {waterfall_of(base.scenario, base.point.iteration), {}, what_ifs(base)};
}

namespace {

constexpr double worth_a_note = 0.0005;  // tables show tenths of a percent

struct Gain {
  Seconds time;  // less, of a step
  std::string reason;
};

std::string reason_of(const std::string& part, Seconds less) {
  if (part == "compute") return fmt::format("a rank computes its part of a step in {} less than one", decimal(less));
  if (part == "input") return fmt::format("a rank waits {} less for its input than one", decimal(less));
  std::string words = part;
  std::ranges::replace(words, '_', ' ');
  return fmt::format("{} takes a rank {} less than one", words, decimal(less));
}

/// The longest first.
std::vector<Gain> gains_over_one(const Scenario& scenario, const TrainingPoint& point) {
  std::vector<Gain> gains;
  const std::vector<WaterfallPart> one = single_rank_parts(scenario).parts();
  const std::vector<WaterfallPart> of_the_job = point.breakdown.parts();
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Seconds less = one[i].time - of_the_job[i].time;
    if (less > Seconds(0)) gains.push_back({less, reason_of(one[i].name, less) + " by itself"});
  }
  std::ranges::stable_sort(gains, std::ranges::greater(), &Gain::time);
  return gains;
}

}  // namespace

std::optional<std::string> beyond_linear_note(const Scenario& scenario, const TrainingPoint& point) {
  if (point.scaling_efficiency <= 1 + worth_a_note) return std::nullopt;
  Seconds unexplained = (point.scaling_efficiency - 1) * point.iteration;
  std::string note;
  for (const Gain& gain : gains_over_one(scenario, point)) {
    if (unexplained <= Seconds(0)) break;
    unexplained = unexplained - gain.time;
    note += (note.empty() ? ", since " : " and ") + gain.reason;
  }
  return std::string(beyond_linear) + note;
}

namespace {

using Json = nlohmann::ordered_json;

/// A sweep of one configuration: values as they are now, without those that a larger one among `changed` brings along.
Json only_configuration(const Json& document, const std::vector<std::string>& swept,
                        const std::vector<std::string>& changed) {
  Json sweep = Json::object();
  for (const std::string& pointer : swept) {
    const auto brings = [&](const std::string& around) { return pointer != around && is_within(pointer, around); };
    if (std::ranges::any_of(changed, brings)) continue;
    sweep[pointer] = Json::array({document.at(Json::json_pointer(pointer))});
  }
  return sweep;
}

/// What the sweep puts there cannot be set: it is set in the sweep.
std::vector<SetValue> options_for(const Document& document, const std::vector<std::string>& changed,
                                  const std::vector<std::string>& swept) {
  const Json json = document.to_ordered_json();
  std::vector<SetValue> set;
  if (!swept.empty()) {
    set.push_back({"/sweep", only_configuration(json, swept, changed).dump()});
    if (json.contains("question")) set.push_back({"/question", "null"});  // asks for values of the whole sweep
  }
  for (const std::string& pointer : changed) {
    const auto holds = [&](const std::string& around) { return is_within(pointer, around); };
    if (std::ranges::none_of(swept, holds)) set.push_back({pointer, json.at(Json::json_pointer(pointer)).dump()});
  }
  return set;
}

}  // namespace

std::optional<ChangedScenario> change(const ScenarioSource& source, const Scenario& scenario,
                                      const std::vector<SetValue>& values) {
  Document document = source.document;
  std::vector<std::string> changed;
  try {
    for (const auto& [pointer, json] : values) {
      document.set(pointer, json);
      const auto holds = [&, &at = pointer](const std::string& around) { return is_within(at, around); };
      if (std::ranges::none_of(changed, holds)) changed.push_back(pointer);
    }
    const bool is_beside = std::ranges::none_of(changed, [](const auto& at) { return is_within(at, "/platform"); });
    const Platform* const built = is_beside ? &scenario.platform.platform : nullptr;
    Scenario read = read_scenario(document.root(), source.catalogue, built);
    read.fidelity = scenario.fidelity;
    read.folding = scenario.folding;
    read.network = scenario.network;
    std::vector<SetValue> set = options_for(document, changed, source.swept);
    return ChangedScenario{std::move(document), std::move(read), std::move(set)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}}  // namespace farandole::scenario
