#include "platform/topologies/fat_tree.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "platform/topologies/limits.hpp"
#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
namespace {

/// A tree with all its numbers, and which of its leaves a NIC is plugged into.
struct Plan {
  FatTree tree;
  TreeLayout layout;
  int nodes = 0;
  int nics = 1;
  int nodes_per_leaf = 1;
  int first_link = 0;

  [[nodiscard]] int leaves_per_pod() const { return tree.rails == Rails::joined ? nics : 1; }
  [[nodiscard]] int copies() const { return tree.rails == Rails::apart ? nics : 1; }
  [[nodiscard]] int leaf_of(int nic) const {
    const int pod = nic / nics / nodes_per_leaf;
    return tree.rails == Rails::joined ? pod * nics + nic % nics : pod;
  }
  [[nodiscard]] int copy_of(int nic) const { return tree.rails == Rails::apart ? nic % nics : 0; }
  /// Its number for routing: in the order of the leaves and their ports.
  [[nodiscard]] int number_of(int nic) const {
    if (tree.rails == Rails::none) return nic;
    return leaf_of(nic) * nodes_per_leaf + nic / nics % nodes_per_leaf;
  }
  [[nodiscard]] Paths paths(int from, int to) const {
    const int first = first_link + copy_of(from) * 2 * layout.all_cables();
    return shifted(layout.paths({leaf_of(from), leaf_of(to), number_of(from), number_of(to)}), first);
  }
};

int divided_up(int count, int by) {
  return count / by + (count % by != 0 ? 1 : 0);
}

/// What the tree would take, before its layout is worked out in ints: every level, of every copy.
void require_fat_tree_room(const TreeLayout& layout, int copies, const Value& where) {
  Count switches;
  Count cables;
  Count leaves = 1;  // under the switches of the levels so far
  Count planes = 1;
  for (std::size_t l = 1; l < layout.levels.size(); ++l) leaves *= layout.levels[l].down;
  for (std::size_t l = 0; l < layout.levels.size(); ++l) {
    const TreeLayout::Level& level = layout.levels[l];
    if (l > 0) {
      const Count together = Count(level.up) * level.cables;
      require_at_most(together, most_cables_together, "cables from a switch to the level above it", where);
      cables += leaves * planes * (layout.routing == TreeRouting::spread ? Count(level.up) : together) * copies;
      leaves = Count(leaves.number() / level.down);
      planes *= level.up;
    }
    switches += leaves * planes * copies;
    require_size(switches, cables, where);
  }
}

Plan sized(const FatTree& tree, const Platform& platform, const Value& where) {
  Plan plan{tree, {}, platform.nodes, static_cast<int>(platform.node.nics.size())};
  plan.nodes_per_leaf = tree.levels.front().down.value();
  TreeLayout& layout = plan.layout;
  layout.routing = tree.routing;
  layout.seed = tree.seed;
  const int pods = divided_up(platform.nodes, plan.nodes_per_leaf);
  require_size(Count(pods) * plan.leaves_per_pod(), 0, where);
  const int needed = pods * plan.leaves_per_pod();
  Count leaves = 1;
  layout.levels.push_back({plan.nodes_per_leaf, 1, 1});
  for (std::size_t l = 1; l < tree.levels.size(); ++l) {
    const FatTree::Level& level = tree.levels[l];
    layout.levels.push_back({level.down.value_or(divided_up(needed, layout.leaves)), level.up, level.cables});
    leaves *= layout.levels.back().down;
    require_size(leaves, 0, where);
    layout.leaves = static_cast<int>(leaves.number());
  }
  require_fat_tree_room(layout, plan.copies(), where);
  constexpr int most_places = 1 << 30;
  require_at_most(leaves * plan.nodes_per_leaf, most_places, "ports of leaves for nodes", where);
  const std::int64_t room = (Count(layout.leaves / plan.leaves_per_pod()) * plan.nodes_per_leaf).number();
  if (platform.nodes > room) {
    where.fail(fmt::format("at most the {} nodes that the tree has room for", room),
               fmt::format("{} nodes", platform.nodes));
  }
  return plan;
}

std::string switch_name(const Plan& plan, const std::string& prefix, int l, int index) {
  return prefix + plan.tree.levels[static_cast<std::size_t>(l)].name + std::to_string(index);
}

void add_switches(Platform& platform, const Plan& plan, const std::string& prefix) {
  for (int l = 0; l < plan.layout.height(); ++l) {
    const int count = plan.layout.subtrees(l) * plan.layout.planes(l);
    const int ports = plan.tree.levels[static_cast<std::size_t>(l)].ports;
    for (int i = 0; i < count; ++i) add_switch(platform, switch_name(plan, prefix, l, i), l, ports);
  }
}

/// The cables of one switch to one parent, in the order of TreeLayout::cable_index.
void add_lanes(Platform& platform, const Plan& plan, int first_switch, int l, int index, int up) {
  const TreeLayout& layout = plan.layout;
  const FatTree::Level& above = plan.tree.levels[static_cast<std::size_t>(l + 1)];
  const int subtree = index / layout.planes(l) / layout.level(l + 1).down;
  const int parent_plane = index % layout.planes(l) + up * layout.planes(l);
  const int from = first_switch + layout.switch_index(l, 0, 0) + index;
  const int to = first_switch + layout.switch_index(l + 1, subtree, parent_plane);
  const auto& switches = platform.network.switches;
  const std::string name =
      switches[static_cast<std::size_t>(from)].name + "-" + switches[static_cast<std::size_t>(to)].name;
  const int lanes = layout.lanes(l + 1);
  for (int lane = 0; lane < lanes; ++lane) {
    const std::string lane_name = lanes > 1 ? name + "." + std::to_string(lane) : name;
    add_cable(platform, from, to, lane_name, above.link, above.cables / lanes);
  }
}

void add_copy(Platform& platform, const Plan& plan, const std::string& prefix) {
  const int first_switch = static_cast<int>(platform.network.switches.size());
  add_switches(platform, plan, prefix);
  for (int l = 0; l + 1 < plan.layout.height(); ++l) {
    const int count = plan.layout.subtrees(l) * plan.layout.planes(l);
    for (int index = 0; index < count; ++index) {
      for (int up = 0; up < plan.layout.level(l + 1).up; ++up) add_lanes(platform, plan, first_switch, l, index, up);
    }
  }
}

/// Network::alike_after: the subtrees under the uppermost switches are alike, where routing treats their members so.
int fat_tree_alike_after(const Plan& plan) {
  const TreeLayout& layout = plan.layout;
  if (layout.height() == 1) return 1;
  const bool has_one_way = std::all_of(layout.levels.begin() + 1, layout.levels.end(),
                                       [](const TreeLayout::Level& level) { return level.up * level.cables == 1; });
  if (layout.routing != TreeRouting::spread && !has_one_way) return 0;
  const int leaves = std::lcm(layout.leaves_below(layout.height() - 2), plan.leaves_per_pod());
  const int step = leaves / plan.leaves_per_pod() * plan.nodes_per_leaf;
  return plan.nodes % step == 0 ? step : 0;
}

/// What goes up and what comes down between a subtree and the level above it, and what its NICs send and receive.
struct Flows {
  BytesPerSecond up;
  BytesPerSecond down;
  BytesPerSecond sent;
  BytesPerSecond received;
};

/// Of the subtrees of level `l` of one copy: evenly spread, so that the slowest cable of a subtree counts for all.
std::vector<Flows> flows_of(const Plan& plan, int copy, int l, const Platform& platform,
                            std::span<const BytesPerSecond> capacities) {
  const TreeLayout& layout = plan.layout;
  std::vector<Flows> flows(static_cast<std::size_t>(layout.subtrees(l)));
  const int first = plan.first_link + copy * 2 * layout.all_cables();
  const int ups = layout.level(l + 1).up;
  for (int subtree = 0; subtree < layout.subtrees(l); ++subtree) {
    BytesPerSecond up = BytesPerSecond::infinity();
    BytesPerSecond down = BytesPerSecond::infinity();
    for (int plane = 0; plane < layout.planes(l); ++plane) {
      for (int port = 0; port < ups; ++port) {
        const auto there = static_cast<std::size_t>(first + 2 * layout.cable_index(l, subtree, plane, port, 0));
        up = std::min(up, capacities[there]);
        down = std::min(down, capacities[there + 1]);
      }
    }
    const double cables = static_cast<double>(layout.planes(l)) * ups;
    flows[static_cast<std::size_t>(subtree)] = {up * cables, down * cables, {}, {}};
  }
  for (int nic = 0; nic < plan.nodes * plan.nics; ++nic) {
    if (plan.copy_of(nic) != copy) continue;
    const NodeTemplate::Nic& links = platform.node.nics[static_cast<std::size_t>(nic % plan.nics)];
    const auto capacity = [&](int offset) {
      if (offset < 0) return BytesPerSecond::infinity();
      return capacities[static_cast<std::size_t>(platform.link_of(nic / plan.nics, offset))];
    };
    Flows& below = flows[static_cast<std::size_t>(plan.leaf_of(nic) / layout.leaves_below(l))];
    below.sent += capacity(links.up);
    below.received += capacity(links.down);
  }
  return flows;
}

/// Network::never_full, of ways that are spread: every subtree's cables together carry what all its NICs do.
bool is_never_full(const Plan& plan, const Platform& platform, std::span<const BytesPerSecond> capacities) {
  const auto first = platform.links.begin() + platform.first_network_link();
  const auto is_plain = [](const Link& link) { return link.latency == Seconds(0) && link.congestion == nullptr; };
  if (!std::all_of(first, platform.links.end(), is_plain)) return false;
  for (int copy = 0; copy < plan.copies(); ++copy) {
    for (int l = 0; l + 1 < plan.layout.height(); ++l) {
      for (const Flows& flows : flows_of(plan, copy, l, platform, capacities)) {
        const double rounding = 1 + 1e-12;
        if (flows.sent > flows.up * rounding || flows.received > flows.down * rounding) return false;
      }
    }
  }
  return true;
}

BytesPerSecond fat_tree_bisection(const Plan& plan, const Platform& platform) {
  std::vector<int> nodes_of_leaf(static_cast<std::size_t>(plan.layout.leaves), 0);
  const int step = plan.tree.rails == Rails::joined ? 1 : plan.nics;  // one NIC of each node, or one of each rail
  for (int nic = 0; nic < plan.nodes * plan.nics; nic += step) {
    ++nodes_of_leaf[static_cast<std::size_t>(plan.leaf_of(nic))];
  }
  std::vector<BytesPerSecond> up;
  for (int l = 0; l + 1 < plan.layout.height(); ++l) {
    const FatTree::Level& above = plan.tree.levels[static_cast<std::size_t>(l + 1)];
    up.push_back(above.link.effective() * above.cables * above.up * plan.layout.planes(l));
  }
  const NodeTemplate& node = platform.node;
  const BytesPerSecond nic = node.links[static_cast<std::size_t>(node.nics.front().up)].capacity;
  // Without rails all NICs of a node are plugged into one leaf and count as one; each network of a rail counts.
  const int together = plan.tree.rails == Rails::none ? plan.nics : 1;
  return plan.copies() * tree_bisection(nodes_of_leaf, plan.layout, together * nic, up, plan.leaves_per_pod());
}

}  // namespace

