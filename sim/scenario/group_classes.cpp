#include <algorithm>
#include <map>
#include <set>

#include "scenario/job_clocks.hpp"
#include "simulate/link_loads.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// Nodes with the same links, as fast and as long, have the same number: that of the first of them.
std::vector<int> kinds_of_nodes(const Platform& platform) {
  std::vector<int> firsts;
  std::vector<int> kinds;
  const auto is_alike = [&](int node, int first) {
    const auto at = [&](int of) { return platform.links.begin() + platform.link_of(of, 0); };
    return std::equal(at(node), at(node + 1), at(first), [](const Link& one, const Link& other) {
      return one.capacity == other.capacity && one.latency == other.latency;
    });
  };
  for (int node = 0; node < platform.nodes; ++node) {
    const auto found = std::ranges::find_if(firsts, [&](int first) { return is_alike(node, first); });
    kinds.push_back(found == firsts.end() ? node : *found);
    if (found == firsts.end()) firsts.push_back(node);
  }
  return kinds;
}

/// The switch of a node's first NIC; -1 where there are none.
int switch_of(const Platform& platform, int node) {
  const auto& switches = platform.network.switch_of_nic;
  if (switches.empty()) return -1;
  return switches[static_cast<std::size_t>(node) * (switches.size() / static_cast<std::size_t>(platform.nodes))];
}

/// Of which kinds the nodes of its ranks are, and where from one to the next it leaves a node, and where a switch.
std::vector<int> way_of(const Platform& platform, const Placement& placement, const std::vector<int>& kinds) {
  constexpr int leaves_node = -1;
  constexpr int leaves_switch = -2;
  std::vector<int> way;
  int last = platform.node_of(placement.device_of_rank.front());
  for (const int device : placement.device_of_rank) {
    const int node = platform.node_of(device);
    way.push_back(kinds[static_cast<std::size_t>(node)]);
    if (node != last)
      way.push_back(switch_of(platform, node) == switch_of(platform, last) ? leaves_node : leaves_switch);
    last = node;
  }
  std::ranges::sort(way);
  return way;
}

/// Of so many groups all are laid out; of more only neighbours of one, as laying out a wide network takes long.
constexpr std::size_t few = 64;

}  // namespace

std::vector<std::vector<std::size_t>> classes_of_groups(const Platform& platform,
                                                        const std::vector<Placement>& groups) {
  const std::vector<int> kinds = kinds_of_nodes(platform);
  std::map<std::vector<int>, std::size_t> known;
  std::vector<std::vector<std::size_t>> classes;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto [place, is_new] = known.try_emplace(way_of(platform, groups[group], kinds), classes.size());
    if (is_new) classes.emplace_back();
    classes[place->second].push_back(group);
  }
  return classes;
}

/// Of every size that goes by the same schedule each link has the same share, but for parts of a byte.
const std::vector<double>& JobClocks::shares_of(const Key& key, std::size_t group, const RoutedSchedule& routed,
                                                Bytes size) {
  const Schedule& schedule = routed.schedule();
  const auto [known, is_new] = shares_.try_emplace({key, group, schedule.algorithm, static_cast<int>(schedule.chunks)});
  if (!is_new) return known->second;
  std::vector<double>& shares = known->second;
  shares.assign(routed.capacities().size(), 1);
  const std::vector<Bytes> own = link_bytes(routed, size);
  const std::vector<double>& all = sent_beside(key, group, schedule, size);
  for (std::size_t link = 0; link < platform_.links.size(); ++link) {
    if (own[link] > Bytes(0)) shares[link] = own[link] / size / all[link];
  }
  return shares;
}

/// What all groups, or those with ranks on the nodes of that one, send over each link, for each byte of the collective.
const std::vector<double>& JobClocks::sent_beside(const Key& key, std::size_t group, const Schedule& schedule,
                                                  Bytes size) {
  const auto& placements = placements_.at(key.group);
  const bool are_few = placements.size() <= few;
  const auto [known, is_new] =
      sent_.try_emplace({key, are_few ? 0 : group, schedule.algorithm, static_cast<int>(schedule.chunks)});
  if (!is_new) return known->second;
  std::set<int> nodes;
  for (const int device : placements[group].device_of_rank) nodes.insert(platform_.node_of(device));
  std::vector<double>& all = known->second;
  all.resize(platform_.links.size());
  for (std::size_t other = 0; other < placements.size(); ++other) {
    const bool is_near = std::ranges::any_of(placements[other].device_of_rank,
                                             [&](int device) { return nodes.contains(platform_.node_of(device)); });
    if (!are_few && !is_near) continue;
    const std::vector<Bytes> bytes = link_bytes(route(key, other, size), size);
    for (std::size_t link = 0; link < platform_.links.size(); ++link) all[link] += bytes[link] / size;
  }
  return all;
}

