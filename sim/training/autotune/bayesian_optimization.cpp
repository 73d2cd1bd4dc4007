#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "training/autotune/autotuner.hpp"
#include "training/random.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr int starts = 25;
constexpr double exploration = 0.01;
constexpr std::size_t scaled_from = 3;  // samples

double density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

double distribution(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

double expected_improvement(double mean, double deviation, double best) {
  if (deviation == 0) return 0;
  const double gain = mean - best - exploration;
  const double z = gain / deviation;
  return gain * distribution(z) + deviation * density(z);
}

}  // namespace

BayesianOptimization::BayesianOptimization(std::vector<Bounds> bounds, double noise, std::uint64_t seed)
    : bounds_(std::move(bounds)), process_(noise), seed_(seed) {}

void BayesianOptimization::add(const Eigen::VectorXd& place, double score) {
  places_.push_back(place);
  scores_.push_back(score);
}

void BayesianOptimization::clear() {
  places_.clear();
  scores_.clear();
}

Eigen::VectorXd BayesianOptimization::scaled_scores() const {
  Eigen::VectorXd scores = Eigen::VectorXd::Map(scores_.data(), static_cast<Eigen::Index>(scores_.size()));
  if (scores_.size() < scaled_from) return scores;
  const Eigen::VectorXd differences = scores.array() - scores.mean();
  const double deviation = std::sqrt(differences.squaredNorm() / static_cast<double>(scores_.size()));
  return deviation > 0 ? Eigen::VectorXd(differences / deviation) : differences;
}

bool BayesianOptimization::is_inside(const Eigen::VectorXd& place) const {
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const double value = place[static_cast<Eigen::Index>(i)];
    if (value < bounds_[i].least || value > bounds_[i].most) return false;
  }
  return true;
}

Eigen::VectorXd BayesianOptimization::random_place() {
  Eigen::VectorXd place(static_cast<Eigen::Index>(bounds_.size()));
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const auto [least, most] = bounds_[i];
    place[static_cast<Eigen::Index>(i)] = least + (most - least) * uniform_deviate(mix(seed_) ^ drawn_++);
  }
  return place;
}

Eigen::VectorXd BayesianOptimization::next() {
  Eigen::MatrixXd places(static_cast<Eigen::Index>(places_.size()), static_cast<Eigen::Index>(bounds_.size()));
  for (std::size_t i = 0; i < places_.size(); ++i) places.row(static_cast<Eigen::Index>(i)) = places_[i];
  process_.fit(places, scaled_scores());
  const double best_mean = process_.predict(places).mean.maxCoeff();
  const auto f = [&](const Eigen::VectorXd& at) {
    if (!is_inside(at)) return std::numeric_limits<double>::infinity();
    const auto [mean, deviation] = process_.predict(at.transpose());
    return -expected_improvement(mean[0], deviation[0], best_mean);
  };
  Minimum best{random_place(), std::numeric_limits<double>::infinity()};
  for (int start = 0; start < starts; ++start) {
    const Minimum found = minimise(f, random_place());
    if (found.value < best.value) best = found;
  }
  return best.at;
}

}}  // namespace farandole::training
