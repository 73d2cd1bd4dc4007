#include <algorithm>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Members are counted from the root on; member 0 is the root.
Tree tree_where(int ranks, int (*parent)(int member)) {
  std::vector<int> parents{-1};
  for (int member = 1; member < ranks; ++member) parents.push_back(parent(member));
  return tree_of(std::move(parents));
}

int root_itself(int /*member*/) {
  return 0;
}

/// Level l has members 2^l - 1 .. 2^(l+1) - 2; they are dealt to the level above in turn.
int binary_parent(int member) {
  int first = 1;
  while (2 * first + 1 <= member) first = 2 * first + 1;
  const int above = (first - 1) / 2;
  return above + (member - first) % (above + 1);
}

/// The lowest digit to base 4 that is not zero becomes zero.
int knomial_parent(int member) {
  int place = 4;
  while (member % place == 0) place *= 4;
  return member - member % place;
}

/// Downwards a level a round; upwards every member sends in the round after its own subtree's last, a leaf in the
/// first.
Schedule along(Operation operation, const char* algorithm, const Shape& shape, const Tree& tree) {
  const bool is_up = operation == Operation::reduce;
  Schedule schedule = blank(operation, algorithm, shape, 1);
  const int levels = *std::ranges::max_element(tree.depth);
  for (int round = 0; round < levels; ++round) {
    Phase phase{is_up ? "up" : "down", {}};
    for (int member = 1; member < shape.ranks; ++member) {
      const auto index = static_cast<std::size_t>(member);
      if ((is_up ? tree.height[index] : tree.depth[index] - 1) != round) continue;
      const int far = (shape.root + member) % shape.ranks;
      const int near = (shape.root + tree.parent[static_cast<std::size_t>(member)]) % shape.ranks;
      phase.transfers.push_back(is_up ? Transfer{far, near, 0, Action::reduce} : Transfer{near, far, 0, Action::copy});
    }
    schedule.phases.push_back(std::move(phase));
  }
  return schedule;
}

}  // namespace

Schedule direct_broadcast(const Shape& shape) {
  return along(Operation::broadcast, "direct", shape, tree_where(shape.ranks, root_itself));
}

Schedule direct_reduce(const Shape& shape) {
  return along(Operation::reduce, "direct", shape, tree_where(shape.ranks, root_itself));
}

Schedule binary_broadcast(const Shape& shape) {
  return along(Operation::broadcast, "binary", shape, tree_where(shape.ranks, binary_parent));
}

Schedule binary_reduce(const Shape& shape) {
  return along(Operation::reduce, "binary", shape, tree_where(shape.ranks, binary_parent));
}

/// Odd members are left, below member 1, and get the first half; even ones the second. Neighbours then exchange.
Schedule split_binary_broadcast(const Shape& shape) {
  Schedule schedule = binary_broadcast(shape);
  schedule.algorithm = "split_binary";
  schedule.chunks = 2;
  const auto member_of = [&](int rank) { return (rank - shape.root + shape.ranks) % shape.ranks; };
  for (Phase& phase : schedule.phases) {
    for (Transfer& transfer : phase.transfers) transfer.chunk = member_of(transfer.to) % 2 == 1 ? 0 : 1;
  }
  Phase exchange{"exchange", {}};
  const auto send = [&](int from, int to, Chunk half) {
    const auto rank = [&](int member) { return (shape.root + member) % shape.ranks; };
    exchange.transfers.push_back({rank(from), rank(to), half, Action::copy});
  };
  for (int left = 1; left + 1 < shape.ranks; left += 2) {
    send(left, left + 1, 0);
    send(left + 1, left, 1);
  }
  if (shape.ranks % 2 == 0) send(0, shape.ranks - 1, 1);
  if (shape.ranks > 1) schedule.phases.push_back(std::move(exchange));
  return schedule;
}

Schedule knomial_broadcast(const Shape& shape) {
  return along(Operation::broadcast, "knomial", shape, tree_where(shape.ranks, knomial_parent));
}

}}  // namespace farandole::collective
