#include "training/effects/input_pipeline.hpp"

#include <algorithm>
#include <utility>

#include "training/random.hpp"

namespace farandole { inline namespace training {

InputPipeline::InputPipeline(RankTimes batch_time, int prefetch, Distribution spread, std::uint64_t seed)
    : batch_time_(std::move(batch_time)),
      prefetch_(prefetch),
      spread_(std::move(spread)),
      seed_(mix(seed + 4)),
      batches_(static_cast<std::size_t>(batch_time_.size()), 0),
      made_(RankTimes::Zero(batch_time_.size())),
      taken_(static_cast<std::size_t>(prefetch), RankTimes::Zero(batch_time_.size())) {}

RankTimes InputPipeline::start(const RankTimes& free) {
  RankTimes started(free.size());
  for (Eigen::Index rank = 0; rank < free.size(); ++rank) {
    started[rank] = start(static_cast<int>(rank), Seconds(free[rank])).si();
  }
  return started;
}

Seconds InputPipeline::start(int rank, Seconds free) {
  const int batch = batches_[static_cast<std::size_t>(rank)]++;
  double* const taken = prefetch_ > 0 ? &taken_[static_cast<std::size_t>(batch % prefetch_)][rank] : nullptr;
  made_[rank] = std::max(made_[rank], taken != nullptr ? *taken : free.si()) + making_time(rank, batch);
  const double started = std::max(free.si(), made_[rank]);
  if (taken != nullptr) *taken = started;
  return Seconds(started);
}

double InputPipeline::making_time(int rank, int batch) const {
  if (!spread_.varies()) return batch_time_[rank];
  const std::uint64_t stream = seed_ ^ mix(static_cast<std::uint64_t>(batch) + (1ULL << 41U));
  return batch_time_[rank] * spread_.factor(uniform_deviate(stream ^ mix(static_cast<std::uint64_t>(rank))));
}

}}  // namespace farandole::training
