// One iteration in parts that add up: from the moments that the last rank passed its stations at.
//
// Called by the event loop with simulated moments and by a replay (backend/replay) with measured ones, so that the two
// can be compared part by part.
#pragma once

#include <span>

#include "simulate/critical_path.hpp"

namespace farandole {

/// One iteration, from the moment the last rank ended the one before to the moment the last rank ends this one.
struct Iteration {
  Seconds duration;
  Seconds exposed_communication;  // before the forward or after the slowest backward pass, with communication under way
  Seconds negotiation;            // after the slowest rank's backward pass, with nothing under way
  Seconds input;                  // before the last rank starts to compute, waiting for its batch
  Seconds stolen;                 // by which collectives delay the end of the slowest rank's backward pass
  int collectives = 0;
};

/// A stretch in which a collective was under way on all ranks.
struct Busy {
  Seconds from;
  Seconds to;
};

/// `busy`: one per collective, in the order in which they were started.
Iteration iteration_of(const IterationMoments& moments, std::span<const Busy> busy, Seconds stolen);

}  // namespace farandole
