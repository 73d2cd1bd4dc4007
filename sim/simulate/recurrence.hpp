// The max-plus recurrence that carries ranks through the rounds of a phase.
//
// With a cost c(t) per transfer and round, a rank enters the next round when its own transfers are done, and a transfer
// starts when its sender entered the round:
//   T[k+1][r] = max( T[k][r], max over t from r: T[k][r] + c(t), max over t into r: T[k][from(t)] + c(t) )
// What is reduced has a second cost w(t), at the receiver: it reduces what has arrived, at the earliest when it enters
// the round, one after the other as they come, and enters the next round when all is reduced; the sender does not wait.
// Exact where the transfers of a round do not change one another's rates over time. O(repeats x transfers); a phase
// of rings, one over all ranks or one in every node, is O(repeats + ranks) for each (simulate/ring_recurrence.hpp), and
// a ring whose costs are all equal has the closed form max(T) + repeats (c + w) if its ranks start together, or if w is
// zero and the repeats carry every start once around.
#pragma once

#include "collective/rank_times.hpp"
#include "collective/schedule.hpp"

namespace farandole {

/// Seconds per round, one per transfer of the phase and lane, in the order of for_each_transfer's index.
struct TransferCosts {
  Eigen::ArrayXd sending;
  Eigen::ArrayXd reducing;  // w, zero where nothing is reduced or that costs nothing
};

/// Through all repeats, where costs are the same in each.
void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, const TransferCosts& costs);
/// Through one repeat.
void carry_once(RankTimes& moments, const Schedule& schedule, const Phase& phase, int repeat,
                const TransferCosts& costs);

}  // namespace farandole
