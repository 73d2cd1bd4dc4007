// The least cut of a fat tree into two halves of its nodes.
//
// The half that costs least takes whole subtrees as far as it can, so one half is the first nodes in the order of the
// leaves. All switches of a level that stand over the same leaves are alike and decide alike, so a subtree is on one
// side or on the other as a whole at its top, and what it sends upwards is cut or not:
//   cut(subtree, side) = sum over children of min(cut(child, side), cut(child, other side) + rate upwards of the child)
// Nodes on the other side than their leaf cost their NIC.
#include <algorithm>
#include <numeric>

#include "platform/topologies/fat_tree.hpp"

namespace farandole { inline namespace platform {
namespace {

struct Cut {
  BytesPerSecond first;  // with the top of the subtree on the side of the first nodes
  BytesPerSecond second;
};

BytesPerSecond cut(const std::vector<int>& nodes_of_leaf, const TreeLayout& layout, BytesPerSecond nic,
                   const std::vector<BytesPerSecond>& up, const std::vector<int>& first_nodes) {
  std::vector<Cut> subtrees;
  for (std::size_t leaf = 0; leaf < nodes_of_leaf.size(); ++leaf) {
    const int here = first_nodes[leaf];
    subtrees.push_back({nic * (nodes_of_leaf[leaf] - here), nic * here});
  }
  for (int l = 1; l < layout.height(); ++l) {
    const BytesPerSecond rate = up[static_cast<std::size_t>(l - 1)];
    std::vector<Cut> above(static_cast<std::size_t>(layout.subtrees(l)));
    for (std::size_t child = 0; child < subtrees.size(); ++child) {
      Cut& parent = above[child / static_cast<std::size_t>(layout.level(l).down)];
      parent.first += std::min(subtrees[child].first, subtrees[child].second + rate);
      parent.second += std::min(subtrees[child].second, subtrees[child].first + rate);
    }
    subtrees = std::move(above);
  }
  return std::min(subtrees.front().first, subtrees.front().second);
}

}  // namespace

BytesPerSecond tree_bisection(const std::vector<int>& nodes_of_leaf, const TreeLayout& layout, BytesPerSecond nic,
                              const std::vector<BytesPerSecond>& up, int leaves_per_pod) {
  const int nodes = std::accumulate(nodes_of_leaf.begin(), nodes_of_leaf.end(), 0) / leaves_per_pod;
  BytesPerSecond least = BytesPerSecond::infinity();
  for (const int half : {nodes / 2, nodes - nodes / 2}) {
    std::vector<int> first_nodes;
    int left = half;
    for (std::size_t leaf = 0; leaf < nodes_of_leaf.size(); ++leaf) {
      first_nodes.push_back(std::min(left, nodes_of_leaf[leaf]));
      if ((static_cast<int>(leaf) + 1) % leaves_per_pod == 0) left -= first_nodes.back();
    }
    least = std::min(least, cut(nodes_of_leaf, layout, nic, up, first_nodes));
  }
  return least;
}

}}  // namespace farandole::platform
