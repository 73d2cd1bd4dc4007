// By how much one point is faster than another, when both are uncertain.
//
// The logarithm of the ratio of two throughputs is off by independent things. Each kind of change between the two
// (TrainingPoint::compared) has a spread of its own, learned from published runs that differ in it alone; with ranks it
// grows as the root of the doublings between. Numbers that nothing has settled (BandSource) are put to each end on both
// sides at once; what they do to both cancels. So does the estimate of one model's compute, whose spread is that of the
// change of device, precision or batch; of two models, or beside a measured one, it counts in full. The logarithms of
// the ends add up in squares. How sure a gain is follows as if they were of Student's distribution with two degrees of
// freedom, as the tails of published pairs are, and is never above 95 %. Used by report/ for the answer to a question,
// by scenario/what_if.cpp and by calibration/ratios.cpp.
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
