#include <algorithm>
#include <map>

#include "training/effects/input_pipeline.hpp"

namespace farandole { inline namespace training {
namespace {

/// Seconds per sample in a worker.
Seconds worker_time(const InputSupply& supply) {
  const Seconds decoding = supply.decode_rate > 0 ? Seconds(1 / supply.decode_rate) : Seconds(0);
  return decoding + (supply.access == Access::random ? supply.request_latency : Seconds(0));
}

}  // namespace

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
  Seconds per_sample = supply.decode_workers > 0 ? worker_time(supply) / supply.decode_workers : Seconds(0);
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
