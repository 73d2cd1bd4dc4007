#include "training/autotune/autotuner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "training/random.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr int starts = 25;
constexpr double exploration = 0.01;
constexpr std::size_t scaled_from = 3;  // samples

double expected_improvement(double mean, double deviation, double best) {
  if (deviation == 0) return 0;
  const double gain = mean - best - exploration;
  const double z = gain / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double distribution = std::erfc(-z / std::numbers::sqrt2) / 2;
  return gain * distribution + deviation * density;
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

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Matrix kernel(const Matrix& a, const Matrix& b, double length, double height) {
  Matrix squares(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    squares.row(i) = (b.rowwise() - a.row(i)).rowwise().squaredNorm().transpose();
  }
  return height * height * (-squares.array() / (2 * length * length)).exp().matrix();
}

Matrix with_noise(const Matrix& places, double length, double height, double noise) {
  return kernel(places, places, length, height) + noise * noise * Matrix::Identity(places.rows(), places.rows());
}

/// Minus the logarithm of how likely the values are.
double negative_log_likelihood(const Eigen::LLT<Matrix>& covariance, const Vector& values) {
  if (covariance.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  const double determinant = covariance.matrixLLT().diagonal().array().log().sum();
  const auto count = static_cast<double>(values.size());
  return values.dot(covariance.solve(values)) / 2 + determinant + count / 2 * std::log(2 * std::numbers::pi);
}

}  // namespace

void GaussianProcess::fit(const Matrix& places, const Vector& values) {
  const auto f = [&](const Vector& at) {
    return negative_log_likelihood(Eigen::LLT<Matrix>(with_noise(places, at[0], at[1], noise_)), values);
  };
  const Minimum best = minimise(f, Vector::Ones(2));
  length_ = best.at[0];
  height_ = best.at[1];
  places_ = places;
  covariance_.compute(with_noise(places, length_, height_, noise_));
  weights_ = covariance_.solve(values);
}

GaussianProcess::Posterior GaussianProcess::predict(const Matrix& places) const {
  constexpr double least = 1e-8;  // of a variance, against rounding
  const Matrix between = kernel(places_, places, length_, height_);
  const Matrix explained = between.transpose() * covariance_.solve(between);
  Posterior posterior;
  posterior.mean = between.transpose() * weights_;
  posterior.deviation = (height_ * height_ + least - explained.diagonal().array()).max(0).sqrt();
  return posterior;
}

namespace {

constexpr int most_bfgs_steps = 100;
constexpr double flat = 1e-5;  // relative to the place, as LBFGS++ stops

/// Forward differences; backward where the step forward is out of bounds.
Vector slope(const Objective& f, const Vector& at, double value) {
  constexpr double step = 1e-7;
  Vector result(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    Vector moved = at;
    moved[i] += step;
    double difference = f(moved) - value;
    if (!std::isfinite(difference)) {
      moved[i] = at[i] - step;
      difference = value - f(moved);
    }
    result[i] = std::isfinite(difference) ? difference / step : 0;
  }
  return result;
}

/// Half the step until it goes down enough.
std::optional<Minimum> downhill(const Objective& f, const Minimum& from, const Vector& step, double along) {
  constexpr double enough = 1e-4;
  for (double length = 1; length > 1e-12; length /= 2) {
    const Vector at = from.at + length * step;
    const double value = f(at);
    if (value <= from.value + enough * length * along) return Minimum{at, value};
  }
  return std::nullopt;
}

void learn_curvature(Matrix& inverse, const Vector& moved, const Vector& bent) {
  const double both = moved.dot(bent);
  if (both <= 1e-12) return;
  const Matrix left = Matrix::Identity(moved.size(), moved.size()) - moved * bent.transpose() / both;
  inverse = left * inverse * left.transpose() + moved * moved.transpose() / both;
}

}  // namespace

Minimum minimise(const Objective& f, const Eigen::VectorXd& start) {
  Minimum best{start, f(start)};
  Vector gradient = slope(f, best.at, best.value);
  Matrix inverse = Matrix::Identity(start.size(), start.size());
  for (int i = 0; i < most_bfgs_steps && gradient.norm() > flat * std::max(1.0, best.at.norm()); ++i) {
    Vector step = -inverse * gradient;
    if (step.dot(gradient) >= 0) step = -gradient;
    const auto next = downhill(f, best, step, step.dot(gradient));
    if (!next) break;
    const Vector next_gradient = slope(f, next->at, next->value);
    learn_curvature(inverse, next->at - best.at, next_gradient - gradient);
    best = *next;
    gradient = next_gradient;
  }
  return best;
}

namespace {

constexpr std::array<std::array<double, 2>, 4> first_points{{{4, 5}, {32, 50}, {16, 25}, {8, 10}}};  // MiB and ms

std::vector<Bounds> bounds_of(const Tunable& tunable) {
  std::vector<Bounds> bounds;
  if (tunable.fusion_threshold) bounds.push_back({0, 64});
  if (tunable.cycle_time) bounds.push_back({1, 100});
  return bounds;
}

}  // namespace

Autotuner::Autotuner(const AutotuneSettings& settings, const Tunable& tunable, const TuningSample& start,
                     std::uint64_t seed)
    : settings_(settings),
      tunable_(tunable),
      start_(start),
      search_(bounds_of(tunable), settings.noise, seed),
      place_(free_part(first_points.front())),
      best_place_(place_),
      warmup_left_(settings.warmup_samples) {
  const auto add = [&](bool free, bool TuningSample::*which) {
    if (free) switches_.push_back({which, false, start.*which});
  };
  add(tunable.hierarchical_allreduce, &TuningSample::hierarchical_allreduce);
  add(tunable.hierarchical_allgather, &TuningSample::hierarchical_allgather);
  add(tunable.cache_enabled, &TuningSample::cache_enabled);
  tuning_.best = values();
}

Eigen::VectorXd Autotuner::free_part(const std::array<double, 2>& point) const {
  std::vector<double> part;
  if (tunable_.fusion_threshold) part.push_back(point[0]);
  if (tunable_.cycle_time) part.push_back(point[1]);
  return Eigen::VectorXd::Map(part.data(), static_cast<Eigen::Index>(part.size()));
}

void Autotuner::put(const Eigen::VectorXd& place, TuningSample& values) const {
  Eigen::Index next = 0;
  if (tunable_.fusion_threshold) values.fusion_threshold = std::floor(place[next++] * 1048576) * 1_B;
  if (tunable_.cycle_time) values.cycle_time = place[next] * 1_ms;
}

TuningSample Autotuner::values() const {
  TuningSample now = start_;
  put(tuning_.is_over ? best_place_ : place_, now);
  for (const Switch& one : switches_) now.*one.which = tuning_.is_over ? one.best : one.value;
  now.score = best_score_;
  return now;
}

bool Autotuner::Switch::tune(double score) {
  if (score > best_score) {
    best_score = score;
    best = value;
  }
  value = !value;
  return !value;
}

bool Autotuner::tune_place(double score) {
  if (score > best_score_) {
    best_score_ = score;
    best_place_ = place_;
  }
  if (place_.size() == 0) return true;
  search_.add(place_, score);
  ++tried_;
  if (tried_ > settings_.max_samples) {
    place_ = free_part(first_points.front());
    tried_ = 0;
    search_.clear();
    return true;
  }
  const auto next = static_cast<std::size_t>(tried_);
  place_ = next < first_points.size() ? free_part(first_points[next]) : search_.next();
  return false;
}

void Autotuner::tune(double score) {
  TuningSample tried = values();
  tried.score = score;
  tuning_.samples.push_back(tried);
  bool through = tune_place(score);
  double best = best_score_;
  for (Switch& one : switches_) {
    if (!through) break;
    through = one.tune(best);
    best = one.best_score;
  }
  tuning_.is_over = through;
  tuning_.best = values();
}

void Autotuner::start_sample(Seconds now) {
  counts_.clear();
  scores_.clear();
  bytes_ = Bytes(0);
  since_ = now;
}

void Autotuner::observe(std::span<const int> tensors, Bytes bytes, Seconds now) {
  if (tuning_.is_over) return;
  if (!since_) since_ = now;
  for (const int tensor : tensors) {
    const auto index = static_cast<std::size_t>(tensor);
    if (counts_.size() <= index) counts_.resize(index + 1, 0);
    const int step = counts_[index]++;
    if (step < static_cast<int>(scores_.size() + 1) * settings_.steps_per_sample) continue;
    scores_.push_back(bytes_.si() / ((now - *since_).si() * 1e6));
    bytes_ = Bytes(0);
    since_ = now;
    break;
  }
  bytes_ += bytes;
  if (scores_.size() < scores_per_sample) return;
  std::ranges::sort(scores_);
  const double median = scores_[scores_per_sample / 2];
  warmup_left_ > 0 ? static_cast<void>(--warmup_left_) : tune(median);
  start_sample(now);
}

}}  // namespace farandole::training
