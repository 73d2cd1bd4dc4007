#include "learning/numpy_random.hpp"

#include <cmath>
#include <utility>

namespace farandole { inline namespace learning {

double NumpyRandom::uniform() {
  constexpr double low_bits = 67108864.0;  // 2^26
  constexpr double all_bits = 9007199254740992.0;
  const auto high = static_cast<double>(engine_() >> 5U);
  const auto low = static_cast<double>(engine_() >> 6U);
  return (high * low_bits + low) / all_bits;
}

double NumpyRandom::normal() {
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

}}  // namespace farandole::learning
