#include <algorithm>

#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

Tree chained(const Tree& of_nodes, int ranks, int per_node) {
  std::vector<int> parents;
  for (int rank = 0; rank < ranks; ++rank) {
    const int above = of_nodes.parent[static_cast<std::size_t>(rank / per_node)];
    const bool is_first = rank % per_node == 0;
    parents.push_back(is_first ? (above < 0 ? -1 : above * per_node) : rank - 1);
  }
  return tree_of(std::move(parents));
}

}  // namespace

Schedule node_tree_allreduce(const Shape& shape) {
  const int per_node = std::clamp(shape.ranks_per_node, 1, shape.ranks);
  const int nodes = (shape.ranks + per_node - 1) / per_node;
  const auto tree = [&](WhichTree which) { return chained(nccl_tree(nodes, which), shape.ranks, per_node); };
  return two_tree_allreduce("node_tree", shape, tree(WhichTree::first), tree(WhichTree::second));
}

}}  // namespace farandole::collective
