// Quantiles of plain numbers that all weigh the same (of weighted durations: timeline/percentile.hpp).
//
// The quantile at `share` of n sorted values is the value at place share * (n - 1), between neighbours by interpolation
// (R's default, type 7), so that the one at 1/2 is the median. Of no values it is zero.
#pragma once

#include <vector>

namespace farandole {

/// `share` from 0 to 1.
double quantile(std::vector<double> values, double share);

double median(std::vector<double> values);

}  // namespace farandole
