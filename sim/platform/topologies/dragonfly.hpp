// The topology kind "dragonfly": groups of routers that are all joined to one another, as Cray's Aries builds them.
//
// A group is a grid of chassis and slots. Routers of one chassis are all joined (rank 1), routers of one slot in all
// chassis are all joined by bundles (rank 2), and every two groups are joined by optical links (rank 3) that start at
// as many different routers as they can (Alverson, Froese, Kaplan, Roweth: Cray XC Series Network, WP-Aries01-1112).
#pragma once

#include <cstdint>
#include <functional>

#include "platform/topology.hpp"

namespace farandole::inline platform {

/// Where everything stands, with numbers alone. Routers are numbered group by group, chassis by chassis.
struct DragonflyLayout {
  int groups = 1;
  int chassis = 1;  // of a group
  int slots = 1;    // routers of a chassis
  int between = 1;  // rank-3 links of every two groups
  int minimal = 1;  // paths of every pair that are as short as can be, and such that go by a router chosen at random
  int non_minimal = 0;
  std::uint64_t seed = 1;

  [[nodiscard]] int routers_of_group() const { return chassis * slots; }
  [[nodiscard]] int routers() const { return groups * routers_of_group(); }
  [[nodiscard]] int group_of(int router) const { return router / routers_of_group(); }
  /// The router of `group` at which its link number `index` to group `other` ends.
  [[nodiscard]] int gateway(int group, int other, int index) const;

  /// Calls `visit(from, to, rank)` for every cable, in the order in which links are numbered; `from` is below `to`.
  void for_each_cable(const std::function<void(int from, int to, int rank)>& visit) const;

  /// Cables twice their number, one more against their direction: links counted from the first.
  [[nodiscard]] Paths paths(int from, int to) const;

 private:
  struct Step {
    int link;
    int router;
  };
  using Walk = std::vector<Step>;

  [[nodiscard]] int cables_of_group() const;
  [[nodiscard]] Step step_within(int from, int to) const;
  [[nodiscard]] Step step_between(int from_group, int to_group, int index) const;
  void walk_within(Walk& walk, int from, int to, std::uint64_t choice) const;
  void walk_shortest(Walk& walk, int from, int to, std::uint64_t choice) const;
  [[nodiscard]] Walk walk_by(int from, int to, std::uint64_t choice) const;
  [[nodiscard]] int midway(int from, int to, std::uint64_t choice) const;
};

NetworkPlan read_dragonfly(Section& file, const Topology& topology);

}  // namespace farandole::inline platform
