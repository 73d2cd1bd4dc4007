// Folds a routed schedule: ranks, links and transfers that nothing can tell apart are represented by one of them.
//
// The result is a RoutedSchedule again, smaller, which every clock times as it times any other:
//   - its ranks are classes of ranks and its transfers classes of transfers, from class to class (often to its own);
//   - its links are classes of links. Where one link of class l carries k(l, c) transfers of class c, each split over
//     paths(c), and P = lcm over c of paths(c), it carries K(l, c) = k(l, c) P / paths(c) of P parts. The quotient's
//     link has the capacity C P / g, g = gcd over c of K(l, c), and the route of c lists it K(l, c) / g times, unsplit.
//     The constraint of the quotient, sum over c of K/g rate(c) <= C P/g, is then that of any one link of the class.
//     How many links of the class a single transfer crosses does not matter;
//   - where a rank receives k transfers of a class, the representative is reduced at 1 / k of the rate.
// Exact for static routes, for every size of equal chunks, and for starts that are equal within a class of `start`.
// What differs between members of a transfer class is the chunk, so where chunks differ in size a fold is not exact.
#pragma once

#include <functional>
#include <optional>

#include "collective/rank_times.hpp"
#include "collective/schedule.hpp"
#include "simulate/folding/colouring.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

/// Without what it sends, for quotients that put their own transfers in: a copy of the whole would copy millions of
/// transfers to throw them away.
inline Phase emptied(const Phase& phase) {
  return {phase.name,      {},        phase.repeats, phase.chunk_step, phase.row_step,
          phase.peer_step, phase.fan, phase.window,  phase.bundle,     phase.one_by_one};
}

inline Schedule emptied(const Schedule& schedule) {
  return {schedule.operation,   schedule.algorithm, schedule.ranks,   schedule.chunks, {},
          schedule.rows,        schedule.root,      schedule.weights, schedule.copies, schedule.servers,
          schedule.first_worker};
}

struct Folding {
  RoutedSchedule quotient;
  std::vector<int> class_of_rank;                   // ranks of the quotient
  std::vector<std::vector<int>> class_of_transfer;  // [phase][index]: the position in the quotient's phase
  /// In their place, where there are so many that they are worked out when asked for.
  std::function<std::vector<int>(std::size_t phase)> later_classes{};

  [[nodiscard]] std::vector<int> classes_of_transfers(std::size_t phase) const {
    return later_classes ? later_classes(phase) : class_of_transfer[phase];
  }

  /// Fewer than half as many classes as ranks; otherwise the fold costs more than it saves.
  [[nodiscard]] bool is_worthwhile() const {
    return 2 * static_cast<std::size_t>(quotient.schedule().ranks) <= class_of_rank.size();
  }

  /// Of each class its members' moment, and back. Exact where moments are equal within classes.
  [[nodiscard]] RankTimes of_classes(const RankTimes& of_ranks) const;
  [[nodiscard]] RankTimes of_ranks(const RankTimes& of_classes) const { return of_classes(class_of_rank); }
};

/// Whether the schedule is of the form that can be folded: every transfer to the same receiver in all its repeats, with
/// chunks that are equal or differ by a byte. Not so: shift patterns, given weights, and what is sent to so many at
/// once that a list of it would be out of all proportion.
bool is_foldable(const Schedule& schedule);

/// Ranks that start at different moments are never put into one class. O(edges log edges). Throws InvariantError should
/// the colouring turn out not to be stable.
Folding fold(const RoutedSchedule& routed, const RankTimes& start);

/// For ranks that all start together.
Folding fold(const RoutedSchedule& routed);

// The folding that is worth it, of whatever kind is exact for a schedule: first by what schedule and platform are known
// to be kept by (simulate/folding/moves.hpp, parts.hpp), for which hardly any way is worked out; where nothing is
// known, or ranks start apart, by colouring all.
//
// Called by the clocks. Chunks must be equally long for it to be exact (above, and orbits.hpp).

/// For ranks that start together; nothing where nothing is known beforehand.
std::optional<Folding> fold_before_routing(const RoutedSchedule& routed);

/// Nothing where nothing is known, or where it would not at least halve the ranks.
std::optional<Folding> worthwhile_folding(const RoutedSchedule& routed, const RankTimes& start);

}}  // namespace farandole::simulate
