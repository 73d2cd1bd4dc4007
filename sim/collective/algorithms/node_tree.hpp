// Allreduce along NCCL's trees: a chain through each node's ranks, the nodes' first ranks on a double binary tree.
//
// Two trees, each for half of the data, pipelined in segments as in algorithms/double_tree.hpp; they differ between
// nodes and are one chain inside. On a single node both are that chain. `segments` is per tree (8 by default). Sources:
// connectTrees and ncclTopoPreset, src/graph/connect.cc of github.com/NVIDIA/nccl.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule node_tree_allreduce(const Shape& shape);

}  // namespace farandole
