// Where the bytes of a simulated collective go: over which links, and how busy these are.
//
// Called by `farandole collective --links` and `--draw`. Bytes are payload's, as the links' capacities are.
#pragma once

#include <vector>

#include "scenario/collective_run.hpp"

namespace farandole {

struct CollectiveLoads {
  Platform platform;
  std::vector<Bytes> bytes;         // by link
  std::vector<double> utilisation;  // by link: bytes / (capacity * time of the collective)

  /// The busiest `count` links, of equally busy ones those that come first; never an idle one.
  [[nodiscard]] std::vector<LinkUse> busiest(std::size_t count) const;
};

/// Of a point that `run_collective` made of the same request.
CollectiveLoads loads_of(const CollectivePoint& point, const CollectiveRequest& request, const Topology& topology,
                         const Value& where);

}  // namespace farandole
