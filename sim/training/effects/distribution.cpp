#include "training/effects/distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <boost/math/distributions/gamma.hpp>

#include "training/random.hpp"

namespace farandole { inline namespace training {
namespace {

double constant(double /*probability*/, double /*deviation*/) {
  return 1;
}

double uniform(double probability, double deviation) {
  return 1 + deviation * std::sqrt(3.0) * (2 * probability - 1);
}

double normal(double probability, double deviation) {
  return 1 + deviation * std::clamp(normal_quantile(probability), -4.0, 4.0);
}

double lognormal(double probability, double deviation) {
  const double variance = std::log1p(deviation * deviation);
  return std::exp(-variance / 2 + std::sqrt(variance) * normal_quantile(probability));
}

double exponential(double probability, double deviation) {
  return 1 - deviation - deviation * std::log1p(-probability);
}

double gamma(double probability, double deviation) {
  const double scale = deviation * deviation;
  return boost::math::quantile(boost::math::gamma_distribution<double>(1 / scale, scale), probability);
}

}  // namespace

std::span<const DistributionKind> distribution_kinds() {
  static const std::array<DistributionKind, 6> kinds{{{"constant", 0, constant},
                                                      {"uniform", 0.5, uniform},
                                                      {"normal", 0.2, normal},
                                                      {"lognormal", 10, lognormal},
                                                      {"exponential", 1, exponential},
                                                      {"gamma", 2, gamma}}};
  return kinds;
}

const DistributionKind& distribution_kind(const std::string& name) {
  const auto found = std::ranges::find(distribution_kinds(), name, &DistributionKind::name);
  if (found == distribution_kinds().end()) throw std::invalid_argument("no such distribution: " + name);
  return *found;
}

double Distribution::factor(double probability) const {
  return varies() ? distribution_kind(kind).quantile(probability, deviation) : 1;
}

Distribution Distribution::of_sum(double count) const {
  return {kind, count > 1 ? deviation / std::sqrt(count) : deviation};
}

Seconds OsNoise::added(Seconds compute, double phase, double probability) const {
  const double hits = std::floor(compute / period + phase);
  if (hits < 1) return Seconds(0);
  return length * (hits * spread.of_sum(hits).factor(probability));
}

}}  // namespace farandole::training
