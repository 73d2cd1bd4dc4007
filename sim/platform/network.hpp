// What joins the nodes: switches, the cables between them, where each NIC is plugged in, and the way from NIC to NIC.
//
// Made by the builders of topologies/; read by Platform::route, which asks `paths`, and by whatever looks at the graph
// itself (port counts, bisection, pictures, files for other simulators). NICs are numbered node by node:
// node * NICs per node + NIC. Routes are static: `paths` depends on nothing but its arguments. No path uses a link
// twice; of a choice, bundles may be crossed more than once. Where there is a choice, whoever knows the load splits
// what is sent between its two kinds of ways (Platform::choices), and `paths` are only an example of them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "platform/link.hpp"

namespace farandole { inline namespace platform {

struct Platform;

struct Switch {
  std::string name;
  int ports = 0;  // how many it has; 0 where nobody says
  int level = 0;  // 0 where NICs are plugged in; pictures draw higher levels further up
};

/// Between two switches: one link there and one back. A bundle that hardware shares packet by packet is one Cable.
struct Cable {
  int from = 0;
  int to = 0;
  int there = -1;  // link from `from` to `to`
  int back = -1;
  int count = 1;  // physical cables in it
};

/// What packets choose between, each by the load of the moment: ways as short as can be, and others round about. Of
/// either kind every way is as likely as every other, so links that are chosen alike are counted together (Bundle).
struct WayChoice {
  Paths minimal;
  Paths other;  // empty: there is no choice
};

/// Stands for links over which packets spread alike: has what these have together, and the latency of one. Its link
/// comes behind those of all cables; a way that names a link of a cable names its bundle, too.
struct Bundle {
  int link = -1;
  std::vector<int> members;    // links of their own, which packets that do not spread name too
  double hops = 1;             // of a member, that a packet takes where it crosses the bundle once
  bool carries = true;         // what crosses it is on its members; else other bundles say where it is
  bool counts_members = true;  // what goes over one of its members alone crosses it, too
  // Of nodes from the first to before the end: how often a byte that one of them sends, or receives, crosses it at
  // most.
  int first_node = 0;
  int end_node = 0;
  int by_sent = 0;
  int by_received = 0;
};

/// Sixteenths: how finely what is sent is split over the kinds of ways.
inline constexpr int choice_parts = 16;

struct Network {
  std::vector<Switch> switches;
  std::vector<Cable> cables;
  std::vector<int> switch_of_nic;
  /// NIC i of a node meets only NICs i: what leaves through it arrives through it.
  bool rails_apart = false;
  /// The links between the switches of two NICs of different nodes; their own `up` and `down` not among them.
  std::function<Paths(int from_nic, int to_nic)> paths;
  /// Empty where every pair keeps its ways.
  std::function<WayChoice(int from_nic, int to_nic)> choice;
  int minimal_parts = choice_parts;  // of what is sent, where nobody knows the load
  std::vector<Bundle> bundles;       // in the order of their links
  /// Switches and cables are not known, only the ways: `cables` is empty, and what is cut or how far it is nobody can
  /// say.
  bool only_ways = false;
  /// The kind's formula for platform/bisection.hpp; empty where there is none.
  std::function<BytesPerSecond(const Platform&)> bisection;
  /// Whether none of its links can ever be full or takes time, with these capacities of all links: then it is a switch
  /// that does not limit, whatever is sent. Empty: not known.
  std::function<bool(const Platform&, std::span<const BytesPerSecond> capacities)> never_full;
  /// Moving every node on by so many, modulo their number, changes nothing: there is a renumbering of the network's
  /// links after which the paths between moved NICs are those between the NICs before. 0: not known.
  int alike_after = 0;
};

}}  // namespace farandole::platform
