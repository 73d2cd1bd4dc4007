#include "platform/placement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "config/named.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace platform {
namespace {

void check_ranks(int ranks, const Value& where) {
  if (ranks < 1) where.fail("at least one rank", std::to_string(ranks));
  if (ranks > most_devices) where.fail("at most " + std::to_string(most_devices) + " ranks", std::to_string(ranks));
}

void check_slots(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where) {
  if (hosts.size() > static_cast<std::size_t>(most_devices / devices_per_node)) {
    where.fail("hosts with at most " + std::to_string(most_devices) + " devices",
               std::to_string(hosts.size()) + " hosts of " + std::to_string(devices_per_node));
  }
  std::int64_t slots = 0;
  for (const Host& host : hosts) {
    if (host.slots < 1) where.fail("at least one slot on each host", host.name + ":" + std::to_string(host.slots));
    if (host.slots > devices_per_node) {
      where.fail("at most " + std::to_string(devices_per_node) + " ranks on a node, one per device",
                 std::to_string(host.slots) + " on " + (host.name.empty() ? "each node" : host.name));
    }
    slots += host.slots;
  }
  if (ranks > slots) {
    where.fail("at most " + std::to_string(slots) + " ranks, one per slot of the hosts", std::to_string(ranks));
  }
}

}  // namespace

int Placement::nodes_needed(int devices_per_node) const {
  return device_of_rank.empty() ? 0 : *std::ranges::max_element(device_of_rank) / devices_per_node + 1;
}

int Placement::ranks_per_node(int devices_per_node) const {
  const auto node = [&](std::size_t rank) { return device_of_rank[rank] / devices_per_node; };
  const std::size_t ranks = device_of_rank.size();
  std::size_t block = 1;
  while (block < ranks && node(block) == node(0)) ++block;
  for (std::size_t rank = block; rank < ranks; ++rank) {
    const bool same_node = node(rank) == node(rank - 1);
    if (same_node == (rank % block == 0)) return 1;
  }
  return static_cast<int>(block);
}

std::vector<Host> hosts_for(int ranks, int ranks_per_node) {
  const int nodes = ranks / ranks_per_node + (ranks % ranks_per_node != 0 ? 1 : 0);
  return std::vector<Host>(static_cast<std::size_t>(nodes), Host{"", ranks_per_node});
}

Placement place_by_slot(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where) {
  check_ranks(ranks, where);
  if (hosts.empty()) return place_by_slot(ranks, hosts_for(ranks, devices_per_node), devices_per_node, where);
  check_slots(ranks, hosts, devices_per_node, where);
  Placement placement;
  int left = ranks;
  for (std::size_t node = 0; left > 0; ++node) {
    const int here = std::min(left, hosts[node].slots);
    for (int slot = 0; slot < here; ++slot) {
      placement.device_of_rank.push_back(static_cast<int>(node) * devices_per_node + slot);
    }
    left -= here;
    ++placement.nodes_used;
  }
  return placement;
}

Placement place_by_node(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where) {
  check_ranks(ranks, where);
  check_slots(ranks, hosts, devices_per_node, where);
  Placement placement;
  int left = ranks;
  for (int slot = 0; left > 0; ++slot) {
    for (std::size_t node = 0; node < hosts.size() && left > 0; ++node) {
      if (slot >= hosts[node].slots) continue;
      placement.device_of_rank.push_back(static_cast<int>(node) * devices_per_node + slot);
      placement.nodes_used = std::max(placement.nodes_used, static_cast<int>(node) + 1);
      --left;
    }
  }
  return placement;
}

namespace {

using Order = PlacementRule::Order;
using Nodes = PlacementRule::Nodes;

template <class T>
using Word = std::pair<const char*, T>;
constexpr std::array<Word<Order>, 3> orders{
    {{"by_slot", Order::by_slot}, {"by_node", Order::by_node}, {"by_device", Order::by_slot}}};
constexpr std::array<Word<Nodes>, 3> node_choices{
    {{"contiguous", Nodes::contiguous}, {"random", Nodes::random}, {"by_group", Nodes::by_group}}};

/// A rule that is one word.
PlacementRule rule_named(const Value& where) {
  const auto text = read<std::string>(where);
  PlacementRule rule;
  if (text == "by_device") where.fail("by_device with its list: {\"order\": \"by_device\", \"devices\": [0, 2, 1, 3]}");
  const auto order = std::ranges::find(orders, text, &Word<Order>::first);
  const auto nodes = std::ranges::find(node_choices, text, &Word<Nodes>::first);
  if (order == orders.end() && nodes == node_choices.end())
    where.fail_unknown("a placement", {"by_slot", "by_node", "by_device", "contiguous", "random", "by_group"});
  if (order != orders.end()) rule.order = order->second;
  if (nodes != node_choices.end()) rule.nodes = nodes->second;
  return rule;
}

std::vector<int> read_each_once(const Value& where, const std::string& what) {
  std::vector<int> numbers;
  std::set<int> known;
  for (const Value& element : where.elements()) {
    numbers.push_back(read_between(element, 0, most_devices));
    if (!known.insert(numbers.back()).second) element.fail("each " + what + " once");
  }
  if (numbers.empty()) where.fail("at least one " + what);
  return numbers;
}

/// The first node of every group, then the second of every group, and so on.
std::vector<int> nodes_by_group(int count, int all, int group) {
  std::vector<int> nodes;
  for (int within = 0; within < group; ++within) {
    for (int node = within; node < all && static_cast<int>(nodes.size()) < count; node += group) nodes.push_back(node);
  }
  return nodes;
}

/// The node that each host of the list is, `count` of them from `all`.
std::vector<int> choose_nodes(const PlacementRule& rule, int count, int all, const NodeLayout& layout,
                              const Value& where) {
  std::mt19937_64 engine(rule.seed);
  switch (rule.nodes) {
    case Nodes::random:
      return random_nodes(count, all, engine);
    case Nodes::by_group:
      if (layout.nodes_per_group < 1 || !layout.nodes) where.fail("a topology whose nodes are in groups for by_group");
      return nodes_by_group(count, all, layout.nodes_per_group);
    case Nodes::listed:
      if (std::ssize(rule.listed) < count) where.fail("a list of at least " + counted(count) + " nodes");
      return {rule.listed.begin(), rule.listed.begin() + count};
    case Nodes::contiguous:
      break;
  }
  std::vector<int> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), rule.first_node);
  return nodes;
}

