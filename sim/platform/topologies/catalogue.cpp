// The catalogue of topology kinds: one row per file of this folder that builds one.
#include <array>

#include "platform/sections.hpp"
#include "platform/topologies/dragonfly.hpp"
#include "platform/topologies/fat_tree.hpp"
#include "platform/topologies/graph.hpp"
#include "platform/topologies/kinds.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {
namespace {

// How many nodes stand together in a network, under one leaf or in one group: of a file's, which has been read.

int nodes_of_leaf_spine_leaf(const Value& network) {
  Section section(network);
  return read_positive(section, "nodes_per_leaf", 1);
}

int nodes_of_fat_tree_leaf(const Value& network) {
  Section section(network);
  Section leaf(section.child("levels").elements().front());
  return read_positive(leaf, "down", 1);
}

int nodes_of_dragonfly_group(const Value& network) {
  Section section(network);
  return read_positive(section, "chassis_per_group", 1) * read_positive(section, "routers_per_chassis", 1) *
         read_positive(section, "nodes_per_router", 1);
}

}  // namespace

std::span<const Entry<TopologyKind>> topology_kinds() {
  static const std::array<Entry<TopologyKind>, 6> table{{
      {"star", "nodes around one non-blocking switch", {read_star}},
      {"leaf_spine",
       "leaf switches, all joined by spine switches; oversubscription, rails",
       {read_leaf_spine, nodes_of_leaf_spine_leaf}},
      {"fat_tree",
       "switches in any number of levels; oversubscription, rails",
       {read_fat_tree, nodes_of_fat_tree_leaf}},
      {"dragonfly",
       "groups of routers, all joined, as Cray Aries; adaptive over shortest and other ways",
       {read_dragonfly, nodes_of_dragonfly_group}},
      {"torus", "routers in a grid of any dimensions, each joined to its neighbours", {read_torus}},
      {"graph", "hosts, switches and cables listed one by one, or in a Graphviz or SimGrid file", {read_graph}},
  }};
  return table;
}

}}  // namespace farandole::platform
