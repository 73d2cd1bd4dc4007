#include "training/autotune/autotuner.hpp"

#include <algorithm>
#include <cmath>

namespace farandole { inline namespace training {
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
