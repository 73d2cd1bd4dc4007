// The topology kinds "leaf_spine" and "fat_tree": levels of switches, any oversubscription, rails.
//
// A leaf-spine is a fat tree of two levels. NICs of a node are plugged into one leaf, or NIC i into a leaf of rail i:
// rails that are networks of their own ("apart") or that meet in the levels above ("joined").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/link.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

// Where everything stands in a fat tree of any number of levels, with numbers alone: switches, cables, ways.
//
// A parallel-ports generalised fat tree (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations
// on real life fat trees", CCIT report 776, 2010). Level 0 are the leaves. A switch of level l is (subtree, plane): all
// subtrees of a level are alike, and a subtree has planes(l) switches at its top. It has `down` children below, and
// every switch of level l - 1 has `up` parents in level l, each over `cables` cables. Called by
// topologies/fat_tree.cpp.

enum class TreeRouting : std::uint8_t {
  ecmp,     // by a hash of the pair
  d_mod_k,  // by the destination's number
  spread    // all of the shortest ways at once, in equal shares
};

struct TreeLayout {
  struct Level {
    int down = 1;    // nodes of a leaf; below any other, switches of the level beneath
    int up = 1;      // parents of each switch of the level beneath; ignored for leaves
    int cables = 1;  // to each of these parents
  };
  std::vector<Level> levels;
  int leaves = 1;
  TreeRouting routing = TreeRouting::ecmp;
  std::uint64_t seed = 1;

  [[nodiscard]] int height() const { return static_cast<int>(levels.size()); }
  [[nodiscard]] const Level& level(int l) const { return levels[static_cast<std::size_t>(l)]; }
  /// Leaves under one subtree of level `l`.
  [[nodiscard]] int leaves_below(int l) const { return product_up_to(l, &Level::down); }
  [[nodiscard]] int subtrees(int l) const { return leaves / leaves_below(l); }
  /// Switches at the top of one subtree.
  [[nodiscard]] int planes(int l) const { return product_up_to(l, &Level::up); }
  /// Cables that are links of their own between a switch of level l - 1 and one parent.
  [[nodiscard]] int lanes(int l) const { return routing == TreeRouting::spread ? 1 : level(l).cables; }

  [[nodiscard]] int switch_index(int l, int subtree, int plane) const;
  /// Of the cable from a switch of level `l` to its parent number `up`.
  [[nodiscard]] int cable_index(int l, int subtree, int plane, int up, int lane) const;
  [[nodiscard]] int all_switches() const { return switch_index(height(), 0, 0); }
  [[nodiscard]] int all_cables() const { return cable_index(height() - 1, 0, 0, 0, 0); }

  /// Ends of a flow: their leaves, and the numbers that routing goes by.
  struct Flow {
    int from_leaf = 0;
    int to_leaf = 0;
    int from = 0;
    int to = 0;
  };
  /// Cables twice their index on the way up, and once more plus one on the way down: links counted from the first.
  [[nodiscard]] Paths paths(const Flow& flow) const;

 private:
  [[nodiscard]] int product_up_to(int l, int Level::*factor) const;
  [[nodiscard]] Path path(const Flow& flow, int top, int plane) const;
  [[nodiscard]] int chosen_plane(const Flow& flow, int top) const;
  [[nodiscard]] int chosen_port(const Flow& flow, int l) const;
  [[nodiscard]] int chosen_lane(const Flow& flow, int l, bool upwards) const;
};

enum class Rails : std::uint8_t { none, apart, joined };

struct FatTree {
  struct Level {
    std::string name;
    std::optional<int> down;  // TreeLayout::Level; the uppermost has as many as are needed, unless it says
    int up = 1;
    int cables = 1;
    Topology::LinkRate link;  // to the level beneath; ignored for leaves
    int ports = 0;
  };
  std::vector<Level> levels;
  Rails rails = Rails::none;
  TreeRouting routing = TreeRouting::ecmp;
  std::uint64_t seed = 1;
};

NetworkPlan plan_of(FatTree tree);

NetworkPlan read_leaf_spine(Section& file, const Topology& topology, const TextReader& text);
NetworkPlan read_fat_tree(Section& file, const Topology& topology, const TextReader& text);

}}  // namespace farandole::platform
