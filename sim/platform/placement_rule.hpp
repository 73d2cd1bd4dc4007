// The rule by which a scheduler and a launcher place ranks: which nodes a job gets, and in which order ranks fill them.
//
// A scenario's "placement" and `--placement` carry one, as a word or an object:
//
//   "random"
//   {"nodes": "random", "seed": 7, "order": "by_node", "ranks_per_node": 4}
//   {"order": "by_device", "devices": [0, 1, 2, 3, 7, 6, 5, 4]}
//
// `nodes`: contiguous (neighbours from first_node on; the default), random (of all, in random order), by_group (one of
// each group in turn: dragonfly groups, leaves of a tree). `order`: by_slot (node after node; the default), by_node (to
// the nodes in turn), by_device (as by_slot, a node's devices in the order listed, as CUDA_VISIBLE_DEVICES does).
// The same rule and seed give the same placement everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "platform/placement.hpp"

namespace farandole {

struct PlacementRule {
  enum class Order : std::uint8_t { by_slot, by_node };
  enum class Nodes : std::uint8_t { contiguous, random, by_group };

  std::optional<Order> order;  // by_slot unless a launch line says otherwise
  Nodes nodes = Nodes::contiguous;
  std::vector<int> devices;           // local indices, each once; empty: all, as they come
  std::optional<int> ranks_per_node;  // all devices, or all listed, where nothing else says how many
  int first_node = 0;                 // of contiguous ones
  std::uint64_t seed = 1;             // of random ones
};

/// What a rule needs to know of the machine.
struct NodeLayout {
  int devices_per_node = 1;
  std::optional<int> nodes;  // empty: as many as needed
  int nodes_per_group = 0;   // node n is in group n / nodes_per_group; 0: the machine has no groups
};

PlacementRule read_placement_rule(const Value& where);

/// Places ranks on `hosts`, or on as many nodes as it takes where that is empty; `where` is blamed for what does not
/// fit.
Placement place(const PlacementRule& rule, int ranks, std::vector<Host> hosts, const NodeLayout& layout,
                const Value& where);

}  // namespace farandole
