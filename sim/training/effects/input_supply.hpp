// How fast samples reach each rank: storage, its network, and the workers that decode them.
//
// The rate of a rank is the least of
//   decoding   workers x 1 / (1 / decode_rate + request_latency)    a worker reads a sample, then decodes it
//   storage    bandwidth / missed bytes per sample / ranks, and samples per second / ranks: all ranks share it
//   the node   node_bandwidth / missed bytes per sample / ranks on the node
// Reading its own partition in order, a rank pays no latency per sample, and each node touches dataset / nodes only;
// drawing at random from the whole set, every sample is a request of its own and each node touches everything. A node
// keeps `cache` bytes of what it touches in memory and reads only the rest again: the steady state from the second
// epoch on.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/rank_times.hpp"
#include "training/effects/distribution.hpp"
#include "units/count.hpp"

namespace farandole {

enum class Access : std::uint8_t { random, partition };

struct InputSupply {
  Access access = Access::random;
  Bytes sample_size;
  BytesPerSecond storage_bandwidth = BytesPerSecond::infinity();  // of all ranks together
  double storage_samples_per_second = 0;                          // of all ranks together; 0: no bound
  BytesPerSecond node_bandwidth = BytesPerSecond::infinity();
  Seconds request_latency;
  int decode_workers = 0;  // per rank; 0: decoding is free
  double decode_rate = 0;  // samples per second of one worker; 0: only the request latency counts
  Bytes cache;             // per node
  Bytes dataset;           // 0: too large to matter
  int prefetch = 1;        // batches made ahead
  Distribution variation;  // of the time a batch takes

  /// The share of what a rank reads that is not in its node's memory, where the job runs on `nodes` nodes.
  [[nodiscard]] double missed(int nodes) const;
};

/// The time each rank's input needs for so many samples; `node_of_rank` names the node each rank sits on.
RankTimes batch_times(const InputSupply& supply, Count samples, const std::vector<int>& node_of_rank);

}  // namespace farandole
