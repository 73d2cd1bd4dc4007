// The inside of a node, the same in every node of a platform: its links and the ways between its devices and its NICs.
//
// Made by platform/topologies/kinds.hpp, read by Platform::route. Links are offsets into `links`; node n of a platform
// has its own copy of them from link n * links.size() on, so a platform's memory is O(links), whatever stands in a
// node. A way never uses a link twice. `between` has an empty path from a device to itself.
#pragma once

#include <cstddef>
#include <vector>

#include "platform/link.hpp"

namespace farandole { inline namespace platform {

struct NodeTemplate {
  /// Where the node meets the network: its links onto the wire and from it, -1 where the network's own links do.
  struct Nic {
    int up = -1;
    int down = -1;
  };

  int devices = 1;
  std::vector<Link> links;                       // named within the node: "nic0/up"
  std::vector<Nic> nics;                         // at least one
  int cpu = -1;                                  // what moves all that goes out and comes in; -1: nothing limits it
  std::vector<std::vector<int>> nics_of_device;  // which a device sends and receives through, split evenly
  std::vector<Paths> between;                    // [from * devices + to]
  std::vector<Paths> to_nic;                     // [device * nics + nic], the NIC's `up` last
  std::vector<Paths> from_nic;                   // [nic * devices + device], the NIC's `down` first

  [[nodiscard]] const Paths& way(int from, int to) const { return between[at(from, devices, to)]; }
  [[nodiscard]] const Paths& way_out(int device, int nic) const {
    return to_nic[at(device, static_cast<int>(nics.size()), nic)];
  }
  [[nodiscard]] const Paths& way_in(int nic, int device) const { return from_nic[at(nic, devices, device)]; }

 private:
  static std::size_t at(int row, int columns, int column) { return static_cast<std::size_t>(row * columns + column); }
};

}}  // namespace farandole::platform
