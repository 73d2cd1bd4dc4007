// The folding that is worth it, of whatever kind is exact for a schedule.
//
// Called by the clocks. Chunks must be equally long for it to be exact (simulate/folding/fold.hpp, shift.hpp).
#pragma once

#include <optional>

#include "simulate/folding/fold.hpp"

namespace farandole {

/// Nothing where nothing is known, or where it would not at least halve the ranks.
std::optional<Folding> worthwhile_folding(const RoutedSchedule& routed, const RankTimes& start);

}  // namespace farandole
