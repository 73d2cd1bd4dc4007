// Folds by moves that nobody notices (simulate/folding/moves.hpp), before ways are worked out: schedules whose
// receivers move on from repeat to repeat (a shift alltoall), that send to everybody at once, or that have many
// transfers.
//
// Where shifting every rank by d, or exchanging all with those that differ in some bits, changes neither the schedule
// nor the platform, ranks that are moved into one another do the same at the same moments, if all start together and
// chunks are equally long. So rank r stands for all of its rest modulo d, and a transfer from one of the first d ranks
// for n / d of them: only theirs are routed. Links that the move takes into one another are one link of the quotient:
// of an orbit of k links each carries a transfer of every class as often as the representative crosses the orbit, times
// (n / d) / k; the quotient's link has the capacity C k d / n, and the representative's own crossings.
//
// That routes repeat is what the platform's builder says; that the links of an orbit have one capacity and latency is
// looked at, and likewise the schedule and the placement. The quotient is a RoutedSchedule of d ranks that works out
// its legs as they are asked for: O(d) per round.
#pragma once

#include <optional>

#include "simulate/folding/fold.hpp"

namespace farandole {

/// Nothing where no such d below the number of ranks is known. O(links + transfers of the pattern + d * rounds).
std::optional<Folding> fold_by_moves(const RoutedSchedule& routed);

}  // namespace farandole
