// The topology kinds "leaf_spine" and "fat_tree": levels of switches, any oversubscription, rails.
//
// A leaf-spine is a fat tree of two levels. NICs of a node are plugged into one leaf, or NIC i into a leaf of rail i:
// rails that are networks of their own ("apart") or that meet in the levels above ("joined").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/topologies/tree_layout.hpp"
#include "platform/topology.hpp"

namespace farandole {

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

NetworkPlan read_leaf_spine(Section& file, const Topology& topology);
NetworkPlan read_fat_tree(Section& file, const Topology& topology);

/// The least cut between two halves of the nodes (platform/bisection.hpp) of a fat tree whose switches of one level are
/// alike. `nodes_of_leaf` has the nodes under each leaf in order, the same for all leaves of a pod; `up` is what one
/// subtree of each level sends upwards.
BytesPerSecond tree_bisection(const std::vector<int>& nodes_of_leaf, const TreeLayout& layout, BytesPerSecond nic,
                              const std::vector<BytesPerSecond>& up, int leaves_per_pod);

}  // namespace farandole
