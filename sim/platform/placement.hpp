// Which device each rank sits on.
//
// Ranks fill slots as `horovodrun -H host:slots` and `mpirun` do: host by host in the order given, or one to each host
// in turn (`mpirun --map-by node`). Host h of the list is node h of the platform, its slot s is device s of that node.
// Rank r is on device `device_of_rank[r]` of the platform; no device carries two ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace platform {

struct Host {
  std::string name;
  int slots = 1;
};

struct Placement {
  std::vector<int> device_of_rank;
  int nodes_used = 0;  // how many nodes carry a rank

  /// How many nodes the platform must have at least: 1 + the highest that carries a rank.
  [[nodiscard]] int nodes_needed(int devices_per_node) const;
  /// How many consecutive ranks sit on every node, where that is the same for all but the last; else 1.
  [[nodiscard]] int ranks_per_node(int devices_per_node) const;
};

/// Ranks fill one host after the other. `hosts` empty: every node with all its devices, as many nodes as it takes. A
/// host's slots must not exceed a node's devices and `ranks` must not exceed all slots; otherwise `where` fails with
/// the numbers.
Placement place_by_slot(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where);

/// Ranks go to the hosts in turn; a full host is passed over. `hosts` must not be empty; errors as above.
Placement place_by_node(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where);

/// As many unnamed hosts of `ranks_per_node` slots as `ranks` need (aprun -N, mpirun -npernode); both at least 1.
std::vector<Host> hosts_for(int ranks, int ranks_per_node);

/// So many of all, each as likely, in random order.
std::vector<int> random_nodes(int count, int all, std::mt19937_64& engine);

// The rule by which a scheduler and a launcher place ranks: which nodes a job gets, and in which order ranks fill them.
//
// A scenario's "placement" and `--placement` carry one, as a word or an object:
//
//   "random"
//   {"nodes": "random", "seed": 7, "order": "by_node", "ranks_per_node": 4}
//   {"order": "by_device", "devices": [0, 1, 2, 3, 7, 6, 5, 4]}
//
// `nodes`: contiguous (neighbours from first_node on; the default), random (of all, in random order), by_group (one of
// each group in turn: dragonfly groups, leaves of a tree), or a list, used in its order. `order`: by_slot (node after
// node; the default), by_node (to the nodes in turn), by_device (as by_slot, a node's devices in the order listed, as
// CUDA_VISIBLE_DEVICES does). The same rule and seed give the same placement everywhere.

struct PlacementRule {
  enum class Order : std::uint8_t { by_slot, by_node };
  enum class Nodes : std::uint8_t { contiguous, random, by_group, listed };

  std::optional<Order> order;  // by_slot unless a launch line says otherwise
  Nodes nodes = Nodes::contiguous;
  std::vector<int> listed{};
  std::vector<int> devices;           // local indices, each once; empty: all, as they come
  std::optional<int> ranks_per_node;  // all devices, or all listed, where nothing else says how many
  int first_node = 0;                 // of contiguous ones
  std::uint64_t seed = 1;             // of random ones
};

/// What a rule needs to know of the machine.
struct NodeLayout {
  int devices_per_node = 1;
  std::optional<int> nodes;  // at most; empty: as many as needed
  int nodes_per_group = 0;   // node n is in group n / nodes_per_group; 0: the machine has no groups
  int unit = 0;              // of nodes, by which it grows to what is needed; 0: it has all of them

  /// How many it has where that many are needed.
  [[nodiscard]] int nodes_for(int needed) const {
    return unit == 0 ? nodes.value_or(needed) : std::min(*nodes, (needed + unit - 1) / unit * unit);
  }
};

PlacementRule read_placement_rule(const Value& where);

/// Places ranks on `hosts`, or on as many nodes as it takes where that is empty; `where` is blamed for what does not
/// fit.
Placement place(const PlacementRule& rule, int ranks, std::vector<Host> hosts, const NodeLayout& layout,
                const Value& where);

}}  // namespace farandole::platform
