// What a strategy that tunes itself tried, and what it settled on: Horovod's autotuner.
//
// Filled by the strategy and the loop that lets it tune, part of a result point, printed by report/. A score is bytes
// reduced per microsecond, as Horovod logs it.
#pragma once

#include <vector>

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

struct TuningSample {
  bool hierarchical_allreduce = false;
  bool hierarchical_allgather = false;
  bool cache_enabled = true;
  Seconds cycle_time;
  Bytes fusion_threshold;
  double score = 0;

  static void fields(auto& sample, auto& visit) {
    visit("hierarchical_allreduce", sample.hierarchical_allreduce);
    visit("hierarchical_allgather", sample.hierarchical_allgather);
    visit("cache_enabled", sample.cache_enabled);
    visit("cycle_seconds", sample.cycle_time);
    visit("fusion_threshold", sample.fusion_threshold);
    visit("score", sample.score);
  }
};

struct Tuning {
  std::vector<TuningSample> samples;  // in the order in which they were tried
  TuningSample best;                  // what it works with now
  bool is_over = false;
  int steps = 0;    // until it was over
  Seconds seconds;  // which took so long

  static void fields(auto& tuning, auto& visit) {
    visit("steps", tuning.steps);
    visit("seconds", tuning.seconds);
    visit("best", tuning.best);
    visit("samples", tuning.samples);
    visit.settled(tuning.is_over, true);
  }
};

}}  // namespace farandole::timeline
