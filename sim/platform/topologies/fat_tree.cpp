#include "platform/topologies/fat_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "platform/sections.hpp"
#include "platform/topologies/kinds.hpp"
#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
int TreeLayout::product_up_to(int l, int Level::*factor) const {
  int count = 1;
  for (int i = 1; i <= std::min(l, height() - 1); ++i) count *= level(i).*factor;
  return count;
}

int TreeLayout::switch_index(int l, int subtree, int plane) const {
  int index = 0;
  for (int i = 0; i < l; ++i) index += subtrees(i) * planes(i);
  return index + subtree * planes(l) + plane;
}

int TreeLayout::cable_index(int l, int subtree, int plane, int up, int lane) const {
  int index = 0;
  for (int i = 0; i < l; ++i) index += subtrees(i) * planes(i) * level(i + 1).up * lanes(i + 1);
  if (l + 1 >= height()) return index;
  return index + ((subtree * planes(l) + plane) * level(l + 1).up + up) * lanes(l + 1) + lane;
}

int TreeLayout::chosen_port(const Flow& flow, int l) const {
  const int ports = level(l + 1).up * level(l + 1).cables;
  if (routing == TreeRouting::d_mod_k) return flow.to / planes(l) % ports;
  return static_cast<int>(flow_hash(seed, flow.from, flow.to, 2 * l) % static_cast<std::uint64_t>(ports));
}

int TreeLayout::chosen_plane(const Flow& flow, int top) const {
  int plane = 0;
  for (int l = 0; l < top; ++l) plane += chosen_port(flow, l) % level(l + 1).up * planes(l);
  return plane;
}

/// The lane downwards is the choice of the switch above, which hashes on its own; by destination both are the same.
int TreeLayout::chosen_lane(const Flow& flow, int l, bool upwards) const {
  if (routing == TreeRouting::spread) return 0;
  if (upwards || routing == TreeRouting::d_mod_k) return chosen_port(flow, l) / level(l + 1).up;
  const auto cables = static_cast<std::uint64_t>(level(l + 1).cables);
  return static_cast<int>(flow_hash(seed, flow.from, flow.to, 2 * l + 1) % cables);
}

Path TreeLayout::path(const Flow& flow, int top, int plane) const {
  Path links(static_cast<std::size_t>(2 * top));
  for (int l = 0; l < top; ++l) {
    const int below = plane % planes(l);
    const int up = plane % planes(l + 1) / planes(l);
    const int from = flow.from_leaf / leaves_below(l);
    const int to = flow.to_leaf / leaves_below(l);
    links[static_cast<std::size_t>(l)] = 2 * cable_index(l, from, below, up, chosen_lane(flow, l, true));
    links[static_cast<std::size_t>(2 * top - 1 - l)] =
        2 * cable_index(l, to, below, up, chosen_lane(flow, l, false)) + 1;
  }
  return links;
}

Paths TreeLayout::paths(const Flow& flow) const {
  int top = 0;
  while (flow.from_leaf / leaves_below(top) != flow.to_leaf / leaves_below(top)) ++top;
  if (routing != TreeRouting::spread) return {path(flow, top, chosen_plane(flow, top))};
  Paths all;
  all.reserve(static_cast<std::size_t>(planes(top)));
  for (int plane = 0; plane < planes(top); ++plane) all.push_back(path(flow, top, plane));
  return all;
}

