// The clocks of a scenario's collectives, and the traffic that is on the network with them.
//
// Called by scenario/train.cpp.
#pragma once

#include <memory>

#include "scenario/scenario.hpp"
#include "simulate/collective_clocks.hpp"
#include "simulate/shared_streams.hpp"
#include "simulate/traffic.hpp"

namespace farandole {

/// The schedule of an operation for ranks placed like that; a ring where a library chooses one by size. `hierarchical`:
/// by that algorithm, not by the one the operation has.
Schedule build_schedule(const Scenario& scenario, const Placement& placement, Operation operation,
                        bool hierarchical = false);

/// Null where nobody else is there, where contention is switched off, and for one rank, which sends nothing.
std::shared_ptr<Traffic> traffic_beside(const Scenario& scenario, const Placement& placement);

/// `scenario` must outlive them. `traffic` may be null.
CollectiveClocks clocks_of(const Scenario& scenario, const Placement& placement, std::shared_ptr<Traffic> traffic);

/// Where collectives may be under way at the same time; null where they go one after the other.
std::unique_ptr<SharedStreams> streams_of(const Scenario& scenario, const Placement& placement);

/// What became of the other jobs in a run beside which they were; empty without traffic.
std::vector<Neighbour> neighbours_of(const Scenario& scenario, Traffic* traffic);

}  // namespace farandole
