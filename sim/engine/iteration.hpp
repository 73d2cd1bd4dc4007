// One iteration in parts that add up, from finished tasks: at each instant the devices compute, or wait for what.
//
// Called with simulated moments and by a replay (backend/replay) with measured ones, so that the two can be compared
// part by part. Moments are those of the last rank at each stage.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "collective/operation.hpp"
#include "engine/task.hpp"
#include "timeline/explanation.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace engine {

struct IterationMoments {
  Seconds start;  // the iteration before is over
  Seconds fed;    // the batch is there
  Seconds synchronised{};
  Seconds end{};               // updated
  Seconds compute_slowdown{};  // by which collectives delay the ends of computation
};

/// A stretch in which a task was under way on all ranks.
struct Busy {
  Seconds from;
  Seconds to;
  Operation operation = Operation::allreduce;  // of a collective
  bool is_inside = false;                      // computation stops for it
  bool is_between_stages = false;              // of a pipeline; else between ranks that compute together
};

/// One iteration, from the moment the last rank ended the one before to the moment the last rank ends this one.
struct Iteration {
  Seconds duration;
  Seconds computing;              // passes and update, of the slowest rank
  Seconds exposed_communication;  // with communication under way while the device waits
  /// The same by what was under way; of several collectives, the one that began first.
  std::map<Operation, Seconds> exposed{};
  Seconds exposed_inside{};          // between ranks that compute together; not in `exposed`
  Seconds exposed_between_stages{};  // waiting for other stages of a pipeline and for what they send; likewise
  Seconds negotiation;               // with nothing under way, while ranks agree on what is next
  Seconds unclaimed;                 // with nothing under way, and nobody says why: copies out of buckets, for one
  Seconds input;                     // before the last rank starts to compute, waiting for its batch
  Seconds compute_slowdown;          // of what is computed: by which collectives delay it
  int collectives = 0;
};

/// `computed`: the tasks of the compute stream, at least one; `busy`: one per collective, by their begin; `negotiated`:
/// stretches in which ranks agreed on what is next, by their begin.
Iteration iteration_of(const IterationMoments& moments, std::span<const Busy> computed, std::span<const Busy> busy,
                       std::span<const Busy> negotiated = {});

// The chain of work that the end of an iteration waited for, found backwards from its end.
//
// Every stretch ends when the next begins: the update waits for the last collective, a collective for the one before it
// on the stream, or else for the device that computes what it sends, or else for the strategy to start it; computation
// for the one before it, or for the collective that brings what it needs. Moments are those of the last rank at each
// stage.

/// Stretches in order, since the start of the iteration; those without length are left out. `computed`: the tasks of
/// the compute stream, at least one.
std::vector<PathStep> critical_path(const IterationMoments& moments, std::span<const Busy> computed,
                                    std::span<const Stages> communications);

}}  // namespace farandole::engine
