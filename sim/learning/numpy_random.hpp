// The random numbers of `numpy.random.seed(seed)`: what a notebook draws can be drawn again here, to the last bit.
//
// NumPy's legacy generator: MT19937 seeded by one word, uniform deviates of 53 bits (numpy/random/src/mt19937,
// `random_double`), normal deviates by Marsaglia's polar method, two at a time (src/legacy, `legacy_gauss`).
// `multivariate_normal` with unit covariance is these deviates row by row, plus the means.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

namespace farandole { inline namespace learning {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : engine_(seed) {}

  /// `random_sample`: uniform in [0, 1).
  double uniform() {
    constexpr double low_bits = 67108864.0;  // 2^26
    constexpr double all_bits = 9007199254740992.0;
    const auto high = static_cast<double>(engine_() >> 5U);
    const auto low = static_cast<double>(engine_() >> 6U);
    return (high * low_bits + low) / all_bits;
  }

  /// `randn`: normal with mean 0 and deviation 1.
  double normal() {
    if (kept_) return *std::exchange(kept_, std::nullopt);
    double x = 0;
    double y = 0;
    double square = 0;
    do {
      x = 2.0 * uniform() - 1.0;
      y = 2.0 * uniform() - 1.0;
      square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    kept_ = factor * x;
    return factor * y;
  }

 private:
  std::mt19937 engine_;
  std::optional<double> kept_;  // the second of a pair
};

}}  // namespace farandole::learning
