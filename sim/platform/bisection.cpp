#include "platform/bisection.hpp"

#include <algorithm>
#include <cmath>

namespace farandole { inline namespace platform {
namespace {

BytesPerSecond capacity_of(const Platform& platform, int link) {
  return link < 0 ? BytesPerSecond::infinity() : platform.links[static_cast<std::size_t>(link)].capacity;
}

struct NodePort {
  BytesPerSecond up;
  BytesPerSecond down;
  int at_switch;
};

/// Calls `visit(node, port)` for every NIC.
template <class Visit>
void for_each_port(const Platform& platform, Visit visit) {
  const auto nics = platform.node.nics.size();
  for (std::size_t nic = 0; nic < platform.network.switch_of_nic.size(); ++nic) {
    const auto node = static_cast<int>(nic / nics);
    const NodeTemplate::Nic ends = platform.node.nics[nic % nics];
    const auto link = [&](int offset) { return offset < 0 ? -1 : platform.link_of(node, offset); };
    visit(node, NodePort{capacity_of(platform, link(ends.up)), capacity_of(platform, link(ends.down)),
                         platform.network.switch_of_nic[nic]});
  }
}

}  // namespace

BytesPerSecond greatest_flow(const Platform& platform, const std::vector<bool>& first) {
  const int switches = static_cast<int>(platform.network.switches.size());
  MaximumFlow flow(switches + 2);
  for_each_port(platform, [&](int node, const NodePort& port) {
    if (first[static_cast<std::size_t>(node)]) {
      flow.add(switches, port.at_switch, port.up);
    } else {
      flow.add(port.at_switch, switches + 1, port.down);
    }
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
  for_each_port(platform, [&](int node, const NodePort& port) {
    if (node == 0) node_rate += std::min(port.up, port.down);
    nodes[place[static_cast<std::size_t>(port.at_switch)] + 1] += 1.0 / static_cast<double>(platform.node.nics.size());
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

}}  // namespace farandole::platform
