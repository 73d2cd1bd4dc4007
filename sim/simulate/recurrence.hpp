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
// Where messages keep the processors of their ends busy, a rank has one for all of its messages (LogGP, Alexandrov et
// al. 1995; o(t) of the sender, q(t) of the receiver). Both are parts of c(t): a rank with one message at a time
// notices nothing as long as o + q <= c. What a rank sends in a round is posted one after the other in the order of the
// transfers, each once those before have taken their o; what comes in takes its q, one after the other as it comes:
//   start(t) = T[k][from(t)] + sum of o of what the same rank sends before t
//   busy = T[k][r] + sum of o of all that r sends;  for each t into r by arrival:  busy = max(busy + q(t), arrival(t))
//   + w(t) T[k+1][r] = max( T[k+1][r] as above, busy )
// Messages that wait for their turn leave their links to others meanwhile. So t is done at the later of two moments:
// when it would be if all began at once, each at its share of the links, and when it would be if it began in its turn
// and had its links for itself. Exact where no link is shared, and where either the processor or the link sets the
// pace. Exact where the transfers of a round do not change one another's rates over time. O(repeats x transfers); a
// phase of rings, one over all ranks or one in every node, is O(repeats + ranks) for each
// (simulate/recurrence.hpp), and a ring whose costs are all equal has the closed form max(T) + repeats (c + w) if
// its ranks start together, or if the repeats carry every start once around and w is zero or transfers wait.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "collective/rank_times.hpp"
#include "collective/schedule.hpp"

namespace farandole { inline namespace simulate {

/// Seconds per round, one for each transfer that is looked at: of the phase and lane, in the order of
/// for_each_transfer's index, or of those that take part in a repeat.
struct TransferCosts {
  Eigen::ArrayXd sending;
  Eigen::ArrayXd reducing;                        // w, zero where nothing is reduced or that costs nothing
  Eigen::Array<bool, Eigen::Dynamic, 1> waits{};  // for the receiver; empty: none does
  // Of processors, all messages of a transfer together; empty where they are not kept busy.
  Eigen::ArrayXd send{};
  Eigen::ArrayXd receive{};
  Eigen::ArrayXd behind{};  // what others alike, which come at the same moment, take of the receiver besides
  Eigen::ArrayXd alone{};   // as `sending`, with the links for itself

  [[nodiscard]] bool are_occupied() const { return send.size() > 0; }
  /// Room for so many transfers, all zero.
  static TransferCosts of(Eigen::Index transfers, bool are_occupied);
  /// Those of some transfers, in this order.
  [[nodiscard]] TransferCosts some(const std::vector<Eigen::Index>& transfers) const;
};

/// How long what a rank posts in a round has kept its processor so far.
class Posted {
 public:
  explicit Posted(Eigen::Index ranks) : busy_(RankTimes::Zero(ranks)) {}
  void clear(int rank) { busy_[rank] = 0; }
  /// What a message waits for that now has its turn.
  double before(int rank, double send) {
    const double ahead = busy_[rank];
    busy_[rank] += send;
    return ahead;
  }
  [[nodiscard]] double of(int rank) const { return busy_[rank]; }

 private:
  RankTimes busy_;
};

/// The ranks of one ring in its order, each with the transfer by which it sends to the next.
struct Ring {
  std::vector<int> ranks;
  std::vector<Eigen::Index> transfers;
};

/// A phase with all that is known of it before ranks have begun: a job carries its ranks through the same collectives
/// again and again.
class KnownPhase {
 public:
  /// Costs are the same in each repeat. `schedule` and `phase` must outlive it.
  KnownPhase(const Schedule& schedule, const Phase& phase, TransferCosts costs);
  /// A pipeline in which a transfer of so many bytes takes the same in every repeat: `cost` in seconds, and whether it
  /// waits for its receiver, of one with that index. Nothing is reduced at a cost, and no processor kept busy.
  using Cost = std::function<std::pair<double, bool>(std::size_t index, Bytes bytes)>;
  KnownPhase(const Schedule& schedule, const Phase& phase, const ChunkSizes& sizes, const Cost& cost);
  /// Of a phase that is_shift, with the costs of each repeat.
  KnownPhase(const Schedule& schedule, const Phase& phase, std::vector<TransferCosts> of_repeats);
  /// Through all repeats.
  void carry(RankTimes& moments) const;
  /// Whether all ranks end at once, so long after the last begins, whoever that is.
  [[nodiscard]] bool is_barrier() const;

 private:
  /// A ring that is carried without going through its rounds.
  struct Track {
    std::vector<int> ranks;
    TransferCosts costs;  // empty where they are not asked for: `ends_at_once`
    bool waits;           // all of its transfers wait for their receivers; else none
    double round;         // seconds, where all ranks cost the same; negative where they do not
    bool ends_at_once;    // then: wherever a late start is, it comes all around
  };
  [[nodiscard]] std::optional<Track> track_of(const Ring& ring) const;
  void carry(const Track& track, RankTimes& moments) const;
  void carry_pipeline(RankTimes& moments) const;
  void carry_shift(RankTimes& moments) const;

