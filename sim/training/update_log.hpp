// When the weights of a training run changed, and with whose gradients: all that numeric training needs of a timed run.
//
// Filled by whoever runs a strategy, read by learning/. Entries are in order of application. A synchronous strategy
// has one entry per iteration with everybody's gradients in it; a server that does not wait has one per worker's push,
// whose gradient was computed on the weights that this worker had pulled last.
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace training {

inline constexpr int every_rank = -1;

struct Update {
  Seconds at;             // the weights have changed, counted from the start of the run
  int rank = every_rank;  // whose gradient was applied
  int seen = 0;           // how many updates were in the weights that it was computed with
};

using UpdateLog = std::vector<Update>;

}}  // namespace farandole::training
