// Rank 0 writes a checkpoint now and then, and everybody waits for it.
//
// In synchronous training the other ranks come to a stop at their next collective until rank 0 is back, so a checkpoint
// delays the job by its whole length:
//
//   pause = latency + size / rate,   per iteration in the mean: pause / steps, or pause x iteration / period
//
// Where the period is a time it counts the training between two checkpoints, as in Young's and Daly's formulas.
#pragma once

#include <optional>

#include "units/quantity.hpp"

namespace farandole {

struct Checkpoint {
  Bytes size;
  BytesPerSecond rate = BytesPerSecond::infinity();
  Seconds latency;
  std::optional<int> every_steps;
  std::optional<Seconds> every;  // of training; one of the two is set

  [[nodiscard]] Seconds pause() const { return latency + size / rate; }
  /// Checkpoints per iteration that takes `iteration` without them.
  [[nodiscard]] double per_iteration(Seconds iteration) const;
  /// Training time between two checkpoints.
  [[nodiscard]] Seconds interval(Seconds iteration) const;
};

}  // namespace farandole
