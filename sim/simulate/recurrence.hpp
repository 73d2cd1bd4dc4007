// The max-plus recurrence that carries ranks through the rounds of a phase.
//
// With a cost c(t) per transfer and round, a rank enters the next round when its own transfers are done, and a transfer
// starts when its sender entered the round:
//   T[k+1][r] = max( T[k][r], max over t from r: T[k][r] + c(t), max over t into r: T[k][from(t)] + c(t) )
// Exact where the transfers of a round do not change one another's rates over time. O(repeats x transfers); a ring
// whose costs are all equal and whose repeats carry every start once around has the closed form max(T) + repeats c.
#pragma once

#include "collective/schedule.hpp"
#include "training/rank_times.hpp"

namespace farandole {

/// Seconds per round, one per transfer of the phase and lane, in the order of for_each_transfer's index.
using TransferCosts = Eigen::ArrayXd;

/// Through all repeats, where costs are the same in each.
void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, const TransferCosts& costs);
/// Through one repeat.
void carry_once(RankTimes& moments, const Schedule& schedule, const Phase& phase, int repeat,
                const TransferCosts& costs);

}  // namespace farandole
