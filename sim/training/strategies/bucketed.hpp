// Gradients travel in buckets that are fixed beforehand: what ddp, allgather and local_sgd have in common.
//
// A bucket goes when all its gradients are computed and the bucket before it has gone; nobody negotiates. Its
// collectives follow one another on one communication stream. Called by the rows of the catalogue, which decide what is
// in a bucket and how it travels.
#pragma once

#include <vector>

#include "training/strategies/catalogue.hpp"

namespace farandole {

struct Bucket {
  std::vector<int> gradients;
  std::vector<WirePiece> pieces;  // at least one
};

struct BucketPlan {
  std::vector<Bucket> buckets;    // in the order in which they go
  Bytes broadcast;                // from rank 0 before the forward pass, which waits for it; 0: nothing
  Bytes used_map;                 // an allreduce after the last bucket; 0: none
  bool first_at_the_end = false;  // in the first iteration buckets wait for the end of the backward pass
  int period = 1;                 // buckets travel in every period-th iteration only
};

/// A bucket of a job: `copy` is what copying a byte in, and a byte out, moves through memory.
Bucket make_bucket(const StrategySite& site, const CompressionSettings& compression, std::vector<int> gradients,
                   double copy);

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

  [[nodiscard]] bool travels() const { return site_.ranks > 1 && iteration_ % plan_.period == 0; }
  [[nodiscard]] bool is_ready(const Bucket& bucket) const;
  void communicated_by(Engine& engine, TaskId task, const TaskTimes& times);
  void send_ready_buckets(Engine& engine);
  void send(Engine& engine, const WirePiece& piece, const RankTimes& earliest);
  void record(const Flight& flight, const TaskTimes& times) const;

  StrategySite site_;
  BucketPlan plan_;
  int iteration_ = 0;  // counted from 1
  std::optional<TaskId> broadcast_;
  std::vector<RankTimes> ready_;  // per gradient; empty until computed everywhere
  std::size_t next_bucket_ = 0;
  std::vector<Flight> flights_;
  RankTimes synchronised_;
};

}  // namespace farandole
