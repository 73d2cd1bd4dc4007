// The chain of work that the end of an iteration waited for, found backwards from its end.
//
// Every stretch ends when the next begins: the update waits for the last collective, a collective for the one before it
// on the stream, or else for the device that computes its gradients, or else for the strategy to start it. Moments are
// those of the last rank at each stage.
#pragma once

#include <span>
#include <vector>

#include "timeline/explanation.hpp"
#include "training/executor.hpp"

namespace farandole {

struct IterationMoments {
  Seconds start;  // the iteration before is over
  Seconds fed;    // the batch is there
  Seconds compute_begin;
  Seconds compute_end;  // of the backward pass
  Seconds synchronised;
  Seconds end;  // updated
};

/// Stretches in order, since the start of the iteration; those without length are left out.
std::vector<PathStep> critical_path(const IterationMoments& moments,
                                    std::span<const CommunicationTimes> communications);

}  // namespace farandole
