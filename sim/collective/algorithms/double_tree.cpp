#include <algorithm>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

int segments_of(const Shape& shape) {
  return shape.segments > 0 ? shape.segments : 8;
}

/// One segment after the other; tree t's are row t of the chunks.
Phase pipeline(const char* name, int segments) {
  Phase phase{name, {}, 1, 1};
  phase.window = segments;
  return phase;
}

void add(Phase& phase, const Transfer& transfer) {
  phase.transfers.push_back(transfer);
  phase.repeats = std::max(phase.repeats, repeats_of(Count(transfer.start) + phase.window));
}

/// A rank sends up when its children have, which takes as many rounds as it stands high; then the root sends down.
void reduce_and_broadcast(Phase& phase, const Tree& tree, Chunk chunk) {
  const int turn = tree.height[static_cast<std::size_t>(tree.root)];
  for (std::size_t rank = 0; rank < tree.parent.size(); ++rank) {
    const int parent = tree.parent[rank];
    if (parent < 0) continue;
    const int child = static_cast<int>(rank);
    add(phase, {child, parent, chunk, Action::reduce, 1, tree.height[rank]});
    add(phase, {parent, child, chunk, Action::copy, 1, turn + tree.depth[rank] - 1});
  }
}

/// Member m of the tree is the m-th rank after the root.
void broadcast_from(Phase& phase, const Tree& tree, Chunk chunk, const Shape& shape) {
  const auto rank_of = [&](int member) { return (shape.root + 1 + member) % shape.ranks; };
  add(phase, {shape.root, rank_of(tree.root), chunk, Action::copy, 1, 0});
  for (std::size_t member = 0; member < tree.parent.size(); ++member) {
    if (tree.parent[member] < 0) continue;
    add(phase,
        {rank_of(tree.parent[member]), rank_of(static_cast<int>(member)), chunk, Action::copy, 1, tree.depth[member]});
  }
}

}  // namespace

Schedule two_tree_allreduce(const std::string& algorithm, const Shape& shape, const Tree& first, const Tree& second) {
  const int segments = segments_of(shape);
  Schedule schedule = blank(Operation::allreduce, algorithm, shape, 2 * Chunk(segments), 2);
  if (shape.ranks == 1) return schedule;
  Phase phase = pipeline("reduce_and_broadcast", segments);
  reduce_and_broadcast(phase, first, 0);
  reduce_and_broadcast(phase, second, segments);
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

Schedule double_tree_allreduce(const Shape& shape) {
  return two_tree_allreduce("double_tree", shape, nccl_tree(shape.ranks, WhichTree::first),
                            nccl_tree(shape.ranks, WhichTree::second));
}

Schedule double_tree_broadcast(const Shape& shape) {
  const int segments = segments_of(shape);
  Schedule schedule = blank(Operation::broadcast, "double_tree", shape, 2 * Chunk(segments), 2);
  if (shape.ranks == 1) return schedule;
  Phase phase = pipeline("broadcast", segments);
  broadcast_from(phase, nccl_tree(shape.ranks - 1, WhichTree::first), 0, shape);
  broadcast_from(phase, nccl_tree(shape.ranks - 1, WhichTree::second), segments, shape);
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

}}  // namespace farandole::collective
