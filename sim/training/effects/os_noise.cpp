#include <cmath>

#include "training/effects/distribution.hpp"

namespace farandole { inline namespace training {

Seconds OsNoise::added(Seconds compute, double phase, double probability) const {
  const double hits = std::floor(compute / period + phase);
  if (hits < 1) return Seconds(0);
  return length * (hits * spread.of_sum(hits).factor(probability));
}

}}  // namespace farandole::training
