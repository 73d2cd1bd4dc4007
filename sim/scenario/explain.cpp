#include "scenario/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "scenario/parts.hpp"
#include "scenario/train.hpp"

namespace farandole { inline namespace scenario {
namespace {

void without_checkpoint(Scenario& scenario) {
  scenario.effects.checkpoint.reset();
}

void without_stragglers(Scenario& scenario) {
  EffectsSpec& effects = scenario.effects;
  effects.device_spread = 0;
  effects.step_jitter = {};
  effects.stragglers.clear();
  effects.other_devices.clear();
  effects.os_noise.reset();
  effects.board_slowdown = 0;
}

void without_collective_kernels(Scenario& scenario) {
  scenario.effects.communication_compute_share = 0;
}

void without_contention(Scenario& scenario) {
  scenario.mechanisms.contention = false;
}

void without_bandwidth(Scenario& scenario) {
  scenario.mechanisms.network_rate = 1e6;  // what took a second takes a microsecond
}

void without_latency(Scenario& scenario) {
  scenario.mechanisms.latency = 0;
}

void without_copies(Scenario& scenario) {
  scenario.mechanisms.copy_rate = 1e9;
}

void without_server_work(Scenario& scenario) {
  scenario.mechanisms.server_rate = 1e9;
}

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
    Mechanism{"checkpoint", without_checkpoint, always},
    Mechanism{"stragglers", without_stragglers, always},
    Mechanism{"collective_kernels", without_collective_kernels, has_collectives},
    Mechanism{"contention", without_contention, has_collectives},
    Mechanism{"exposed_bandwidth", without_bandwidth, always},
    Mechanism{"exposed_latency", without_latency, always},
    Mechanism{"fusion_copies", without_copies, codes},
    Mechanism{"server_update", without_server_work, has_servers},
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
  const Seconds fed = train_alone(ideal, Supply::of_the_job);
  scenario.strategy.negotiates ? waterfall.add("negotiation", fed) : waterfall.close_at(fed);
  waterfall.add("input", train_alone(ideal, Supply::free));
  return waterfall.finish();
}

Explanation explain(const WhatIfBase& base) {
  Explanation explanation;
  explanation.waterfall = waterfall_of(base.scenario, base.point.iteration);
  explanation.what_ifs = what_ifs(base);
  return explanation;
}

}}  // namespace farandole::scenario
