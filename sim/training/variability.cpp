#include "training/variability.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <boost/math/distributions/normal.hpp>

#include "training/random.hpp"

namespace farandole {
namespace {

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal_distribution<double>(), probability);
}

std::vector<int> permutation(int ranks, std::uint64_t seed) {
  std::vector<int> result(static_cast<std::size_t>(ranks));
  std::iota(result.begin(), result.end(), 0);
  for (std::size_t i = result.size(); i > 1; --i) {
    std::swap(result[i - 1], result[mix(seed ^ mix(i)) % i]);
  }
  return result;
}

}  // namespace

Variability::Variability(int ranks, double device_spread, double step_jitter, std::uint64_t seed)
    : device_(ranks), step_jitter_(step_jitter), seed_(seed) {
  const std::vector<int> stratum = permutation(ranks, seed);
  for (int rank = 0; rank < ranks; ++rank) {
    const double probability = (stratum[static_cast<std::size_t>(rank)] + 0.5) / ranks;
    device_[rank] = 1 + device_spread * normal_quantile(probability);
  }
}

Eigen::ArrayXd Variability::factors(int iteration) const {
  if (step_jitter_ == 0) return device_;
  Eigen::ArrayXd result = device_;
  const std::uint64_t stream = mix(seed_ + 1) ^ mix(static_cast<std::uint64_t>(iteration) + (1ULL << 40U));
  for (Eigen::Index rank = 0; rank < result.size(); ++rank) {
    const double deviate = normal_quantile(uniform_deviate(stream ^ mix(static_cast<std::uint64_t>(rank))));
    result[rank] *= 1 + step_jitter_ * std::clamp(deviate, -4.0, 4.0);
  }
  return result;
}

}  // namespace farandole
