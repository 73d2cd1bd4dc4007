// Which links the moves of all ranks take into one another, for folding by moves.
//
// Used by simulate/folding/shift.cpp alone. A node's own links move with it; how those of the network move is read off
// the routes of the moved pairs: position by position, a route's links become those of the moved route.
#pragma once

#include <vector>

#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/folding/moves.hpp"

namespace farandole {

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

}  // namespace farandole
