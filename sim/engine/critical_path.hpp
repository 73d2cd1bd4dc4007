// The chain of work that the end of an iteration waited for, found backwards from its end.
//
// Every stretch ends when the next begins: the update waits for the last collective, a collective for the one before it
// on the stream, or else for the device that computes what it sends, or else for the strategy to start it; computation
// for the one before it, or for the collective that brings what it needs. Moments are those of the last rank at each
// stage.
#pragma once

#include <span>
#include <vector>

#include "engine/iteration.hpp"
#include "engine/task.hpp"
#include "timeline/explanation.hpp"

namespace farandole {

/// When the last rank passed each stage of a collective, as in TaskTimes.
struct LastTimes {
  Seconds begin;
  Seconds reducing;
  Seconds reduced;
  Seconds end;
};

/// Of all ranks.
LastTimes last_times(const TaskTimes& times);

/// Stretches in order, since the start of the iteration; those without length are left out. `computed`: the tasks of
/// the compute stream, at least one.
std::vector<PathStep> critical_path(const IterationMoments& moments, std::span<const Busy> computed,
                                    std::span<const LastTimes> communications);

}  // namespace farandole
