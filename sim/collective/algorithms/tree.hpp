// The two trees of NCCL's double binary tree.
//
// The first alternates leaves and inner ranks, so that every odd rank is a leaf; the second is the first mirrored (an
// even number of ranks) or shifted by one (an odd number), so that no rank but one is an inner rank of both. Sources:
// ncclGetBtree and ncclGetDtree, src/graph/trees.cc of github.com/NVIDIA/nccl; Sanders, Speck and Traeff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009.
#pragma once

#include <vector>

namespace farandole {

struct Tree {
  std::vector<int> parent;  // -1 at the root
  std::vector<int> depth;   // 0 at the root
  std::vector<int> height;  // 0 at the leaves
  int root = 0;
};

/// The tree in which every rank has that parent, and the root -1.
Tree tree_of(std::vector<int> parents);

enum class WhichTree { first, second };

Tree nccl_tree(int ranks, WhichTree which);

}  // namespace farandole
