// The input pipeline: batches are read and decoded ahead of the device, into a queue of `prefetch` batches.
//
// A rank's pipeline makes one batch after the other. It starts batch i when batch i-1 is made and the queue has room,
// that is when the device took batch i - prefetch; the device starts iteration i when it is free and batch i is made:
//
//   made(i)  = max(made(i-1), start(i - prefetch)) + batch_time x factor(r, i)
//   start(i) = max(free(i), made(i))
//
// With prefetch 0 nothing is made ahead: made(i) = free(i) + batch_time. In the steady state an iteration takes
// max(compute and the rest, batch_time) for prefetch >= 1. Called by the event loop once per iteration, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/rank_times.hpp"
#include "training/effects/distribution.hpp"
#include "units/count.hpp"

namespace farandole { inline namespace training {

class InputPipeline {
 public:
  /// `batch_time` of each rank; `spread` is how it varies from batch to batch.
  InputPipeline(RankTimes batch_time, int prefetch, Distribution spread, std::uint64_t seed);

  /// When each rank, free at `free`, starts its next iteration.
  RankTimes start(const RankTimes& free);
  /// When one rank does, whose iterations go on without the others'.
  Seconds start(int rank, Seconds free);

 private:
  [[nodiscard]] double making_time(int rank, int batch) const;

  RankTimes batch_time_;
  int prefetch_;
  Distribution spread_;
  std::uint64_t seed_;
  std::vector<int> batches_;  // of each rank so far
  RankTimes made_;
  std::vector<RankTimes> taken_;  // the last `prefetch` starts, that of batch i at i % prefetch
};

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

}}  // namespace farandole::training
