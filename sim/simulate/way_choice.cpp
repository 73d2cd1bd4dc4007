#include "simulate/way_choice.hpp"

#include <algorithm>
#include <cmath>
#include <map>

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

}}  // namespace farandole::simulate
