// The folding that is worth it, of whatever kind is exact for a schedule: first by what schedule and platform are known
// to be kept by (simulate/folding/moves.hpp, parts.hpp), for which hardly any way is worked out, and what is left of it
// by colouring; where nothing is known, or ranks start apart, by colouring all.
//
// Called by the clocks. Chunks must be equally long for it to be exact (simulate/folding/fold.hpp, shift.hpp).
#pragma once

#include <optional>

#include "simulate/folding/fold.hpp"

namespace farandole {

/// For ranks that start together; nothing where nothing is known beforehand.
std::optional<Folding> fold_before_routing(const RoutedSchedule& routed);

/// Nothing where nothing is known, or where it would not at least halve the ranks.
std::optional<Folding> worthwhile_folding(const RoutedSchedule& routed, const RankTimes& start);

}  // namespace farandole
