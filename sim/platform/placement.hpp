// Which device each rank sits on.
//
// Ranks fill slots as `horovodrun -H host:slots` and `mpirun` do: host by host in the order given. Rank r is on device
// `device_of_rank[r]` of the platform; no device carries two ranks.
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
  int nodes_used = 0;
};

/// `hosts` empty: every node with all its devices, as many nodes as it takes. A host's slots must not exceed a node's
/// devices and `ranks` must not exceed all slots; otherwise `where` fails with the numbers.
Placement place_by_slot(int ranks, const std::vector<Host>& hosts, int devices_per_node, const Value& where);

}  // namespace farandole
