// What a strategy that tunes itself tried, and what it settled on: Horovod's autotuner.
//
// Filled by the strategy and the loop that lets it tune, part of a result point, printed by report/. A score is bytes
// reduced per microsecond, as Horovod logs it.
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole {

struct TuningSample {
  bool hierarchical_allreduce = false;
  bool hierarchical_allgather = false;
  bool cache_enabled = true;
  Seconds cycle_time;
  Bytes fusion_threshold;
  double score = 0;
};

struct Tuning {
  std::vector<TuningSample> samples;  // in the order in which they were tried
  TuningSample best;                  // what it works with now
  bool is_over = false;
  int steps = 0;    // until it was over
  Seconds seconds;  // which took so long
};

}  // namespace farandole
