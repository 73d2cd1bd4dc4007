// Percentiles of durations, each of which may stand for more or less than one iteration.
//
// The percentile at `share` is the smallest duration that at least this share of the total weight does not exceed.
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole {

struct WeightedDuration {
  Seconds duration;
  double weight = 1;
};

/// `durations` must not be empty and its weights not be negative, at least one above zero; `share` from 0 to 1.
Seconds percentile(std::vector<WeightedDuration> durations, double share);

}  // namespace farandole
