#include "scenario/economics_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "economics/cost.hpp"
#include "scenario/charged_job.hpp"
#include "scenario/train.hpp"

namespace farandole { inline namespace scenario {
namespace {

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

}  // namespace

ChargedJob charged(const Scenario& scenario, const TrainingPoint& point) {
  const double busy = std::clamp(point.breakdown.compute / point.iteration, 0.0, 1.0);
  const bool has_failures = scenario.run && scenario.run->failures;
  const int nodes = point.nodes + (has_failures ? scenario.run->failures->spare_nodes : 0);
  const int devices = scenario.platform.platform.devices_per_node;
  const double used = std::min(1.0, double(point.ranks) / (nodes * devices));
  // Spare nodes, and devices without a rank, are paid for, and idle.
  return {{nodes, devices, busy * used}, point.samples_per_second, point.run};
}

MoneyPerSecond job_rate(const Offer& offer, const ChargedJob& job) {
  return node_rate(offer, job.use) * job.use.nodes;
}

Seconds sample_time(const Offer& offer, const ChargedJob& job) {
  return Seconds(stretch_of(offer, job.use.nodes) / job.samples_per_second);
}

Money per_sample(const Offer& offer, const ChargedJob& job) {
  return job_rate(offer, job) * sample_time(offer, job);
}

Money per_run(const Offer& offer, const ChargedJob& job) {
  const Seconds total = job.run->total * stretch_of(offer, job.use.nodes);
  return job_rate(offer, job) * (offer.rented ? std::max(total, offer.rented->minimum) : total);
}

Elsewhere elsewhere_of(const Document& document, const Catalogue& catalogue, const Scenario& scenario) {
  const ElsewhereSpec& spec = *scenario.economics->elsewhere;
  Document other_document = moved(document, spec);
  Scenario other = read_scenario(other_document.root(), catalogue);
  other.fidelity = scenario.fidelity;
  other.folding = scenario.folding;
  other.network = scenario.network;
  Offer offer = catalogue.offer(spec.offer, other_document.root()).offer;
  const Offer& own = scenario.economics->file.offer;
  if (offer.is_committed() && own.is_committed()) offer.utilisation = own.utilisation;
  return {std::move(other_document), std::move(other), std::move(offer)};
}

BreakEven break_even(const Offer& offer, const ChargedJob& here, const Offer& there, const ChargedJob& job_there) {
  // For the samples of a second of a node here.
  const double nodes_there =
      sample_time(there, job_there) * job_there.use.nodes / (sample_time(offer, here) * here.use.nodes);
  const RateOfUse rate = rate_of_use(there, job_there.use);
  return break_even_of(rate_of_use(offer, here.use), {rate.idle * nodes_there, rate.use * nodes_there});
}

namespace {

Watts building_power(const Offer& offer, const ChargedJob& job) {
  return draw(offer.power, job.use.devices_per_node, job.use.busy) * offer.pue * job.use.nodes;
}

void add_run(JobCost& cost, const Offer& offer, const ChargedJob& job) {
  const Seconds epoch = job.run->epoch * cost.stretch;
  const Seconds total = job.run->total * cost.stretch;
  cost.per_epoch = job_rate(offer, job) * epoch;
  cost.energy_per_epoch = building_power(offer, job) * epoch;
  cost.per_run = per_run(offer, job);
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

CostComparison compared(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                        const ChargedJob& job) {
  const Elsewhere there = elsewhere_of(document, catalogue, scenario);
  const TrainingPoint point = train(there.scenario, nullptr);
  const ChargedJob other = charged(there.scenario, point);
  const BreakEven even = break_even(scenario.economics->file.offer, job, there.offer, other);
  return {there.offer.name, point.platform, per_sample(there.offer, other), even.from, even.up_to};
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

}}  // namespace farandole::scenario
