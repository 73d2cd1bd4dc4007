#include "training/effects/input_pipeline.hpp"

#include <algorithm>
#include <map>
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

double InputSupply::missed(int nodes) const {
  if (dataset == Bytes(0)) return 1;
  const Bytes touched = access == Access::random ? dataset : dataset / nodes;
  return std::max(0.0, 1 - cache / touched);
}

RankTimes batch_times(const InputSupply& supply, Count samples, const std::vector<int>& node_of_rank) {
  std::map<int, int> ranks_on_node;
  for (const int node : node_of_rank) ++ranks_on_node[node];
  const auto ranks = static_cast<int>(node_of_rank.size());
  const Bytes read = supply.sample_size * supply.missed(static_cast<int>(ranks_on_node.size()));
  const Seconds decoding = supply.decode_rate > 0 ? Seconds(1 / supply.decode_rate) : Seconds(0);
  const Seconds in_a_worker = decoding + (supply.access == Access::random ? supply.request_latency : Seconds(0));
  Seconds per_sample = supply.decode_workers > 0 ? in_a_worker / supply.decode_workers : Seconds(0);
  per_sample = std::max(per_sample, read / supply.storage_bandwidth * ranks);
  if (supply.storage_samples_per_second > 0) {
    per_sample = std::max(per_sample, Seconds(ranks / supply.storage_samples_per_second));
  }
  RankTimes result(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const int sharing = ranks_on_node[node_of_rank[static_cast<std::size_t>(rank)]];
    result[rank] =
        static_cast<double>(samples.number()) * std::max(per_sample, read / supply.node_bandwidth * sharing).si();
  }
  return result;
}

}}  // namespace farandole::training
