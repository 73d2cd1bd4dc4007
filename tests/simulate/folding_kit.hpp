// Platforms, placements and schedules for the tests of folding: symmetric, nearly so and not at all.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "simulate/folding/fold.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::test {

/// Nodes under leaf switches under one spine. Each node has `devices` on its NIC's vertex; leaves reach the spine over
/// one link each way. A leaf-spine is 2:1 when that is half of what its NICs carry.
inline Platform leaf_spine(int leaves, int nodes_per_leaf, int devices, BytesPerSecond nic, BytesPerSecond uplink) {
  Platform platform = nodes_of(leaves * nodes_per_leaf, devices, 4 * nic, nic, 2_us);
  for (Link& link : platform.links) link.latency = 1_us;
  const int first = platform.first_network_link();
  for (int leaf = 0; leaf < leaves; ++leaf) {
    platform.links.push_back({"leaf up", uplink, 1_us, uplink});
    platform.links.push_back({"leaf down", uplink, 1_us, uplink});
  }
  platform.network.alike_after = nodes_per_leaf;
  platform.network.paths = [=](int from, int to) -> Paths {
    const int sender = from / nodes_per_leaf;
    const int receiver = to / nodes_per_leaf;
    if (sender == receiver) return {{}};
    return {{first + 2 * sender, first + 2 * receiver + 1}};
  };
  return platform;
}

/// The same with several spines, over which all that leaves a leaf is split evenly.
inline Platform split_leaf_spine(int leaves, int nodes_per_leaf, int devices, BytesPerSecond nic, BytesPerSecond uplink,
                                 int spines) {
  Platform platform = leaf_spine(leaves * spines, 1, devices, nic, uplink);  // for so many uplinks
  Platform nodes = nodes_of(leaves * nodes_per_leaf, devices, 4 * nic, nic, 2_us);
  const int first = nodes.first_network_link();
  nodes.links.insert(nodes.links.end(), platform.links.begin() + platform.first_network_link(), platform.links.end());
  nodes.network.alike_after = nodes_per_leaf;
  nodes.network.paths = [=](int from, int to) -> Paths {
    const int sender = from / nodes_per_leaf;
    const int receiver = to / nodes_per_leaf;
    if (sender == receiver) return {{}};
    Paths paths;
    for (int spine = 0; spine < spines; ++spine) {
      paths.push_back({first + 2 * (sender * spines + spine), first + 2 * (receiver * spines + spine) + 1});
    }
    return paths;
  };
  return nodes;
}

/// Every path with `change` done to its links.
inline Paths changed(Paths paths, const std::function<int(int)>& change) {
  for (Path& path : paths) std::ranges::transform(path, path.begin(), change);
  return paths;
}

/// Every pair of links that belong to one cable becomes one link that both directions share.
inline Platform half_duplex(Platform platform) {
  const auto upward = [](int link) { return link / 2 * 2; };
  for (auto* ways : {&platform.node.between, &platform.node.to_nic, &platform.node.from_nic}) {
    for (Paths& way : *ways) way = changed(way, upward);
  }
  platform.network.paths = [upward, paths = platform.network.paths](int from, int to) {
    return changed(paths(from, to), upward);
  };
  return platform;
}

/// All cables between switches become one: a route from one to another crosses it twice.
inline Platform hub(Platform platform) {
  const int only = platform.first_network_link();
  platform.network.paths = [only, paths = platform.network.paths](int from, int to) {
    return changed(paths(from, to), [only](int) { return only; });
  };
  return platform;
}

using Random = std::mt19937_64;

inline int draw(Random& random, int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(random);
}

inline Placement shuffled(Random& random, int ranks, int devices) {
  Placement placement = in_order(devices);
  std::ranges::shuffle(placement.device_of_rank, random);
  placement.device_of_rank.resize(static_cast<std::size_t>(ranks));
  return placement;
}

/// For timing only: who sends to whom, a chunk of its own each.
inline Schedule schedule_of(const char* algorithm, int ranks, std::vector<Phase> phases) {
  return {Operation::allreduce, algorithm, ranks, ranks, std::move(phases)};
}

/// Everybody sends to everybody else at once: several sends of one rank share its links.
inline Schedule all_at_once(int ranks) {
  Phase phase{"exchange", {}, 2, 0};
  for (int from = 0; from < ranks; ++from) {
    for (int step = 1; step < ranks; ++step) phase.transfers.push_back({from, (from + step) % ranks, from});
  }
  return schedule_of("all_at_once", ranks, {phase});
}

/// Rounds of exchange with the rank whose number differs in one bit; ranks without such a partner sit out.
inline Schedule exchange_by_bits(int ranks) {
  std::vector<Phase> phases;
  for (int bit = 1; bit < ranks; bit *= 2) {
    Phase& phase = phases.emplace_back(Phase{"bit", {}, 1, 0});
    for (int rank = 0; rank < ranks; ++rank) {
      if ((rank ^ bit) < ranks) phase.transfers.push_back({rank, rank ^ bit, rank});
    }
  }
  return schedule_of("exchange_by_bits", ranks, std::move(phases));
}

/// All to rank 0 at once, and back: a parameter server.
inline Schedule through_one(int ranks) {
  std::vector<Phase> phases{{"push", {}, 3, 0}, {"pull", {}, 3, 0}};
  for (int rank = 1; rank < ranks; ++rank) {
    phases[0].transfers.push_back({rank, 0, rank});
    phases[1].transfers.push_back({0, rank, rank});
  }
  return schedule_of("through_one", ranks, std::move(phases));
}

/// Pairs exchange, their first members run a ring, pairs exchange: most ranks sit out the middle.
inline Schedule ring_of_pairs(int ranks) {
  std::vector<Phase> phases{{"within", {}, 2, 0}, {"between", {}, ranks, 0}, {"again", {}, 3, 0}};
  const int pairs = ranks / 2;
  for (int pair = 0; pair < pairs; ++pair) {
    const int first = 2 * pair;
    phases[0].transfers.push_back({first + 1, first, first});
    if (pairs > 1) phases[1].transfers.push_back({first, 2 * ((pair + 1) % pairs), first});
    phases[2].transfers.push_back({first, first + 1, first});
  }
  return schedule_of("ring_of_pairs", ranks, std::move(phases));
}

/// A ring of which every rank also sends to the one three further on.
inline Schedule braided_rings(int ranks) {
  Schedule schedule = ring_allreduce(ranks);
  for (Phase& phase : schedule.phases) {
    for (int rank = 0; rank < ranks && ranks > 3; ++rank) phase.transfers.push_back({rank, (rank + 3) % ranks, rank});
  }
  return schedule;
}

/// The schedules that every test of folding goes through: some odd ones, and all of the catalogue that fold.
using ScheduleOf = std::function<Schedule(int ranks)>;
inline const std::vector<ScheduleOf>& schedules_to_fold() {
  static const std::vector<ScheduleOf> schedules = [] {
    std::vector<ScheduleOf> list{all_at_once, exchange_by_bits, through_one, ring_of_pairs, braided_rings};
    for (const Algorithm& row : algorithms()) {
      const auto build = row.build;
      if (!is_foldable(build(Shape(6)))) continue;
      list.emplace_back([build](int ranks) {
        Shape shape(ranks);
        shape.ranks_per_node = 2;
        return build(shape);
      });
    }
    return list;
  }();
  return schedules;
}

}  // namespace farandole::test
