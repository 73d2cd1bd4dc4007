// How likely measured times are under predicted ones, where predictions share an error.
//
// The logarithms of measured / predicted are Student-t (5 degrees of freedom: rare errors are larger than a normal
// distribution has them) about zero, with a covariance of shared shared^T + diag(own^2): steps share the error of their
// devices' compute times, collectives nothing.
#pragma once

#include <vector>

namespace farandole {

/// The half width of a band that holds eight of ten, in units of the scale: the 90 % quantile of that distribution.
inline constexpr double band_in_scales = 1.476;

struct MeasuredRatio {
  double logarithm = 0;  // of measured / predicted
  double own = 0;        // scale of the error that it has alone, above 0
  double shared = 0;     // of the one that all have, each so much of it
};

/// Up to a factor that is the same for all predictions of the same measurements.
double log_likelihood(const std::vector<MeasuredRatio>& ratios);

/// The scale of the error of a further time, once those are known.
double scale_of_next(const std::vector<MeasuredRatio>& known, const MeasuredRatio& next);

/// Squares of the errors in units of their scale, over their number.
double misfit(const std::vector<MeasuredRatio>& ratios);

}  // namespace farandole
