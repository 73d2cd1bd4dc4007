#include "platform/sections.hpp"
#include "platform/topologies/kinds.hpp"

namespace farandole { inline namespace platform {

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

}}  // namespace farandole::platform
