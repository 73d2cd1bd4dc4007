#include "training/variability.hpp"

#include <numeric>
#include <utility>

#include <boost/math/distributions/normal.hpp>

#include "training/random.hpp"

namespace farandole { inline namespace training {
namespace {

std::vector<int> permutation(int ranks, std::uint64_t seed) {
  std::vector<int> result(static_cast<std::size_t>(ranks));
  std::iota(result.begin(), result.end(), 0);
  for (std::size_t i = result.size(); i > 1; --i) {
    std::swap(result[i - 1], result[mix(seed ^ mix(i)) % i]);
  }
  return result;
}

/// The deviate of a rank in an iteration's stream.
double deviate(std::uint64_t stream, Eigen::Index rank) {
  return uniform_deviate(stream ^ mix(static_cast<std::uint64_t>(rank)));
}

}  // namespace

Variability::Variability(int ranks, double device_spread, double step_jitter, std::uint64_t seed)
    : Variability(ranks, device_spread, Distribution{"normal", step_jitter}, seed) {}

Variability::Variability(int ranks, double device_spread, Distribution step_jitter, std::uint64_t seed)
    : device_(ranks), step_jitter_(std::move(step_jitter)), seed_(seed) {
  const std::vector<int> stratum = permutation(ranks, seed);
  for (int rank = 0; rank < ranks; ++rank) {
    const double probability = (stratum[static_cast<std::size_t>(rank)] + 0.5) / ranks;
    device_[rank] = 1 + device_spread * normal_quantile(probability);
  }
}

void Variability::disturb(const OsNoise& noise, Seconds compute) {
  if (compute > Seconds(0)) disturbance_ = Disturbance{noise, compute};
}

Variability Variability::of(std::vector<int> ranks) const {
  Variability some = *this;
  some.only_ = std::move(ranks);
  return some;
}

bool Variability::is_uniform() const {
  return !step_jitter_.varies() && !disturbance_ && (device_ == device_[0]).all();
}

Eigen::ArrayXd Variability::factors(int iteration) const {
  Eigen::ArrayXd result = device_;
  const std::uint64_t number = static_cast<std::uint64_t>(iteration) + (1ULL << 40U);
  const std::uint64_t stream = mix(seed_ + 1) ^ mix(number);
  for (Eigen::Index rank = 0; step_jitter_.varies() && rank < result.size(); ++rank) {
    result[rank] *= step_jitter_.factor(deviate(stream, rank));
  }
  if (disturbance_) disturb(result, number);
  if (!only_.empty()) return result(only_);
  return result;
}

void Variability::disturb(Eigen::ArrayXd& factors, std::uint64_t iteration) const {
  const auto& [noise, compute] = *disturbance_;
  const std::uint64_t phase = mix(seed_ + 2) ^ mix(iteration);
  const std::uint64_t length = mix(seed_ + 3) ^ mix(iteration);
  for (Eigen::Index rank = 0; rank < factors.size(); ++rank) {
    factors[rank] += noise.added(compute * factors[rank], deviate(phase, rank), deviate(length, rank)) / compute;
  }
}

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal_distribution<double>(), probability);
}

}}  // namespace farandole::training
