#include "scenario/economics_run.hpp"

#include <fmt/format.h>

#include "economics/cost.hpp"
#include "scenario/charged_job.hpp"
#include "scenario/train.hpp"

namespace farandole { inline namespace scenario {
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
