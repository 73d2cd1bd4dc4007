// Quantiles of plain numbers that all weigh the same, and percentiles of weighted durations.
//
// The quantile at `share` of n sorted values is the value at place share * (n - 1), between neighbours by interpolation
// (R's default, type 7), so that the one at 1/2 is the median. Of no values it is zero.
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

/// `share` from 0 to 1.
double quantile(std::vector<double> values, double share);

double median(std::vector<double> values);

// Percentiles of durations, each of which may stand for more or less than one iteration.
//
// The percentile at `share` is the smallest duration that at least this share of the total weight does not exceed.

struct WeightedDuration {
  Seconds duration;
  double weight = 1;
};

/// `durations` must not be empty and its weights not be negative, at least one above zero; `share` from 0 to 1.
Seconds percentile(std::vector<WeightedDuration> durations, double share);

}}  // namespace farandole::timeline
