// Gradients travel in buckets that are fixed beforehand: what ddp, allgather, local_sgd and diloco have in
// common.
//
// A bucket goes when all its gradients are computed and the bucket before it has gone; nobody negotiates. Its
// collectives follow one another on one communication stream. What is taken out of buckets is taken out at the end, in
// their order, each once it is there: end_k = max(end_(k-1), arrived_k) + taken_out_k, from the last gradient on.
// Called by the rows of the catalogue, which decide what is in a bucket and how it travels.
#pragma once

#include <vector>

#include "training/strategies/catalogue.hpp"

namespace farandole { inline namespace training {

struct Bucket {
  std::vector<int> gradients;
  std::vector<WirePiece> pieces;  // at least one
  Seconds taken_out{};            // by the stream that computes, once backward pass and collectives are over
  Group group = Group::all;       // who meets
  int period = 1;                 // it travels in iterations turn, turn + period, ..., counted from 1
  int turn = 1;
};

struct BucketPlan {
  std::vector<Bucket> buckets;      // in the order in which they go
  Bytes broadcast;                  // from rank 0 before the forward pass, which waits for it; 0: nothing
  Bytes used_map;                   // an allreduce after the last bucket; 0: none
  std::vector<Bucket> first{};      // in place of the buckets in the first iteration; empty: the same
  std::vector<Bucket> alongside{};  // on the way from the beginning of an iteration to its end, on another stream
};

/// A bucket of a job: `copy` is what copying a byte in, and a byte out, moves through memory.
Bucket make_bucket(const StrategySite& site, const CompressionSettings& compression, std::vector<int> gradients,
                   double copy);

/// What is trained, as it stands on a device.
Bytes parameter_bytes(const Job& job);

class Bucketed final : public Strategy {
 public:
  Bucketed(const StrategySite& site, BucketPlan plan);

  void begin(Engine& engine, const RankTimes& moments) override;
  void on(Engine& engine, const Happening& happening) override;
  [[nodiscard]] std::optional<RankTimes> synchronised() const override;

 private:
  struct Flight {
    TaskId task;
    std::size_t bucket;
    Operation operation;
    Seconds enqueued;  // on rank 0
  };

  [[nodiscard]] const std::vector<Bucket>& buckets() const {
    return iteration_ == 1 && !plan_.first.empty() ? plan_.first : plan_.buckets;
  }
  [[nodiscard]] bool travels(const Bucket& bucket) const {
    return site_.data_parallel() > 1 && iteration_ >= bucket.turn && (iteration_ - bucket.turn) % bucket.period == 0;
  }
  void skip_what_stays();
  [[nodiscard]] int last_of(const Bucket& bucket) const;
  void pass(Engine& engine, RankTimes moments) const;
  void communicated_by(Engine& engine, TaskId task, const TaskTimes& times);
  void send_ready_buckets(Engine& engine);
  void send(Engine& engine, const Bucket& bucket, const RankTimes& earliest, Stream stream = communicating);
  void record(const Flight& flight, const Stages& times) const;

  StrategySite site_;
  BucketPlan plan_;
  int iteration_ = 0;  // counted from 1
  std::optional<TaskId> broadcast_;
  std::vector<RankTimes> ready_;  // per gradient, of the last of each bucket; empty until computed everywhere
  std::size_t next_bucket_ = 0;
  std::vector<Flight> flights_;
  std::vector<RankTimes> arrived_;  // per bucket that has gone
  RankTimes synchronised_;
};

// Which gradients DistributedDataParallel puts into one bucket.
//
// Called by the strategy "ddp". Gradients fill one bucket after the other, in the order of the backward pass or in that
// in which parameters are registered; a bucket closes with the gradient that brings it to its limit.

/// Indices of gradients; every gradient stands in exactly one bucket. Only the last bucket may be below its limit.
std::vector<std::vector<int>> ddp_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap);

/// As find_unused_parameters has them: filled from the first parameter registered on, the opposite of backward order,
/// and sent in the opposite order. Only the first to go may be below its limit, and the last has that of
/// `first_bucket`.
std::vector<std::vector<int>> registered_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap);

/// As DDP sends them where nobody set anything, from the second iteration on.
std::vector<Bucket> usual_ddp_buckets(const StrategySite& site);

}}  // namespace farandole::training