void check_devices(const PlacementRule& rule, const NodeLayout& layout, const Value& where) {
  for (const int device : rule.devices) {
    if (device < layout.devices_per_node) continue;
    where.fail("devices below the " + std::to_string(layout.devices_per_node) + " of a node", std::to_string(device));
  }
}

}  // namespace

std::vector<int> random_nodes(int count, int all, std::mt19937_64& engine) {
  std::vector<int> nodes(static_cast<std::size_t>(all));
  std::iota(nodes.begin(), nodes.end(), 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::uint64_t left = nodes.size() - i;  // the standard's distributions differ from library to library
    const std::uint64_t fair = engine.max() - engine.max() % left;
    std::uint64_t value = engine();
    while (value >= fair) value = engine();
    std::swap(nodes[i], nodes[i + value % left]);
  }
  nodes.resize(static_cast<std::size_t>(count));
  return nodes;
}

PlacementRule read_placement_rule(const Value& where) {
  if (where.is_string()) return rule_named(where);
  Section section(where);
  PlacementRule rule;
  if (const auto order = section.maybe("order")) {
    rule.order = read_named(*order, "an order of ranks", orders, &Word<Order>::first).second;
    if (read<std::string>(*order) == "by_device" && !section.maybe("devices"))
      order->fail("a list of \"devices\" beside by_device");
  }
  if (const auto devices = section.maybe("devices")) rule.devices = read_each_once(*devices, "device");
  if (const auto nodes = section.maybe("nodes")) {
    if (nodes->is_array()) rule.listed = read_each_once(*nodes, "node");
    rule.nodes = nodes->is_array()
                     ? Nodes::listed
                     : read_named(*nodes, "a choice or a list of nodes", node_choices, &Word<Nodes>::first).second;
  }
  if (const auto ranks = section.maybe("ranks_per_node")) rule.ranks_per_node = read_at_least(*ranks, 1);
  if (const auto first = section.maybe("first_node")) {
    rule.first_node = read_between(*first, 0, most_devices);
    if (rule.nodes != Nodes::contiguous) first->fail("a first node only of contiguous ones");
  }
  if (const auto seed = section.maybe("seed")) rule.seed = static_cast<std::uint64_t>(read_at_least(*seed, 0));
  section.finish();
  return rule;
}

Placement place(const PlacementRule& rule, int ranks, std::vector<Host> hosts, const NodeLayout& layout,
                const Value& where) {
  check_devices(rule, layout, where);
  require_at_most(ranks, most_devices, "ranks", where);  // before there is a host for each
  const int usable = rule.devices.empty() ? layout.devices_per_node : static_cast<int>(rule.devices.size());
  if (hosts.empty() && ranks > 0) hosts = hosts_for(ranks, rule.ranks_per_node.value_or(usable));
  const auto fill = rule.order == Order::by_node ? place_by_node : place_by_slot;
  const Placement in_hosts = fill(ranks, hosts, usable, where);
  const Count devices = Count(rule.first_node + in_hosts.nodes_used) * layout.devices_per_node;
  if (!layout.nodes) require_at_most(devices, most_devices, "devices up to the last node used", where);
  const int all = layout.nodes_for(rule.first_node + in_hosts.nodes_used);
  if (rule.first_node + in_hosts.nodes_used > all) {
    const auto most = (Count(all - rule.first_node) * hosts.front().slots).number();
    where.fail("at most " + std::to_string(most) + " ranks, " + std::to_string(hosts.front().slots) +
                   " on each of the " + std::to_string(all - rule.first_node) + " nodes" +
                   (rule.first_node > 0 ? " from node " + std::to_string(rule.first_node) + " on" : ""),
               std::to_string(ranks) + " ranks on " + std::to_string(in_hosts.nodes_used) + " nodes");
  }
  const auto nodes = choose_nodes(rule, in_hosts.nodes_used, all, layout, where);
  Placement placement{{}, in_hosts.nodes_used};
  for (const int slot : in_hosts.device_of_rank) {
    const int node = nodes[static_cast<std::size_t>(slot / usable)];
    const int local = rule.devices.empty() ? slot % usable : rule.devices[static_cast<std::size_t>(slot % usable)];
    placement.device_of_rank.push_back(node * layout.devices_per_node + local);
  }
  return placement;
}

}}  // namespace farandole::platform