NetworkPlan plan_of(FatTree tree) {
  return [tree = std::move(tree)](Platform& platform, const Value& where) {
    Plan plan = sized(tree, platform, where);
    plan.first_link = static_cast<int>(platform.links.size());
    for (int copy = 0; copy < plan.copies(); ++copy) {
      add_copy(platform, plan, plan.copies() > 1 ? "rail" + std::to_string(copy) + "/" : "");
    }
    Network& network = platform.network;
    network.rails_apart = tree.rails == Rails::apart;
    network.alike_after = fat_tree_alike_after(plan);
    for (int nic = 0; nic < plan.nodes * plan.nics; ++nic) {
      network.switch_of_nic.push_back(plan.copy_of(nic) * plan.layout.all_switches() + plan.leaf_of(nic));
    }
    const auto shared = std::make_shared<const Plan>(std::move(plan));
    network.paths = [shared](int from, int to) { return shared->paths(from, to); };
    if (shared->layout.routing == TreeRouting::spread) {
      network.never_full = [shared](const Platform& whole, std::span<const BytesPerSecond> capacities) {
        return is_never_full(*shared, whole, capacities);
      };
    }
    network.bisection = [shared](const Platform& whole) { return fat_tree_bisection(*shared, whole); };
  };
}

}}  // namespace farandole::platform
