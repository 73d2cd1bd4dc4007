// What a run costs at the price of the time it takes, and whether it is charged more than that.
//
// Used by the writers of this room. An offer may charge a minimum of every run (a capacity block: a day). A run that is
// shorter pays for time that it leaves over, which other jobs may use; so costs are compared at the price of the time
// used, and the minimum stands beside it.
#pragma once

#include <optional>

#include "timeline/job_cost.hpp"

namespace farandole {

/// Nothing where the scenario has no whole run.
inline std::optional<Money> price_of_time_used(const JobCost& cost) {
  return cost.node_time ? std::optional(cost.node * *cost.node_time) : std::nullopt;
}

/// What is charged where a minimum is; nothing where the run takes longer than that.
inline std::optional<Money> minimum_charge(const JobCost& cost) {
  constexpr double rounding = 1e-9;
  const auto used = price_of_time_used(cost);
  return used && cost.per_run && *cost.per_run > *used * (1 + rounding) ? cost.per_run : std::nullopt;
}

}  // namespace farandole
