#include "simulate/way_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "simulate/link_loads.hpp"

namespace farandole { inline namespace simulate {
namespace {

struct Crossing {
  std::size_t link;
  double times;
};
using Crossings = std::vector<Crossing>;

Crossings crossings_of_route(const Route& route) {
  Crossings crossings;
  for_each_listed(route.links, [&](int link, int times) {
    crossings.push_back({as_index(link), static_cast<double>(times) / route.paths});
  });
  return crossings;
}

/// Both in the order of links.
Crossings crossed_more_often(const Crossings& one, const Crossings& other) {
  Crossings result;
  auto at = other.begin();
  for (const Crossing& crossing : one) {
    while (at != other.end() && at->link < crossing.link) ++at;
    const bool meet = at != other.end() && at->link == crossing.link;
    if (!meet || crossing.times > at->times) result.push_back(crossing);
  }
  return result;
}

struct Pair {
  bool chooses = false;
  double demand = 0;
  double share = 1;
  Crossings minimal;
  Crossings other;
  Crossings of_minimal;  // those that it crosses more often than the other, and the other way round
  Crossings of_other;
};

class Splitter {
 public:
  Splitter(const std::vector<RouteChoice>& choices, std::span<const BytesPerSecond> capacities, std::size_t first)
      : capacities_(capacities), loads_(capacities.size()) {
    pairs_.reserve(choices.size());
    for (const RouteChoice& choice : choices) add(choice);
    demand(first);
  }

  std::vector<int> parts() {
    constexpr int most_steps = 64;
    for (int step = 0; step < most_steps && balance(); ++step) {
    }
    std::vector<int> parts;
    parts.reserve(pairs_.size());
    for (const Pair& pair : pairs_) parts.push_back(static_cast<int>(std::floor(pair.share * choice_parts + 1e-6)));
    return parts;
  }

 private:
  void add(const RouteChoice& choice) {
    Pair& pair = pairs_.emplace_back();
    pair.minimal = crossings_of_route(choice.minimal);
    pair.chooses = choice.other.paths > 0;
    if (!pair.chooses) return;
    pair.other = crossings_of_route(choice.other);
    pair.of_minimal = crossed_more_often(pair.minimal, pair.other);
    pair.of_other = crossed_more_often(pair.other, pair.minimal);
  }

  /// What its ends let through of each, with its share of what all send there.
  void demand(std::size_t first_network_link) {
    for (const Pair& pair : pairs_) load(pair.minimal, 1);
    for (Pair& pair : pairs_) {
      double most = INFINITY;
      for (const auto& [link, times] : pair.minimal) {
        if (link < first_network_link) most = std::min(most, capacities_[link].si() / loads_[link]);
      }
      pair.demand = std::isinf(most) ? 1 : most;
    }
  }

  void load(const Crossings& crossings, double rate) {
    for (const auto& [link, times] : crossings) loads_[link] += rate * times;
  }

  [[nodiscard]] double fullness(const Crossings& crossings) const {
    double most = 0;
    for (const auto& [link, times] : crossings) most = std::max(most, loads_[link] / capacities_[link].si());
    return most;
  }

  /// One step towards shares that no pair would change; false where there is nothing to change.
  bool balance() {
    constexpr double tolerance = 1e-4;
    std::ranges::fill(loads_, 0);
    for (const Pair& pair : pairs_) {
      load(pair.minimal, pair.demand * pair.share);
      if (pair.chooses) load(pair.other, pair.demand * (1 - pair.share));
    }
    bool changed = false;
    for (Pair& pair : pairs_) {
      if (!pair.chooses) continue;
      const double minimal = fullness(pair.of_minimal);
      const double other = fullness(pair.of_other);
      // Half the way, in logarithms, because others change theirs as well.
      if (minimal > std::max(1.0, other) * (1 + tolerance)) {
        pair.share *= std::sqrt(std::max(1.0, other) / minimal);
        changed = true;
      } else if (pair.share < 1 && other > std::max(1.0, minimal) * (1 + tolerance)) {
        pair.share = 1 - (1 - pair.share) * std::sqrt(std::max(1.0, minimal) / other);
        changed = true;
      }
    }
    return changed;
  }

