#include "scenario/explain.hpp"

#include <algorithm>
#include <array>

#include "scenario/train.hpp"
#include "scenario/what_if.hpp"

namespace farandole {
namespace {

void without_checkpoint(Scenario& scenario) {
  scenario.effects.checkpoint.reset();
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

struct Mechanism {
  const char* name;
  void (*switch_off)(Scenario&);
};

constexpr std::array mechanisms{
    Mechanism{"checkpoint", without_checkpoint},
    Mechanism{"stragglers", without_stragglers},
    Mechanism{"collective_kernels", without_collective_kernels},
    Mechanism{"contention", without_contention},
    Mechanism{"exposed_bandwidth", without_bandwidth},
    Mechanism{"exposed_latency", without_latency},
    Mechanism{"fusion_copies", without_copies},
};

std::vector<WaterfallPart> waterfall_of(const Scenario& scenario, Seconds actual) {
  std::vector<WaterfallPart> parts;
  Scenario ideal = scenario;
  Seconds before = actual;
  const auto add = [&](const char* name, Seconds without) {
    parts.push_back({name, before - without});
    before = without;
  };
  for (const Mechanism& mechanism : mechanisms) {
    mechanism.switch_off(ideal);
    add(mechanism.name, train(ideal, nullptr).iteration);
  }
  add("negotiation", train_alone(ideal, Supply::of_the_job));
  add("input", train_alone(ideal, Supply::free));
  parts.push_back({"device", before});
  std::ranges::reverse(parts);
  return parts;
}

}  // namespace

Explanation explain(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                    const TrainingPoint& point) {
  Explanation explanation;
  explanation.waterfall = waterfall_of(scenario, point.iteration);
  explanation.what_ifs = what_ifs({document, catalogue, scenario, point});
  return explanation;
}

}  // namespace farandole
