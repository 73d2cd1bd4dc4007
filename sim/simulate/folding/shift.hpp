// Folds schedules that look the same from every so many ranks, on platforms that do: those whose receivers move on from
// repeat to repeat (a shift alltoall) or that send to everybody at once, which no list of transfers need be made for.
//
// Where moving every rank on by d, modulo all, changes neither the schedule (every transfer from r to s has its like
// from r + d to s + d) nor the platform (Network::alike_after), ranks r and r + d do the same at the same moments, if
// all start together and chunks are equally long. So rank r stands for all of its rest modulo d, and a transfer from
// one of the first d ranks for n / d of them. Links that the move takes into one another are one link of the quotient:
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

/// Nothing where no such d below the number of ranks is known. O(links + d * rounds).
std::optional<Folding> fold_by_shift(const RoutedSchedule& routed);

}  // namespace farandole