/// Of each group how long its busiest link takes for what all groups send over it; all of them are laid out once.
std::vector<Seconds> JobClocks::busiest_links(const Key& key, Bytes size) {
  std::vector<std::vector<Bytes>> sent;
  std::vector<double> all(platform_.links.size());
  std::vector<BytesPerSecond> capacities(all.size());
  const RoutedSchedule first = route(key, 0, size);
  for (std::size_t group = 0; group < placements_.at(key.group).size(); ++group) {
    const RoutedSchedule own = group == 0 ? first : route(key, group, size);
    sent.push_back(link_bytes(own, size));
    for (std::size_t link = 0; link < all.size(); ++link) {
      if (sent.back()[link] > Bytes(0)) capacities[link] = own.capacities()[link];
      all[link] += sent.back()[link] / size;
    }
    planners_.erase({key, group});  // with what it laid out: most are never asked again
  }
  std::vector<Seconds> busiest;
  for (const std::vector<Bytes>& own : sent) {
    Seconds longest;
    for (std::size_t link = 0; link < all.size(); ++link) {
      if (own[link] > Bytes(0)) longest = std::max(longest, all[link] * size / capacities[link]);
    }
    busiest.push_back(longest);
  }
  sent_.try_emplace({key, 0, first.schedule().algorithm, static_cast<int>(first.schedule().chunks)}, std::move(all));
  return busiest;
}

const std::vector<std::size_t>& JobClocks::alike_of(const Key& key, Bytes size) {
  const auto [known, is_new] = alike_.try_emplace(key);
  if (!is_new) return known->second;
  constexpr double rounding = 1e-6;
  const auto& placements = placements_.at(key.group);
  known->second.resize(placements.size());
  if (placements.size() == 1) return known->second;
  const bool are_compared = placements.size() <= few && scenario_.mechanisms.contention;
  const std::vector<Seconds> busiest = are_compared ? busiest_links(key, size) : std::vector<Seconds>{};
  for (const std::vector<std::size_t>& groups : classes_of_groups(platform_, placements)) {
    std::size_t slowest = groups.front();
    for (const std::size_t group : groups) {
      if (are_compared && busiest[group] > busiest[slowest] * (1 + rounding)) slowest = group;
    }
    for (const std::size_t group : groups) known->second[group] = slowest;
  }
  return known->second;
}

namespace {

/// The ranks of a job as a grid: neighbours that compute layers together, so many of which keep a model together.
struct RankGrid {
  int ranks;
  int tensor;
  int shards;
  int kept;     // of them
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
      case Group::kept:
        return replica / kept * tensor + lane;
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
  const int kept = std::clamp(scenario.strategy.kept, 1, shards);
  return {ranks, tensor, shards, kept, ranks % per_node == 0 ? per_node : ranks, experts};
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

std::optional<Representatives::Meetings> meetings_of(const Scenario& scenario, int ranks) {
  const StrategyChoice& strategy = scenario.strategy;
  const int shards = strategy.shards_of(ranks);
  const bool is_in_turn = shards > 1 && shards < ranks / strategy.replica();  // among replicas, after shards
  if (!is_sharded(strategy) || strategy.kept > 0 || strategy.expert_parallel > 1 || strategy.pipeline > 1 ||
      scenario.folding == FoldingPolicy::never || (strategy.tensor_parallel > 1 && is_in_turn)) {
    return std::nullopt;
  }
  if (strategy.tensor_parallel > 1) {
    return Representatives::Meetings{ranks, std::min(strategy.tensor_parallel, ranks), Group::tensor, true};
  }
  return Representatives::Meetings{ranks, is_in_turn ? shards : ranks, Group::shards, false};
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
