// How many nodes stand together in a network: under one leaf of a tree, in one group of a dragonfly.
//
// Called by the catalogue of topology kinds, for placements that go by group. `network` is the file's, already read.
#pragma once

#include "config/document.hpp"

namespace farandole {

int nodes_of_leaf_spine_leaf(const Value& network);
int nodes_of_fat_tree_leaf(const Value& network);
int nodes_of_dragonfly_group(const Value& network);

}  // namespace farandole
