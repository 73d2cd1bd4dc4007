// How much each uncertain input of an offer matters: a job's cost with one after the other at the ends of its range.
//
// Called by scenario/. What a tornado diagram shows, the widest first.
#pragma once

#include <functional>
#include <vector>

#include "economics/offer.hpp"
#include "timeline/job_cost.hpp"

namespace farandole {

/// Inputs that move the cost at all; `offer` is the document that `cost`'s argument is read from, changed in one input
/// at a time.
std::vector<CostSensitivity> sensitivity(const Document& offer, const std::function<Money(const Offer&)>& cost);

/// Sorts the widest first; equals stay in their order.
void widest_first(std::vector<CostSensitivity>& inputs);

}  // namespace farandole
