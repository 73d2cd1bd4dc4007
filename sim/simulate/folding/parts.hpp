// Folds schedules in which all of one part of the ranks send to all of another at once, as workers and parameter
// servers do, or all to all, as in a direct exchange, before any way is worked out.
//
// On one switch any permutation of nodes that are alike changes nothing, so ranks on like devices of like nodes are one
// rank of the quotient, a part, however many nodes of a kind there are. All transfers from part a to part b between
// nodes are one, and all within nodes. Of k_a and k_b nodes, each rank of b receives k_a between nodes (k_a - 1 where
// the nodes are of one kind) and 1 within its own. A link of one of k nodes carries all transfers / k times what one
// crosses it; capacities and crossings of the quotient are those of simulate/folding/fold.hpp. One pair of ranks is
// routed for each.
//
// Known for platforms whose network has no links of its own. Refused where messages keep processors (what a rank posts
// first is not like what it posts last), with congestion curves, limits of single connections and weights.
#pragma once

#include <optional>

#include "simulate/folding/fold.hpp"

namespace farandole { inline namespace simulate {

/// For ranks that all start together. O(ranks + links).
std::optional<Folding> fold_by_parts(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
