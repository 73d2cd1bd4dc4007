// The random numbers of `numpy.random.seed(seed)`: what a notebook draws can be drawn again here, to the last bit.
//
// NumPy's legacy generator: MT19937 seeded by one word, uniform deviates of 53 bits (numpy/random/src/mt19937,
// `random_double`), normal deviates by Marsaglia's polar method, two at a time (src/legacy, `legacy_gauss`).
// `multivariate_normal` with unit covariance is these deviates row by row, plus the means.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

namespace farandole { inline namespace learning {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : engine_(seed) {}

  /// `random_sample`: uniform in [0, 1).
  double uniform();
  /// `randn`: normal with mean 0 and deviation 1.
  double normal();

 private:
  std::mt19937 engine_;
  std::optional<double> kept_;  // the second of a pair
};

}}  // namespace farandole::learning
