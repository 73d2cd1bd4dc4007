// Folds schedules in which all of one part of the ranks send to all of another at once, as workers and parameter
// servers do, before any way is worked out.
//
// Any permutation of a part changes nothing then, so a part is one rank of the quotient, and all transfers from part a
// to part b are one: of |a| |b| transfers, each rank sends |b| and receives |a|. A link of one of k alike nodes carries
// |a| |b| / k times what one transfer crosses it; capacities and crossings of the quotient are those of
// simulate/folding/fold.hpp. One pair of ranks is routed for every two parts.
//
// Known for platforms whose nodes have one device and whose network has no links of its own; a part are ranks that do
// the same in every phase, on nodes whose links are alike. Refused where messages keep processors (what a rank posts
// first is not like what it posts last), with congestion curves, limits of single connections and weights.
#pragma once

#include <optional>

#include "simulate/folding/fold.hpp"

namespace farandole { inline namespace simulate {

/// For ranks that all start together. O(ranks + links).
std::optional<Folding> fold_by_parts(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
