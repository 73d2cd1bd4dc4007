#include "scenario/economics_run.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "config/error.hpp"
#include "economics/cost.hpp"
#include "economics/sensitivity.hpp"
#include "scenario/scenario.hpp"
#include "scenario/train.hpp"

namespace farandole {
namespace {

/// A job as its cost sees it.
struct ChargedJob {
  NodeUse use;
  double samples_per_second = 0;
  std::optional<WholeRun> run;
};

ChargedJob charged(const Scenario& scenario, const TrainingPoint& point) {
  const double busy = std::clamp(point.breakdown.compute / point.iteration, 0.0, 1.0);
  return {{point.nodes, scenario.platform.platform.devices_per_node, busy}, point.samples_per_second, point.run};
}

/// All nodes for a second.
MoneyPerSecond job_rate(const Offer& offer, const ChargedJob& job) {
  return node_rate(offer, job.use) * job.use.nodes;
}

/// With interruptions, a sample takes this long.
Seconds sample_time(const Offer& offer, const ChargedJob& job) {
  return Seconds(stretch_of(offer, job.use.nodes) / job.samples_per_second);
}

Money per_sample(const Offer& offer, const ChargedJob& job) {
  return job_rate(offer, job) * sample_time(offer, job);
}

Watts building_power(const Offer& offer, const ChargedJob& job) {
  return draw(offer.power, job.use.devices_per_node, job.use.busy) * offer.pue * job.use.nodes;
}

void add_run(JobCost& cost, const Offer& offer, const ChargedJob& job) {
  const Seconds epoch = job.run->epoch * cost.stretch;
  const Seconds total = job.run->total * cost.stretch;
  const Seconds charged = offer.rented ? std::max(total, offer.rented->minimum) : total;
  cost.per_epoch = job_rate(offer, job) * epoch;
  cost.energy_per_epoch = building_power(offer, job) * epoch;
  cost.per_run = job_rate(offer, job) * charged;
  cost.energy_per_run = building_power(offer, job) * total;
  cost.node_time = total * job.use.nodes;
}

std::vector<CostSensitivity> sensitivity_of(const EconomicsSpec& spec, const ChargedJob& job) {
  auto inputs = sensitivity(spec.file.document, [&](const Offer& offer) { return per_sample(offer, job); });
  if (const double share = spec.throughput_uncertainty; share > 0) {
    const Money nominal = per_sample(spec.file.offer, job);
    inputs.push_back({"throughput", fmt::format("-{:.4g} %", share * 100), fmt::format("+{:.4g} %", share * 100),
                      nominal / (1 - share), nominal / (1 + share)});
    widest_first(inputs);
  }
  return inputs;
}

/// The same scenario on the other machine.
Document moved(const Document& document, const ElsewhereSpec& elsewhere) {
  Document changed = document;
  changed.remove("/economics");
  if (!elsewhere.topology.empty()) {
    changed.set("/platform/topology", elsewhere.topology);
    for (const char* own : {"/platform/override", "/platform/placement"}) changed.remove(own);
  }
  if (elsewhere.ranks > 0) {
    changed.remove("/platform/launch");
    changed.set("/platform/ranks", fmt::format("{}", elsewhere.ranks));
  }
  return changed;
}

CostComparison compared(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                        const ChargedJob& job) {
  const EconomicsSpec& spec = *scenario.economics;
  const Document other_document = moved(document, *spec.elsewhere);
  Scenario other = read_scenario(other_document.root(), catalogue);
  other.fidelity = scenario.fidelity;
  other.folding = scenario.folding;
  const TrainingPoint point = train(other, nullptr);
  const Offer offer = catalogue.offer(spec.elsewhere->offer, other_document.root()).offer;
  const ChargedJob there = charged(other, point);
  const Money price = per_sample(offer, there);
  // What a node here may cost for a second, so that a sample costs as much as there.
  const MoneyPerSecond worth = price / sample_time(spec.file.offer, job) / job.use.nodes;
  return {offer.name, point.platform, price, break_even_utilisation(spec.file.offer, job.use, worth)};
}

}  // namespace

JobCost cost_of(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                const TrainingPoint& point) {
  const EconomicsSpec& spec = *scenario.economics;
  const Offer& offer = spec.file.offer;
  const ChargedJob job = charged(scenario, point);
  JobCost cost;
  cost.offer = offer.name;
  cost.kind = offer.kind;
  cost.date = offer.date;
  cost.currency = offer.currency;
  cost.utilisation = offer.utilisation;
  cost.stretch = stretch_of(offer, job.use.nodes);
  cost.node = node_rate(offer, job.use);
  cost.node_power = draw(offer.power, job.use.devices_per_node, job.use.busy);
  cost.per_sample = per_sample(offer, job);
  cost.energy_per_sample = building_power(offer, job) * sample_time(offer, job);
  if (job.run) add_run(cost, offer, job);
  Offer in_use = offer;
  if (!offer.is_committed()) in_use.utilisation = cost.utilisation = spec.utilisation;
  cost.totals = totals_over(in_use, job.use, spec.years);
  cost.sensitivity = sensitivity_of(spec, job);
  cost.assumptions = offer.assumptions;
  if (spec.elsewhere) cost.comparison = compared(document, catalogue, scenario, job);
  return cost;
}

}  // namespace farandole
