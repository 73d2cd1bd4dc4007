// By which algorithm or library each of a scenario's collectives goes.
//
// Called by the reader of scenarios. What its "collectives" name counts first, then what the strategy's settings ask
// for, then what the machine itself does (scenario/library_choice.hpp: default_collective). Where the topology's
// library is there by default only and cannot be simulated beside something that was asked for, an algorithm takes its
// place and the settings say so; where it was asked for, that is refused.
#pragma once

#include <optional>
#include <string>

#include "scenario/scenario.hpp"

namespace farandole {

/// Fills in `collectives`, `libraries` and `plain_by_default`; platform and strategy have been read.
void read_collectives(const std::optional<Value>& where, const Catalogue& catalogue, Scenario& scenario);

/// Algorithms in place of libraries that nobody asked for.
void leave_default_libraries(Scenario& scenario, const std::string& why);

}  // namespace farandole