  std::span<const BytesPerSecond> capacities_;
  std::vector<double> loads_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::vector<int> minimal_parts(const std::vector<RouteChoice>& pairs, std::span<const BytesPerSecond> capacities,
                               int first_network_link) {
  return Splitter(pairs, capacities, as_index(first_network_link)).parts();
}

std::vector<bool> never_full(const Platform& platform, const Placement& placement,
                             std::span<const BytesPerSecond> capacities) {
  struct Ends {
    BytesPerSecond up;
    BytesPerSecond down;
  };
  std::vector<bool> never(platform.links.size(), false);
  std::map<int, Ends> nodes;
  for (const int device : placement.device_of_rank) {
    const auto [node, is_new] = nodes.try_emplace(platform.node_of(device));
    if (!is_new) continue;
    for (const NodeTemplate::Nic& nic : platform.node.nics) {
      if (nic.up < 0 || nic.down < 0) return never;  // nothing there limits what is sent
      node->second.up += platform.links[as_index(platform.link_of(node->first, nic.up))].capacity;
      node->second.down += platform.links[as_index(platform.link_of(node->first, nic.down))].capacity;
    }
  }
  for (const Bundle& bundle : platform.network.bundles) {
    BytesPerSecond most;
    const auto end = nodes.lower_bound(bundle.end_node);
    for (auto node = nodes.lower_bound(bundle.first_node); node != end; ++node) {
      most += node->second.up * bundle.by_sent + node->second.down * bundle.by_received;
    }
    const Link& link = platform.links[as_index(bundle.link)];
    never[as_index(bundle.link)] = most <= capacities[as_index(bundle.link)] && link.congestion == nullptr;
  }
  return never;
}

void leave_out_never_full(const std::map<std::pair<int, int>, double>& most, const Platform& platform,
                          std::span<const BytesPerSecond> capacities, std::vector<bool>& never) {
  std::map<int, BytesPerSecond> rates;
  for (const auto& [where, times] : most) {
    const auto& [link, node] = where;
    for (const NodeTemplate::Nic& nic : platform.node.nics) {
      if (nic.up < 0) return;  // nothing there limits what is sent
      rates[link] += platform.links[as_index(platform.link_of(node, nic.up))].capacity * times;
    }
  }
  for (const auto& [link, rate] : rates) {
    const auto index = as_index(link);
    if (rate <= capacities[index] && platform.links[index].congestion == nullptr) never[index] = true;
  }
}

namespace {

/// As `direct_alltoall` has it: rank r to r + 1, r + 2, ... in one round.
bool is_even_exchange(const Schedule& schedule) {
  if (schedule.phases.size() != 1 || !schedule.weights.empty()) return false;
  const Phase& phase = schedule.phases.front();
  const bool is_one_round = phase.repeats == 1 && phase.window == 0 && !phase.one_by_one && phase.bundle.empty();
  if (!is_one_round || phase.peer_step != 1 || phase.fan != schedule.ranks - 1) return false;
  if (std::ssize(phase.transfers) != schedule.ranks) return false;
  std::vector<bool> sends(as_index(schedule.ranks), false);
  for (const Transfer& transfer : phase.transfers) {
    const bool alike = transfer.count == phase.transfers.front().count && transfer.start == 0 &&
                       transfer.to == (transfer.from + 1) % schedule.ranks;
    if (!alike || sends[as_index(transfer.from)]) return false;
    sends[as_index(transfer.from)] = true;
  }
  return true;
}

/// The nodes that have ranks; nothing where one has ranks on some of its devices only.
std::optional<std::vector<int>> full_nodes(const Platform& platform, const Placement& placement) {
  std::vector<int> devices = placement.device_of_rank;
  std::ranges::sort(devices);
  const int each = platform.devices_per_node;
  if (devices.size() % as_index(each) != 0 || std::ranges::adjacent_find(devices) != devices.end()) return std::nullopt;
  std::vector<int> nodes;
  for (std::size_t first = 0; first < devices.size(); first += as_index(each)) {
    nodes.push_back(platform.node_of(devices[first]));
    if (platform.node_of(devices[first + as_index(each) - 1]) != nodes.back()) return std::nullopt;
  }
  return nodes;
}

bool is_like(const Platform& platform, std::span<const BytesPerSecond> capacities, int node, int other) {
  for (int offset = 0; offset < static_cast<int>(platform.node.links.size()); ++offset) {
    const std::size_t here = as_index(platform.link_of(node, offset));
    const std::size_t there = as_index(platform.link_of(other, offset));
    if (capacities[here] != capacities[there] || platform.links[here].latency != platform.links[there].latency)
      return false;
  }
  return true;
}

bool has_one_switch(const Platform& platform, int node) {
  const std::size_t nics = platform.node.nics.size();
  const auto plugged_in = std::span(platform.network.switch_of_nic).subspan(as_index(node) * nics, nics);
  return std::ranges::adjacent_find(plugged_in, std::ranges::not_equal_to()) == plugged_in.end();
}

bool is_plain_platform(const Platform& platform) {
  if (platform.network.switch_of_nic.empty() || !platform.has_plain_links()) return false;
  if (platform.first_network_link() == static_cast<int>(platform.links.size())) return false;
  const auto network = std::span(platform.links).subspan(as_index(platform.first_network_link()));
  return std::ranges::all_of(network, [](const Link& link) { return link.latency == Seconds(0); });
}

/// What a node sends to all others together at most, or receives.
BytesPerSecond most_of(const Platform& platform, std::span<const BytesPerSecond> capacities, int node) {
  BytesPerSecond up;
  BytesPerSecond down;
  for (const NodeTemplate::Nic& nic : platform.node.nics) {
    if (nic.up < 0 || nic.down < 0) return BytesPerSecond::infinity();
    up += capacities[as_index(platform.link_of(node, nic.up))];
    down += capacities[as_index(platform.link_of(node, nic.down))];
  }
  return std::min(up, down);
}

}  // namespace

bool network_is_idle_in_even_exchange(const Schedule& schedule, const Platform& platform, const Placement& placement,
                                      std::span<const BytesPerSecond> capacities) {
  if (!is_even_exchange(schedule) || !is_plain_platform(platform)) return false;
  const auto nodes = full_nodes(platform, placement);
  if (!nodes || nodes->size() < 2) return false;
  const auto fits = [&](int node) {
    return has_one_switch(platform, node) && is_like(platform, capacities, node, nodes->front());
  };
  if (!std::ranges::all_of(*nodes, fits)) return false;
  const BytesPerSecond most = most_of(platform, capacities, nodes->front());
  if (most == BytesPerSecond::infinity()) return false;
  const BytesPerSecond of_pair = most / static_cast<double>(nodes->size() - 1);
  std::vector<double> crossed(capacities.size());  // by a byte from every node to every other
  for (const int from : *nodes) {
    for (const int to : *nodes) {
      if (from == to) continue;
      const Route way = platform.choices(from * platform.devices_per_node, to * platform.devices_per_node).minimal;
      for (const int link : way.links) crossed[as_index(link)] += 1.0 / way.paths;
    }
  }
  for (std::size_t link = as_index(platform.first_network_link()); link < capacities.size(); ++link) {
    if (of_pair * crossed[link] > capacities[link]) return false;
  }
  return true;
}

}}  // namespace farandole::simulate
