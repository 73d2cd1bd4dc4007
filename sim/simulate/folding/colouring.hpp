// The coarsest stable colouring of an incidence graph: the fewest colours such that vertices of one colour began with
// the same colour and have, of every bond, equally many neighbours of every colour.
//
// Ranks, transfers and links of one colour then behave alike at every moment of a collective, as long as they began
// alike: whether a rank may go on and how fast a transfer is depends on counts per colour alone (McKay, Congressus
// Numerantium 30, 1981, has the refinement; Ramana, Scheinerman and Ullman, Discrete Mathematics 132, 1994, that such
// colourings keep the values of linear programs, which the levels of max-min sharing are).
//
// By partition refinement (Cardon and Crochemore, TCS 19, 1982): a class that splits is used again to split others,
// but for its largest part, so an edge is looked at O(log vertices) times. Counts are compared, never hashes.
#pragma once

#include <vector>

#include "simulate/folding/incidence.hpp"

namespace farandole {

/// One colour per vertex: 0, 1, ... in the order in which they first appear.
using Colouring = std::vector<int>;

/// `first` has one colour per vertex; vertices of different colours stay apart. No colour may be shared by a transfer
/// and something else.
Colouring coarsest_stable_colouring(const Incidence& graph, const Colouring& first);

/// Whether vertices of one colour have equally many neighbours of every colour and bond; O(edges), on its own.
bool is_stable(const Incidence& graph, const Colouring& colours);

}  // namespace farandole
