// Where the bytes of a simulated collective go: over which links, and how busy these are.
//
// Called by `farandole collective --links` and `--draw`.
#pragma once

#include "scenario/collective_run.hpp"
#include "scenario/network_loads.hpp"

namespace farandole {

/// Of a point that `run_collective` made of the same request.
NetworkLoads loads_of(const CollectivePoint& point, const CollectiveRequest& request, const Topology& topology,
                      const Value& where);

}  // namespace farandole
