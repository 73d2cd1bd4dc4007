// The topology kind "dragonfly": groups of routers that are all joined to one another, as Cray's Aries builds them.
//
// A group is a grid of chassis and slots. Routers of one chassis are all joined (rank 1), routers of one slot in all
// chassis are all joined by bundles (rank 2), and every two groups are joined by optical links (rank 3) that start at
// as many different routers as they can (Alverson, Froese, Kaplan, Roweth: Cray XC Series Network, WP-Aries01-1112).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

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
  /// All shortest ways between two routers of a group.
  [[nodiscard]] Paths shortest_within(int from, int to) const;
  /// Of the links of a group.
  [[nodiscard]] bool is_of_rank_one(int link) const;

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

/// What packets of a platform's dragonfly choose between; adds the links over which they spread.
class DragonflyChoice {
 public:
  /// The cables' links begin at `first_link`.
  DragonflyChoice(const DragonflyLayout& layout, int nodes_per_router, int first_link, Platform& platform);

  [[nodiscard]] WayChoice between(int from_router, int to_router) const;

 private:
  class Bundler;
  /// Links of the platform, -1 where there are none.
  struct OfGroup {
    std::array<int, 2> rank{-1, -1};
    int out = -1;
    int in = -1;
  };
  void add_local(const std::vector<std::array<std::vector<int>, 2>>& links, Bundler& bundler);
  void add_optical(const std::vector<std::vector<int>>& links, Bundler& bundler);
  [[nodiscard]] const OfGroup& of(int group) const { return groups_[static_cast<std::size_t>(group)]; }
  [[nodiscard]] WayChoice within(int from, int to) const;
  static void cross(Path& path, int link, int times);
  static void walk(Path& path, const OfGroup& where, int times);
  void leave(Path& path, int from_group, int to_group, int optical_hops) const;

  DragonflyLayout layout_;
  int first_link_;
  std::vector<OfGroup> groups_;
  OfGroup transit_;           // through groups that are neither the sender's nor the receiver's
  std::vector<int> between_;  // from group * groups + to group
  int all_ = -1;              // optical hops
};

NetworkPlan read_dragonfly(Section& file, const Topology& topology, const TextReader& text);

}}  // namespace farandole::platform
