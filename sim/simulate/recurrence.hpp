// The max-plus recurrence that carries ranks through the rounds of a phase.
//
// With a cost c(t) per transfer and round, a rank enters the next round when its own transfers are done:
//   T[k+1][r] = max( T[k][r], max over t from r or into r: start(t) + c(t) )
// A transfer starts when its sender enters the round; one that waits for its receiver (simulate/message_clock.hpp) when
// that has posted its receive, too: when it enters the round, or in a pipeline the round before, for there receives are
// posted one ahead, as Open MPI does:
//   start(t) = T[k][from(t)],   or where t waits   max( T[k][from(t)], T[k][to(t)] ),   in a pipeline T[k-1][to(t)]
// What is reduced has a second cost w(t), at the receiver: it reduces what has arrived, at the earliest when it enters
// the round, one after the other as they come, and enters the next round when all is reduced; the sender does not wait.
// Exact where the transfers of a round do not change one another's rates over time. O(repeats x transfers); a phase
// of rings, one over all ranks or one in every node, is O(repeats + ranks) for each (simulate/ring_recurrence.hpp), and
// a ring whose costs are all equal has the closed form max(T) + repeats (c + w) if its ranks start together, or if the
// repeats carry every start once around and w is zero or transfers wait.
#pragma once

#include "collective/rank_times.hpp"
#include "collective/schedule.hpp"

namespace farandole {

/// Seconds per round, one per transfer of the phase and lane, in the order of for_each_transfer's index.
struct TransferCosts {
  Eigen::ArrayXd sending;
  Eigen::ArrayXd reducing;                        // w, zero where nothing is reduced or that costs nothing
  Eigen::Array<bool, Eigen::Dynamic, 1> waits{};  // for the receiver; empty: none does
};

/// Through all repeats, where costs are the same in each.
void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, const TransferCosts& costs);

/// Through the repeats of a phase one by one, where costs differ.
class Repeats {
 public:
  /// All three must outlive it; `moments` is carried on.
  Repeats(RankTimes& moments, const Schedule& schedule, const Phase& phase);
  /// When a rank has posted its receives of the repeat that comes next.
  [[nodiscard]] double posted(int rank) const { return is_pipeline_ ? before_[rank] : moments_[rank]; }
  void carry_once(const TransferCosts& costs);

 private:
  RankTimes& moments_;
  const Schedule& schedule_;
  const Phase& phase_;
  bool is_pipeline_;
  int repeat_ = 0;
  RankTimes before_;  // of a pipeline: when ranks entered the repeat before
};

}  // namespace farandole
