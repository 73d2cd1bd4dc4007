#include "economics/cost.hpp"

#include <algorithm>
#include <cmath>

namespace farandole { inline namespace economics {
namespace {

MoneyPerSecond electricity(const Offer& offer, const NodeUse& use, double busy) {
  return draw(offer.power, use.devices_per_node, busy) * offer.pue * offer.owned->electricity;
}

/// Price less what it brings at the end, in equal payments that bear interest.
MoneyPerSecond annuity(const Ownership& owned) {
  const double years = owned.lifetime / year;
  const double i = owned.interest;
  if (i == 0) return owned.price * (1 - owned.residual) / owned.lifetime;
  const double paid_off = -std::expm1(-years * std::log1p(i));  // 1 - (1 + i)^-years, of any lifetime however short
  return owned.price * (1 - owned.residual * (1 - paid_off)) * (i / paid_off) / year;
}

/// How often something of that length begins within a time that ends before the next would.
double beginnings(Seconds time, Seconds length) {
  return std::max(1.0, std::ceil(time / length - 1e-9));
}

Money total_after(const Offer& offer, const NodeUse& use, Seconds time) {
  const double u = offer.utilisation;
  if (offer.owned) {
    const MoneyPerSecond power = electricity(offer, use, 0) * (1 - u) + electricity(offer, use, use.busy) * u;
    return offer.owned->price * beginnings(time, offer.owned->lifetime) + (offer.owned->running + power) * time;
  }
  if (!offer.is_committed()) return offer.rented->rate * u * time;
  return offer.rented->upfront * beginnings(time, offer.rented->term) + offer.rented->rate * time;
}

}  // namespace

RateOfUse rate_of_use(const Offer& offer, const NodeUse& use) {
  if (offer.owned) {
    const MoneyPerSecond idle = electricity(offer, use, 0);
    return {annuity(*offer.owned) + offer.owned->running + idle, electricity(offer, use, use.busy) - idle};
  }
  if (!offer.is_committed()) return {MoneyPerSecond(0), offer.rented->rate};
  return {offer.rented->rate + offer.rented->upfront / offer.rented->term, MoneyPerSecond(0)};
}

MoneyPerSecond node_rate(const Offer& offer, const NodeUse& use) {
  const RateOfUse rate = rate_of_use(offer, use);
  return rate.idle / offer.utilisation + rate.use;
}

double stretch_of(const Offer& offer, int nodes) {
  if (!offer.interruptions) return 1;
  const Interruptions& often = *offer.interruptions;
  const double work = nodes * (often.checkpoint_every / often.node_mtbf);
  const double restart = nodes * (often.restart / often.node_mtbf);
  return std::expm1(work) * std::exp(restart) / work;
}

BreakEven break_even_of(const RateOfUse& here, const RateOfUse& elsewhere) {
  const MoneyPerSecond more_idle = here.idle - elsewhere.idle;
  const MoneyPerSecond less_in_use = elsewhere.use - here.use;
  const bool pays_in_full_use = more_idle <= less_in_use;
  if (more_idle > MoneyPerSecond(0))
    return {pays_in_full_use ? std::optional(more_idle / less_in_use) : std::nullopt, {}};
  if (pays_in_full_use) return {0.0, {}};
  return {{}, more_idle < MoneyPerSecond(0) ? std::optional(more_idle / less_in_use) : std::nullopt};
}

std::vector<Money> totals_over(const Offer& offer, const NodeUse& use, int years) {
  std::vector<Money> totals;
  for (int i = 0; i < years; ++i) totals.push_back(total_after(offer, use, year * i) * use.nodes);
  totals.push_back(node_rate(offer, use) * offer.utilisation * (year * years) * use.nodes);
  return totals;
}

std::vector<CostSensitivity> sensitivity(const Document& offer, const std::function<Money(const Offer&)>& cost) {
  std::vector<CostSensitivity> inputs;
  for (const UncertainInput& input : read_offer(offer.root()).uncertain) {
    const auto cost_at = [&](const std::string& value) {
      Document changed = offer;
      changed.set(input.pointer, value);
      return cost(read_offer(changed.root()));
    };
    inputs.push_back({input.pointer.substr(1), input.low, input.high, cost_at(input.low), cost_at(input.high)});
  }
  std::erase_if(inputs, [](const CostSensitivity& input) { return input.at_low == input.at_high; });
  widest_first(inputs);
  return inputs;
}

void widest_first(std::vector<CostSensitivity>& inputs) {
  const auto width = [](const CostSensitivity& input) { return std::abs((input.at_high - input.at_low).si()); };
  std::ranges::stable_sort(inputs, std::greater(), width);
}

}}  // namespace farandole::economics
