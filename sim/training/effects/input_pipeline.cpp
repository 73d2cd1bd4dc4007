#include "training/effects/input_pipeline.hpp"

#include <utility>

#include "training/random.hpp"

namespace farandole {

InputPipeline::InputPipeline(RankTimes batch_time, int prefetch, Distribution spread, std::uint64_t seed)
    : batch_time_(std::move(batch_time)),
      prefetch_(prefetch),
      spread_(std::move(spread)),
      seed_(mix(seed + 4)),
      made_(RankTimes::Zero(batch_time_.size())),
      taken_(static_cast<std::size_t>(prefetch), RankTimes::Zero(batch_time_.size())) {}

RankTimes InputPipeline::start(const RankTimes& free) {
  const bool ahead = prefetch_ > 0;
  const std::size_t slot = ahead ? static_cast<std::size_t>(batch_ % prefetch_) : 0;
  const RankTimes& room = ahead ? taken_[slot] : free;
  made_ = made_.max(room) + making_time();
  ++batch_;
  RankTimes started = free.max(made_);
  if (ahead) taken_[slot] = started;
  return started;
}

RankTimes InputPipeline::making_time() const {
  if (!spread_.varies()) return batch_time_;
  RankTimes result = batch_time_;
  const std::uint64_t stream = seed_ ^ mix(static_cast<std::uint64_t>(batch_) + (1ULL << 41U));
  for (Eigen::Index rank = 0; rank < result.size(); ++rank) {
    result[rank] *= spread_.factor(uniform_deviate(stream ^ mix(static_cast<std::uint64_t>(rank))));
  }
  return result;
}

}  // namespace farandole
