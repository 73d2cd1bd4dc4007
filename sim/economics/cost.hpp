// What nodes cost by the second, and what follows from it.
//
// Called by scenario/. With F the price of owning a node for a second (annuity of price less residual value, plus what
// runs all the time), E(busy) the price of its electricity (draw x PUE x tariff) and u the utilisation,
//
//   bought:   rate = (F + (1 - u) E(idle)) / u + E(busy)          idle time is paid by the jobs that run
//   reserved: rate = (price + upfront / term) / u
//   rented, spot: rate = price
//
// Interruptions stretch a job on n nodes: with rate l = n / MTBF, checkpoints every t of work and restarts of length R,
//   time / work = (exp(l t) - 1) exp(l R) / (l t)
// (J. T. Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 22, 2006, equation 11, checkpoints
// themselves being part of the iteration already). All of that time is charged.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "economics/offer.hpp"
#include "timeline/job_cost.hpp"

namespace farandole { inline namespace economics {

/// A job as far as its cost goes.
struct NodeUse {
  int nodes = 1;
  int devices_per_node = 1;
  double busy = 1;  // share of the time in which devices compute
};

/// What a second of a node costs whether it is used or not, 0 of what is rented, and what a second of use adds to that.
struct RateOfUse {
  MoneyPerSecond idle;
  MoneyPerSecond use;
};

RateOfUse rate_of_use(const Offer& offer, const NodeUse& use);

/// One node for a second of a job: idle / u + use.
MoneyPerSecond node_rate(const Offer& offer, const NodeUse& use);

/// 1 where nothing interrupts.
double stretch_of(const Offer& offer, int nodes);

/// The utilisations at which work costs at most as much at `here` as `elsewhere`, which does the same work, both in use
/// for the same share u of the time, which is the owner's and of no offer: h.idle / u + h.use <= e.idle / u + e.use. As
/// 1 / u is monotone there is one threshold at most.
struct BreakEven {
  std::optional<double> from;   // and above; 0: at every utilisation
  std::optional<double> up_to;  // less than 1: where idle time costs less here and use more
};

BreakEven break_even_of(const RateOfUse& here, const RateOfUse& elsewhere);

/// Of having the nodes for 0, 1, ..., `years` years, in use as the offer says; what is bought is bought again when its
/// lifetime is over. What is paid, but for the last year: there what nodes are still worth, or have been paid ahead, is
/// credited, and interest is charged, so that a job's share of it is its cost (node_rate).
std::vector<Money> totals_over(const Offer& offer, const NodeUse& use, int years);

// How much each uncertain input of an offer matters: a job's cost with one after the other at the ends of its range.
//
// Called by scenario/. What a tornado diagram shows, the widest first.

/// Inputs that move the cost at all; `offer` is the document that `cost`'s argument is read from, changed in one input
/// at a time.
std::vector<CostSensitivity> sensitivity(const Document& offer, const std::function<Money(const Offer&)>& cost);

/// Sorts the widest first; equals stay in their order.
void widest_first(std::vector<CostSensitivity>& inputs);

}}  // namespace farandole::economics
