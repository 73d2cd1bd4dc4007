// Which links the moves of all ranks take into one another, for folding by moves.
//
// Used inside simulate/folding alone. A node's own links move with it; how those of the network move is read off
// the routes of the moved pairs: position by position, a route's links become those of the moved route.
#pragma once

#include <optional>
#include <vector>

#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/folding/fold.hpp"
#include "simulate/folding/moves.hpp"

namespace farandole { inline namespace simulate {

class Orbits {
 public:
  Orbits(const Platform& platform, const Placement& placement, const Moves& moves);

  /// Takes note of the links on the way between two ranks and of all it is moved to.
  void add_route(int from, int to);
  /// Whether the links of every orbit are alike in capacity and latency.
  [[nodiscard]] bool are_alike() const { return alike_; }

  [[nodiscard]] int of(int link) const { return orbit_[static_cast<std::size_t>(link)]; }
  /// Of each orbit: what one of its links carries of transfers that cross the orbit once per move.
  [[nodiscard]] const std::vector<BytesPerSecond>& capacities() const { return capacities_; }

 private:
  void add_orbit(int from, int to, std::size_t position);
  void join(int link, int orbit, const Link& like);

  const Platform& platform_;
  const Placement& placement_;
  Moves moves_;
  bool alike_ = true;
  std::vector<int> orbit_;  // of each link, -1 where not known yet
  std::vector<BytesPerSecond> capacities_;
};

// Folds by moves that nobody notices (simulate/folding/moves.hpp), before ways are worked out: schedules whose
// receivers move on from repeat to repeat (a shift alltoall), that send to everybody at once, or that have many
// transfers.
//
// Where shifting every rank by d, or exchanging all with those that differ in some bits, changes neither the schedule
// nor the platform, ranks that are moved into one another do the same at the same moments, if all start together and
// chunks are equally long. So rank r stands for all of its rest modulo d, and a transfer from one of the first d ranks
// for n / d of them: only theirs are routed. Links that the move takes into one another are one link of the quotient:
// of an orbit of k links each carries a transfer of every class as often as the representative crosses the orbit, times
// (n / d) / k; the quotient's link has the capacity C k d / n, and the representative's own crossings.
//
// That routes repeat is what the platform's builder says; that the links of an orbit have one capacity and latency is
// looked at, and likewise the schedule and the placement. The quotient is a RoutedSchedule of d ranks that works out
// its legs as they are asked for: O(d) per round.

/// Nothing where no such d below the number of ranks is known. O(links + transfers of the pattern + d * rounds).
std::optional<Folding> fold_by_moves(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
