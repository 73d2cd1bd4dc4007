// Which device each rank sits on.
//
// Ranks fill slots as `horovodrun -H host:slots` and `mpirun` do: host by host in the order given, or one to each host
// in turn (`mpirun --map-by node`). Host h of the list is node h of the platform, its slot s is device s of that node.
// Rank r is on device `device_of_rank[r]` of the platform; no device carries two ranks.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "platform/platform.hpp"

namespace farandole {

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

}  // namespace farandole
