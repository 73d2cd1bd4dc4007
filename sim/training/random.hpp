// Random numbers as functions of a counter: the same seed gives the same run, whatever the order of evaluation.
#pragma once

#include <cstdint>

namespace farandole { inline namespace training {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a good 64-bit mix of a counter.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// Uniform in the open interval (0, 1).
constexpr double uniform_deviate(std::uint64_t counter) {
  return (static_cast<double>(mix(counter) >> 11U) + 0.5) * 0x1.0p-53;
}

// The normal distribution's quantile function, with which an even deviate becomes a normal one.

/// Standard deviations from the mean; `probability` strictly between 0 and 1.
double normal_quantile(double probability);

}}  // namespace farandole::training
