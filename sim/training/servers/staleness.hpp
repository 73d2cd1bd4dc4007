// How many updates by others an asynchronous worker's gradient does not know of, in the mean over the orders in which
// what happens at the same moment may happen.
//
// Called by server_run.hpp. A worker pulls when it starts and its gradient is applied when its iteration ends. Updates
// by others between the two count. Of those at the very moment of its end, half come first in the mean; and of those at
// the moment at which it ended its iteration before and went on, half come after its pull. A worker that had to wait
// for others (stale_synchronous) has seen what it waited for. So workers that do everything at the same moment are n -
// 1 updates behind, whether they are carried one by one or as one, and whatever rounding makes of equal moments: those
// are equal that are closer than 1e-9 of a mean iteration.
#pragma once

#include <vector>

#include "training/strategies/parameter_server.hpp"

namespace farandole {

/// Of every iteration, in the order of `finished`, which is that of their ends; `workers`: of every group. Zero with a
/// barrier.
std::vector<double> staleness_of(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers,
                                 const ServerPlan& plan);

}  // namespace farandole