  const Schedule& schedule_;
  const Phase& phase_;
  TransferCosts costs_{};  // empty where there are tracks, and of a pipeline
  std::vector<Track> tracks_{};
  // Of a pipeline: transfers in the order of their starts; runs of those that start at once and carry the same, each
  // with its first transfer and its start, and one behind the last; the first run under way in each repeat and the one
  // behind the last; for every run and repeat from its start on which of the lengths that is, ~length where it waits;
  // and seconds by length and transfer.
  std::vector<std::pair<int, int>> sent_{};
  std::vector<std::pair<std::size_t, int>> runs_{};
  std::vector<std::pair<std::size_t, std::size_t>> under_way_{};
  std::vector<int> lengths_{};
  std::vector<double> sending_{};
  std::vector<TransferCosts> of_repeats_{};  // of a shift
};

/// Whether in every repeat each rank sends one transfer and receives one, to and from others in the next.
bool is_shift(const Schedule& schedule, const Phase& phase);

/// Through all repeats, where costs are the same in each.
inline void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, TransferCosts costs) {
  KnownPhase(schedule, phase, std::move(costs)).carry(moments);
}

/// Through the repeats of a phase one by one, where costs differ.
class Repeats {
 public:
  /// All three must outlive it; `moments` is carried on.
  Repeats(RankTimes& moments, const Schedule& schedule, const Phase& phase);
  /// When a rank has posted its receives of the repeat that comes next.
  [[nodiscard]] double posted(int rank) const { return is_pipeline_ ? before_[rank] : moments_[rank]; }
  /// `costs`: of these transfers (Round of simulate/transfer_costs.hpp), among which are all that take part in the
  /// repeat that comes next. O(them), however many ranks there are.
  void carry_once(const TransferCosts& costs, std::span<const std::size_t> transfers);

 private:
  void send(const TransferCosts& costs, std::span<const std::size_t> transfers);
  void send_in_turn(const TransferCosts& costs, std::span<const std::size_t> transfers);
  void take_part(const Transfer& transfer);
  void enter_next();

  RankTimes& moments_;
  const Schedule& schedule_;
  const Phase& phase_;
  bool is_pipeline_;
  int repeat_ = 0;
  RankTimes before_;         // of a pipeline: when ranks entered the repeat before
  RankTimes next_;           // as moments_, but for ranks that take part
  std::vector<int> taking_;  // ranks that take part in this repeat, some more than once
  std::vector<int> took_;    // and in the one before
  std::optional<Posted> sends_;
};

// The max-plus recurrence of simulate/recurrence.hpp for a ring, without going through its rounds.
//
// Called by simulate/recurrence.cpp alone. Rank i sends to rank i + 1 (modulo n) in transfer i. In one round a moment
// stays at its rank at the cost stay(r) = max(c(r), w(r-1)) or moves on from rank r - 1 at the cost
// move(r) = c(r-1) + w(r-1). So through k rounds
//
//   T[k][r] = max over j <= k of  T[0][r-j] + sum of move(r-j+1 .. r) + (k-j) * max of stay(r-j .. r)
//
// (and where messages keep processors busy, stay(r) = max(c(r), o(r) + q(r-1) + w(r-1)))
// because rounds that are not moves are best spent where staying costs most on the way. Every way past a rank where it
// costs most of all has the same last factor: of these a sliding maximum finds the best for all ranks at once; ways
// between two such ranks are tried one by one. O(ranks + rounds) where such ranks are never far, as the last rank of
// every node is; O(ranks^2) at worst. Exact up to rounding.
//
// Where transfers wait for their receivers a moment also moves back, from rank r + 1 to r at the cost c(r), and stays
// at stay(r) = max(c(r), c(r-1) + w(r-1)), or as above where that is more. Through k rounds it comes along a walk of k
// steps. With m the most that a step costs anywhere, a walk is k m less what its steps cost less than m; ranks where
// staying costs m are where walks wait for free. So the best walk goes the cheapest way to such a rank, waits, and goes
// on the cheapest way: two relaxations around the ring, O(ranks), if those ways together have at most k steps and no
// walk past no such rank can be better, which is looked at. Else the rounds are gone through, O(ranks x rounds).

/// The moments after `rounds` rounds; `costs` has one transfer per rank.
RankTimes carry_ring(const RankTimes& start, const TransferCosts& costs, int rounds);

/// Likewise where all transfers wait for their receivers.
RankTimes carry_waiting_ring(const RankTimes& start, const TransferCosts& costs, int rounds);

/// What a round costs where a moment stays at a rank, and where it comes from the rank before.
struct RingSteps {
  Eigen::ArrayXd stay;
  Eigen::ArrayXd move;
};

/// Through rounds of a ring in which staying takes one of few values: O(values x (ranks + rounds)), wherever these are.
/// Of all ways from a rank on, those on which staying costs that value at most are compared with one another: a sliding
/// maximum for each.
RankTimes carry_ring(const RankTimes& start, const RingSteps& steps, int rounds);
}}  // namespace farandole::simulate
