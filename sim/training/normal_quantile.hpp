// The normal distribution's quantile function, with which an even deviate becomes a normal one.
#pragma once

namespace farandole {

/// Standard deviations from the mean; `probability` strictly between 0 and 1.
double normal_quantile(double probability);

}  // namespace farandole
