#include <algorithm>
#include <utility>

#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

/// The lowest set bit moves up by one; out of range, it is only cleared.
int parent_in_first(int ranks, int rank) {
  if (rank == 0) return -1;
  const int bit = rank & -rank;
  const int up = (rank ^ bit) | (bit << 1);
  return up < ranks ? up : rank ^ bit;
}

int parent_in_second(int ranks, int rank) {
  if (ranks % 2 == 0) {
    const int parent = parent_in_first(ranks, ranks - 1 - rank);
    return parent < 0 ? -1 : ranks - 1 - parent;
  }
  const int parent = parent_in_first(ranks, (rank - 1 + ranks) % ranks);
  return parent < 0 ? -1 : (parent + 1) % ranks;
}

}  // namespace

Tree tree_of(std::vector<int> parents) {
  const std::size_t size = parents.size();
  Tree tree{std::move(parents), std::vector<int>(size, 0), std::vector<int>(size, 0)};
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (tree.parent[rank] < 0) tree.root = static_cast<int>(rank);
    int climbed = 0;
    for (int above = tree.parent[rank]; above >= 0; above = tree.parent[static_cast<std::size_t>(above)]) {
      ++climbed;
      auto& height = tree.height[static_cast<std::size_t>(above)];
      height = std::max(height, climbed);
    }
    tree.depth[rank] = climbed;
  }
  return tree;
}

Tree nccl_tree(int ranks, WhichTree which) {
  std::vector<int> parents;
  for (int rank = 0; rank < ranks; ++rank) {
    parents.push_back(which == WhichTree::first ? parent_in_first(ranks, rank) : parent_in_second(ranks, rank));
  }
  return tree_of(std::move(parents));
}

}}  // namespace farandole::collective