namespace {

/// With the top of the subtree on the side of the first nodes, and of the others.
using Cut = std::pair<BytesPerSecond, BytesPerSecond>;

BytesPerSecond cut(const std::vector<int>& nodes_of_leaf, const TreeLayout& layout, BytesPerSecond nic,
                   const std::vector<BytesPerSecond>& up, const std::vector<int>& first_nodes) {
  std::vector<Cut> subtrees;
  for (std::size_t leaf = 0; leaf < nodes_of_leaf.size(); ++leaf) {
    const int here = first_nodes[leaf];
    subtrees.push_back({nic * (nodes_of_leaf[leaf] - here), nic * here});
  }
  for (int l = 1; l < layout.height(); ++l) {
    const BytesPerSecond rate = up[static_cast<std::size_t>(l - 1)];
    std::vector<Cut> above(static_cast<std::size_t>(layout.subtrees(l)));
    for (std::size_t child = 0; child < subtrees.size(); ++child) {
      Cut& parent = above[child / static_cast<std::size_t>(layout.level(l).down)];
      parent.first += std::min(subtrees[child].first, subtrees[child].second + rate);
      parent.second += std::min(subtrees[child].second, subtrees[child].first + rate);
    }
    subtrees = std::move(above);
  }
  return std::min(subtrees.front().first, subtrees.front().second);
}

/// The least cut between two halves of the nodes (platform/bisection.hpp) of a fat tree whose switches of one level are
/// alike. `nodes_of_leaf` has the nodes under each leaf in order, the same for all leaves of a pod; `up` is what one
/// subtree of each level sends upwards.
BytesPerSecond tree_bisection(const std::vector<int>& nodes_of_leaf, const TreeLayout& layout, BytesPerSecond nic,
                              const std::vector<BytesPerSecond>& up, int leaves_per_pod) {
  const int nodes = std::accumulate(nodes_of_leaf.begin(), nodes_of_leaf.end(), 0) / leaves_per_pod;
  BytesPerSecond least = BytesPerSecond::infinity();
  for (const int half : {nodes / 2, nodes - nodes / 2}) {
    std::vector<int> first_nodes;
    int left = half;
    for (std::size_t leaf = 0; leaf < nodes_of_leaf.size(); ++leaf) {
      first_nodes.push_back(std::min(left, nodes_of_leaf[leaf]));
      if ((static_cast<int>(leaf) + 1) % leaves_per_pod == 0) left -= first_nodes.back();
    }
    least = std::min(least, cut(nodes_of_leaf, layout, nic, up, first_nodes));
  }
  return least;
}

// Readers of "network" for the kinds leaf_spine and fat_tree.

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
  // Above spines that join all leaves nothing meets.
  for (; layout.levels.size() > 2 && layout.leaves / layout.levels.back().down >= needed; layout.levels.pop_back()) {
    layout.leaves /= layout.levels.back().down;
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

// The least cut of a fat tree into two halves of its nodes.
//
// The half that costs least takes whole subtrees as far as it can, so one half is the first nodes in the order of the
// leaves. All switches of a level that stand over the same leaves are alike and decide alike, so a subtree is on one
// side or on the other as a whole at its top, and what it sends upwards is cut or not:
//   cut(subtree, side) = sum over children of min(cut(child, side), cut(child, other side) + rate upwards of the child)
// Nodes on the other side than their leaf cost their NIC.

namespace {

void read_ways(Section& section, FatTree& tree) {
  constexpr std::array routings{TreeRouting::ecmp, TreeRouting::d_mod_k, TreeRouting::spread};
  constexpr std::array rails{Rails::none, Rails::apart, Rails::joined};
  tree.routing = routings.at(read_choice(section, "routing", "a routing", {"ecmp", "d_mod_k", "spread"}));
  tree.rails = rails.at(read_choice(section, "rails", "rails", {"none", "apart", "joined"}));
  tree.seed = static_cast<std::uint64_t>(section.optional<std::int64_t>("seed", 1));
}

/// Uplinks of a leaf for which the rate of its nodes is `oversubscription` times the rate upwards.
int uplinks(const Value& where, double oversubscription, const FatTree& tree, const Topology& topology) {
  if (!(oversubscription > 0)) where.fail("an oversubscription above zero");
  const NodeTemplate node = node_template(topology);
  const double nics = tree.rails == Rails::none ? static_cast<double>(node.nics.size()) : 1;
  const BytesPerSecond nic = node.links[static_cast<std::size_t>(node.nics.front().up)].wire;
  const FatTree::Level& spine = tree.levels[1];
  const double count = tree.levels[0].down.value() * nics * nic / (oversubscription * spine.link.wire);
  const double whole = std::round(count);
  if (whole > most_cables_together)
    where.fail(fmt::format("at most {} uplinks of a leaf", counted(most_cables_together)),
               fmt::format("{}, for which it has {:.4g}", oversubscription, count));
  if (whole < 1 || std::abs(count - whole) > 1e-9 * count || std::fmod(whole, spine.cables) != 0) {
    where.fail(fmt::format("an oversubscription that a whole number of spines gives, {} cables to each", spine.cables),
               fmt::format("{}, for which a leaf has {:.4g} uplinks", oversubscription, count));
  }
  return static_cast<int>(whole);
}

FatTree::Level read_level(const Value& value, std::size_t l, std::size_t height) {
  Section section = sourced(value);
  FatTree::Level level;
  const std::string usual = l == 0 ? "leaf" : l == 1 ? "spine" : l == 2 ? "core" : "level" + std::to_string(l) + "_";
  level.name = section.optional<Text>("name", {usual}).value;
  const bool may_grow = l > 0 && l + 1 == height;
  if (!may_grow || section.maybe("down")) level.down = read_at_least(section.child("down"), 1);
  if (l > 0) {
    level.up = read_positive(section, "parents", 1);
    level.cables = read_positive(section, "cables", 1);
    level.link = read_link(section.child("link"));
  }
  if (const auto ports = section.maybe("switch_ports")) level.ports = read_at_least(*ports, 1);
  section.finish();
  return level;
}

}  // namespace

NetworkPlan read_leaf_spine(Section& file, const Topology& topology, const TextReader& /*text*/) {
  Section section = sourced(file.child("network"));
  FatTree tree;
  read_ways(section, tree);
  tree.levels.resize(2);
  FatTree::Level& leaf = tree.levels[0];
  FatTree::Level& spine = tree.levels[1];
  leaf.name = "leaf";
  leaf.down = read_at_least(section.child("nodes_per_leaf"), 1);
  leaf.ports = section.maybe("leaf_ports") ? read_positive(section, "leaf_ports", 1) : 0;
  spine.name = "spine";
  spine.ports = section.maybe("spine_ports") ? read_positive(section, "spine_ports", 1) : 0;
  spine.cables = read_positive(section, "cables_per_spine", 1);
  spine.link = read_link(section.child("link"));
  const auto oversubscription = section.maybe("oversubscription");
  if (oversubscription && section.maybe("spines")) {
    oversubscription->fail("either \"spines\" or \"oversubscription\"", "both");
  }
  spine.up = oversubscription
                 ? uplinks(*oversubscription, read<double>(*oversubscription), tree, topology) / spine.cables
                 : read_at_least(section.child("spines"), 1);
  section.finish();
  return plan_of(std::move(tree));
}

NetworkPlan read_fat_tree(Section& file, const Topology& /*topology*/, const TextReader& /*text*/) {
  Section section = sourced(file.child("network"));
  FatTree tree;
  read_ways(section, tree);
  const Value levels = section.child("levels");
  const auto elements = levels.elements();
  if (elements.empty()) levels.fail("at least one level", "none");
  for (std::size_t l = 0; l < elements.size(); ++l) tree.levels.push_back(read_level(elements[l], l, elements.size()));
  section.finish();
  return plan_of(std::move(tree));
}

}}  // namespace farandole::platform
