// By how much one point is faster than another, when both are uncertain.
//
// The logarithm of the ratio of two throughputs is off by independent things. One that both have in common (BandSource)
// is put to each end on both at once, and what it does to both cancels. Of the simulator's own error two runs of one
// job differ in "same_job" (scenario/model_error.hpp). All else counts by itself. The logarithms of the ends add up in
// squares; how sure a gain is follows as if they were of a normal distribution. Used by report/ for the answer to a
// question, and by scenario/what_if.cpp.
#pragma once

#include <optional>

#include "timeline/result.hpp"

namespace farandole { inline namespace timeline {

struct Difference {
  double probability = 0;
  double throughput = 1;  // of the second point, as a factor of the first one's
  Interval band;          // of that factor
  double sure = 0;        // how probable it is that the throughput changes this way, up or down

  static void fields(auto& difference, auto& visit) {
    visit("probability", difference.probability);
    visit("throughput_ratio", difference.throughput);
    visit("throughput_ratio_band", difference.band);
    visit("sure", difference.sure);
  }
};

/// A point without bands is certain, as what the user measured is; nothing where neither has any.
std::optional<Difference> difference(const TrainingPoint& from, const TrainingPoint& to);

}}  // namespace farandole::timeline
