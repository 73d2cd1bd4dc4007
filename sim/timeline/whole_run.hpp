// A whole training run, worked out from its iterations: how long it takes and what it is worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole {

struct WholeRun {
  std::int64_t samples = 0;  // of the training set
  int epochs = 1;
  std::int64_t global_batch = 0;
  std::int64_t steps_per_epoch = 0;
  double distinct_share = 1;  // of the set that an epoch shows
  Seconds startup;            // once: launching, and the first broadcast of the parameters
  Seconds epoch;              // steps, metrics, evaluation and checkpoints
  Seconds evaluation;         // per epoch in the mean
  Seconds total;              // mean over seeds of failures
  Seconds total_p50;
  Seconds total_p95;
  double failures = 0;  // in the mean
  double goodput = 1;   // share of the total that is training done for good
  double samples_per_second = 0;
  double learning_rate = 0;  // after scaling; 0 where none is stated
  double warmup_epochs = 0;
  std::vector<std::string> caveats;
};

}  // namespace farandole
