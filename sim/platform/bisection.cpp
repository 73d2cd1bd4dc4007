#include "platform/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
bool MaximumFlow::find_path(std::size_t source, std::size_t sink) {
  parent_.assign(vertices_, vertices_);
  parent_[source] = source;
  std::vector<std::size_t> queue{source};
  for (std::size_t next = 0; next < queue.size() && parent_[sink] == vertices_; ++next) {
    for (std::size_t to = 0; to < vertices_; ++to) {
      if (parent_[to] != vertices_ || !(left(queue[next], to) > 0)) continue;
      parent_[to] = queue[next];
      queue.push_back(to);
    }
  }
  return parent_[sink] != vertices_;
}

BytesPerSecond MaximumFlow::between(int source, int sink) {
  const std::size_t first = index(source);
  const std::size_t last = index(sink);
  double flow = 0;
  while (find_path(first, last)) {
    double narrowest = std::numeric_limits<double>::infinity();
    for (std::size_t at = last; at != first; at = parent_[at]) narrowest = std::min(narrowest, left(parent_[at], at));
    if (std::isinf(narrowest)) return BytesPerSecond::infinity();
    for (std::size_t at = last; at != first; at = parent_[at]) {
      left(parent_[at], at) -= narrowest;
      left(at, parent_[at]) += narrowest;
    }
    flow += narrowest;
  }
  return BytesPerSecond(flow);
}

namespace {

BytesPerSecond capacity_of(const Platform& platform, int link) {
  return link < 0 ? BytesPerSecond::infinity() : platform.links[static_cast<std::size_t>(link)].capacity;
}

/// Calls `visit(node, up, down, at_switch)` for every NIC.
template <class Visit>
void for_each_port(const Platform& platform, Visit visit) {
  const auto nics = platform.node.nics.size();
  for (std::size_t nic = 0; nic < platform.network.switch_of_nic.size(); ++nic) {
    const auto node = static_cast<int>(nic / nics);
    const NodeTemplate::Nic ends = platform.node.nics[nic % nics];
    const auto link = [&](int offset) { return offset < 0 ? -1 : platform.link_of(node, offset); };
    visit(node, capacity_of(platform, link(ends.up)), capacity_of(platform, link(ends.down)),
          platform.network.switch_of_nic[nic]);
  }
}

}  // namespace

BytesPerSecond greatest_flow(const Platform& platform, const std::vector<bool>& first) {
  const int switches = static_cast<int>(platform.network.switches.size());
  MaximumFlow flow(switches + 2);
  for_each_port(platform, [&](int node, BytesPerSecond up, BytesPerSecond down, int at_switch) {
    first[static_cast<std::size_t>(node)] ? flow.add(switches, at_switch, up) : flow.add(at_switch, switches + 1, down);
  });
  for (const Cable& cable : platform.network.cables) {
    flow.add(cable.from, cable.to, capacity_of(platform, cable.there));
    flow.add(cable.to, cable.from, capacity_of(platform, cable.back));
  }
  return flow.between(switches, switches + 1);
}

BytesPerSecond enumerated_bisection(const Platform& platform) {
  BytesPerSecond least = BytesPerSecond::infinity();
  for (const int half : {platform.nodes / 2, platform.nodes - platform.nodes / 2}) {
    std::vector<bool> first(static_cast<std::size_t>(platform.nodes), false);
    std::fill_n(first.begin(), half, true);
    do {
      least = std::min(least, greatest_flow(platform, first));
    } while (std::prev_permutation(first.begin(), first.end()));
  }
  return least;
}

std::optional<BytesPerSecond> bisection(const Platform& platform) {
  if (platform.nodes < 2 || platform.network.only_ways) return std::nullopt;
  if (platform.network.bisection) return platform.network.bisection(platform);
  if (platform.nodes <= most_enumerated) return enumerated_bisection(platform);
  return std::nullopt;
}

BytesPerSecond least_prefix_cut(const Platform& platform, std::span<const int> order) {
  const auto count = platform.network.switches.size();
  std::vector<std::size_t> place(count);
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  // Of the cut before place i: what it gains and loses against the one before.
  std::vector<BytesPerSecond> forwards(count + 1);
  std::vector<BytesPerSecond> backwards(count + 1);
  for (const Cable& cable : platform.network.cables) {
    const std::size_t from = place[static_cast<std::size_t>(cable.from)];
    const std::size_t to = place[static_cast<std::size_t>(cable.to)];
    const auto there = capacity_of(platform, from < to ? cable.there : cable.back);
    const auto back = capacity_of(platform, from < to ? cable.back : cable.there);
    forwards[std::min(from, to) + 1] += there;
    forwards[std::max(from, to) + 1] -= there;
    backwards[std::min(from, to) + 1] += back;
    backwards[std::max(from, to) + 1] -= back;
  }
  std::vector<double> nodes(count + 1, 0.0);
  BytesPerSecond node_rate;
  for_each_port(platform, [&](int node, BytesPerSecond up, BytesPerSecond down, int at_switch) {
    if (node == 0) node_rate += std::min(up, down);
    nodes[place[static_cast<std::size_t>(at_switch)] + 1] += 1.0 / static_cast<double>(platform.node.nics.size());
  });
  BytesPerSecond least = BytesPerSecond::infinity();
  const int half = platform.nodes / 2;
  for (std::size_t i = 0; i <= count; ++i) {
    if (i > 0) {
      forwards[i] += forwards[i - 1];
      backwards[i] += backwards[i - 1];
      nodes[i] += nodes[i - 1];
    }
    const double surplus = std::min(std::abs(nodes[i] - half), std::abs(nodes[i] - (platform.nodes - half)));
    const BytesPerSecond wrong_side = surplus > 0 ? surplus * node_rate : BytesPerSecond(0);
    least = std::min(least, std::min(forwards[i], backwards[i]) + wrong_side);
  }
  return least;
}

namespace {

/// The switches at the other ends of each switch's cables.
std::vector<std::vector<int>> neighbours_of(const Network& network) {
  std::vector<std::vector<int>> neighbours(network.switches.size());
  for (const Cable& cable : network.cables) {
    neighbours[static_cast<std::size_t>(cable.from)].push_back(cable.to);
    neighbours[static_cast<std::size_t>(cable.to)].push_back(cable.from);
  }
  return neighbours;
}

}  // namespace

int diameter(const Platform& platform) {
  std::vector<int> ends = platform.network.switch_of_nic;
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto neighbours = neighbours_of(platform.network);
  constexpr std::size_t most_looked_from = 64;
  const std::size_t step = (ends.size() + most_looked_from - 1) / most_looked_from;
  int greatest = 0;
  for (std::size_t i = 0; i < ends.size(); i += step) {
    const auto distance = distances_from(ends[i], neighbours);
    for (const int end : ends) greatest = std::max(greatest, distance[static_cast<std::size_t>(end)]);
  }
  return greatest;
}

}}  // namespace farandole::platform
