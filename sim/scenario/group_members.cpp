#include <algorithm>
#include <set>

#include "scenario/job_clocks.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// The ranks of a job as a grid: neighbours that compute layers together, so many of which keep a model together.
struct RankGrid {
  int ranks;
  int tensor;
  int shards;
  int node;     // ranks
  int experts;  // replicas that share them

  /// Which group of that kind the rank is in.
  [[nodiscard]] int group_of(int rank, Group group) const {
    const int lane = rank % tensor;
    const int replica = rank / tensor;
    switch (group) {
      case Group::all:
        return lane;
      case Group::tensor:
        return replica;
      case Group::shards:
        return replica / shards * tensor + lane;
      case Group::replicas:
        return replica % shards * tensor + lane;
      case Group::node:
        return rank / node;
      case Group::across:
        return rank % node;
      case Group::experts:
        return replica / experts * tensor + lane;
      case Group::expert_replicas:
        return replica % experts * tensor + lane;
      case Group::neighbours:
        return rank % (ranks / 2);
    }
    return 0;
  }
};

RankGrid grid_of(const Scenario& scenario, const Placement& placement) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  const int tensor = std::min(scenario.strategy.tensor_parallel, ranks);
  const int per_node = placement.ranks_per_node(scenario.platform.platform.devices_per_node);
  // One rank by itself keeps all of it.
  const int shards =
      scenario.strategy.shards == 0 ? ranks / tensor : std::min(scenario.strategy.shards, ranks / tensor);
  const int experts = std::min(scenario.strategy.expert_parallel, ranks / tensor);
  return {ranks, tensor, shards, ranks % per_node == 0 ? per_node : ranks, experts};
}

}  // namespace

std::vector<std::vector<int>> members_of(const Scenario& scenario, Group group, const Placement& placement) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  const RankGrid grid = grid_of(scenario, placement);
  std::vector<std::vector<int>> members;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto number = static_cast<std::size_t>(grid.group_of(rank, group));
    if (members.size() <= number) members.resize(number + 1);
    members[number].push_back(rank);
  }
  return members;
}

Placement placement_of(const Platform& platform, const Placement& all, const std::vector<int>& members) {
  Placement own;
  std::set<int> nodes;
  for (const int rank : members) {
    own.device_of_rank.push_back(all.device_of_rank[static_cast<std::size_t>(rank)]);
    nodes.insert(platform.node_of(own.device_of_rank.back()));
  }
  own.nodes_used = static_cast<int>(nodes.size());
  return own;
}

}}  // namespace farandole::scenario
