#include <algorithm>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
namespace {

struct Nodes {
  int ranks;
  int per_node;
  [[nodiscard]] int count() const { return (ranks + per_node - 1) / per_node; }
};

/// In every node, local ranks `distance` apart meet, the upper one sending up or the lower one down.
Phase within_nodes(const Nodes& nodes, int distance, Action action) {
  Phase phase{action == Action::reduce ? "reduce_in_node" : "broadcast_in_node", {}};
  for (int rank = 0; rank < nodes.ranks; ++rank) {
    const int local = rank % nodes.per_node;
    const int other = rank + distance;
    if (local % (2 * distance) != 0 || local + distance >= nodes.per_node || other >= nodes.ranks) continue;
    const bool is_up = action == Action::reduce;
    phase.transfers.push_back({is_up ? other : rank, is_up ? rank : other, 0, action, nodes.count()});
  }
  return phase;
}

Phase between_leaders(const Nodes& nodes, const char* name, int first, Action action) {
  const int count = nodes.count();
  Phase phase{name, {}, count - 1, -1};
  for (int node = 0; node < count; ++node) {
    const int next = (node + 1) % count;
    phase.transfers.push_back({node * nodes.per_node, next * nodes.per_node, wrap(node + first, count), action});
  }
  return phase;
}

Schedule through_leaders(const Shape& shape) {
  const Nodes nodes{shape.ranks, shape.ranks_per_node};
  Schedule schedule = blank(Operation::allreduce, "hierarchical", shape, nodes.count());
  std::vector<Phase> down;
  for (int distance = 1; distance < nodes.per_node; distance *= 2) {
    schedule.phases.push_back(within_nodes(nodes, distance, Action::reduce));
    down.push_back(within_nodes(nodes, distance, Action::copy));
  }
  schedule.phases.push_back(between_leaders(nodes, "reduce_scatter_across", -1, Action::reduce));
  schedule.phases.push_back(between_leaders(nodes, "allgather_across", 0, Action::copy));
  schedule.phases.insert(schedule.phases.end(), down.rbegin(), down.rend());
  return schedule;
}

/// Every local rank passes its own blocks on to its like on the next node.
Phase across_nodes(const Nodes& nodes) {
  Phase phase{"allgather_across", {}, nodes.count() - 1};
  phase.row_step = -1;
  for (int rank = 0; rank < nodes.ranks; ++rank) {
    phase.transfers.push_back({rank, wrap(rank + nodes.per_node, nodes.ranks), rank, Action::copy});
  }
  return phase;
}

/// In every node, around a ring of its ranks, what each brought from all nodes.
Phase around_nodes(const Nodes& nodes) {
  Phase phase{"allgather_in_node", {}, nodes.per_node - 1, -1};
  for (int node = 0; node < nodes.count(); ++node) phase.bundle.push_back({node, 0});
  for (int rank = 0; rank < nodes.ranks; ++rank) {
    const int first = rank / nodes.per_node * nodes.per_node;
    const int next = first + (rank - first + 1) % nodes.per_node;
    phase.transfers.push_back({rank, next, rank - first, Action::copy});
  }
  return phase;
}

/// Leaders gather their nodes' blocks, pass them around a ring of leaders, and give all to their nodes.
void gather_through_leaders(const Nodes& nodes, std::vector<Phase>& phases) {
  Phase up{"gather_in_node", {}};
  Phase down{"copy_in_node", {}};
  for (int rank = 0; rank < nodes.ranks; ++rank) {
    const int leader = rank / nodes.per_node * nodes.per_node;
    if (rank == leader) continue;
    up.transfers.push_back({rank, leader, rank, Action::copy});
    down.transfers.push_back({leader, rank, 0, Action::copy, nodes.ranks});
  }
  if (!up.transfers.empty()) phases.push_back(up);
  for (int round = 0; round + 1 < nodes.count(); ++round) {
    Phase phase{"allgather_across", {}};
    for (int node = 0; node < nodes.count(); ++node) {
      const int leader = node * nodes.per_node;
      const int block = wrap(node - round, nodes.count()) * nodes.per_node;
      const int next = (node + 1) % nodes.count() * nodes.per_node;
      const int count = std::min(nodes.per_node, nodes.ranks - block);
      phase.transfers.push_back({leader, next, block, Action::copy, count});
    }
    phases.push_back(std::move(phase));
  }
  if (!down.transfers.empty()) phases.push_back(std::move(down));
}

}  // namespace

Schedule hierarchical_allgather(const Shape& shape) {
  const Nodes nodes{shape.ranks, std::clamp(shape.ranks_per_node, 1, shape.ranks)};
  const bool even = nodes.ranks % nodes.per_node == 0;
  Schedule schedule = blank(Operation::allgather, "hierarchical", shape, shape.ranks, even ? nodes.count() : 1);
  if (!even) {
    gather_through_leaders(nodes, schedule.phases);
    return schedule;
  }
  if (nodes.count() > 1) schedule.phases.push_back(across_nodes(nodes));
  if (nodes.per_node > 1) schedule.phases.push_back(around_nodes(nodes));
  return schedule;
}

Schedule hierarchical_allreduce(const Shape& shape) {
  const int per_node = std::clamp(shape.ranks_per_node, 1, shape.ranks);
  if (shape.ranks % per_node == 0) return grid_rings("hierarchical", shape, per_node);
  return through_leaders(shape);
}

}}  // namespace farandole::collective
