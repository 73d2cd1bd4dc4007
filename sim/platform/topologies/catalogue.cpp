// The catalogue of topology kinds: one row per file of this folder that builds one.
#include <array>

#include "platform/topologies/star.hpp"
#include "platform/topology.hpp"

namespace farandole {

std::span<const Entry<TopologyKind>> topology_kinds() {
  static const std::array<Entry<TopologyKind>, 1> table{{
      {"star", "nodes around one non-blocking switch", {read_star}},
  }};
  return table;
}

}  // namespace farandole
