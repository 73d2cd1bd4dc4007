// Horovod: a background thread that wakes every cycle, negotiates, fuses and starts one allreduce after another.
//
// Each pass of the thread (its loop in Horovod's operations.cc):
//   1. all ranks send rank 0 the tensors announced since the last pass; rank 0 answers with those every rank has
//      announced, fused up to the threshold: negotiation_time();
//   2. response by response, the thread waits until the device has computed all tensors of the response
//      (WAIT_FOR_DATA, WAIT_FOR_OTHER_TENSOR_DATA) and enqueues copy-in, allreduce and copy-out on a communication
//      stream, without waiting for them (QUEUE). Since 0.23.0 the stream waits for the data, and the thread goes on at
//      once. Several streams (HOROVOD_NUM_NCCL_STREAMS) are taken in turn. Copies take the device a kernel for each
//      tensor, since 0.21.0 one for 160 of them;
//   3. it sleeps: a whole cycle, or what is left of it, depending on the version. Passes with nothing to negotiate are
//      not simulated: each starts when the last of n threads wakes, some tens of microseconds late, so that after a few
//      of them where the next one falls is anybody's guess. It is drawn (seeded) evenly over the cycle.
// The hierarchical allreduce does hold up the thread (NCCLHierarchicalAllreduce,
// horovod/common/ops/nccl_operations.cc): a reduce-scatter within each node; then every rank copies its part to the
// host, MPI adds up the parts of equal local ranks of all nodes, and the part is copied back; an allgather within each
// node is only enqueued again. A fused buffer is rounded up to a whole number of parts. Nodes of unequal size reduce to
// one rank each, which then does all of that. Tensors of a group (num_groups of DistributedOptimizer) are announced
// together, when the last of them is, and travel in the same pass. With the autotuner threshold, cycle and switches
// change while training goes on (training/autotune). Negotiation keeps the ranks' threads in step: a pass starts when
// the slowest rank's thread is there. With one rank Horovod's optimizer does not communicate at all.
#pragma once

#include <deque>
#include <vector>

#include "timeline/timeline.hpp"
#include "training/autotune/autotuner.hpp"
#include "training/coding.hpp"
#include "training/fusion.hpp"
#include "training/job.hpp"
#include "training/strategies/horovod_profile.hpp"
#include "training/strategies/negotiation.hpp"
#include "training/strategy.hpp"

namespace farandole { inline namespace training {

/// Nodes as the hierarchical allreduce finds them.
struct HierarchySite {
  bool homogeneous = true;                              // as many ranks on each
  BytesPerSecond to_host = BytesPerSecond::infinity();  // of each rank, while all of its node copy; and back
};

struct HorovodSettings {
  HorovodProfile profile;  // its threshold as it was set
  ControlPlane control;
  BytesPerSecond memory_bandwidth;  // of the device: a fused byte is read and written once on its way in and out
  Coder coder;                      // the same device, where gradients are compressed
  std::uint64_t seed = 1;
  std::string library = "NCCL";  // that carries collectives out
  CompressionSettings compression;
  int groups = 0;          // that the gradients are split into; 0: every tensor is on its own
  int ranks_per_node = 1;  // hierarchical collectives round the buffer up to suit them
  std::optional<AdasumSite> adasum{};
  std::optional<Tunable> tunable{};  // by the autotuner, where that is on
  HierarchySite hierarchy{};
};

class Horovod final : public Strategy {
 public:
  /// `timeline` may be null; it records rank 0.
  Horovod(const Job& job, int ranks, HorovodSettings settings, Timeline* timeline);

  void begin(Engine& engine, const RankTimes& moments) override;
  void on(Engine& engine, const Happening& happening) override;
  [[nodiscard]] std::optional<RankTimes> synchronised() const override;
  [[nodiscard]] std::span<const Busy> negotiated() const override { return negotiations_; }
  [[nodiscard]] const Tuning* tuning() const override { return tuner_ ? &tuner_->tuning() : nullptr; }

 private:
  enum class Thread : std::uint8_t { sleeping, negotiating, performing };
  struct Response {
    std::vector<int> gradients;
    Bytes size;
    Seconds enqueued;  // on rank 0
    RankTimes from{};  // each rank's thread had come to it
  };
  /// One collective of a response.
  struct Flight {
    TaskId task;
    Operation operation;
    bool by_mpi;  // out of the hosts' memory
    bool last;    // of its response
    Response response;
  };

  void on_announced(Engine& engine, int gradient, const RankTimes& moments);
  void on_timer(Engine& engine);
  void on_communicated(Engine& engine, TaskId task, const TaskTimes& times);
  void announce(Engine& engine, std::vector<int> gradients, const RankTimes& moments);
  [[nodiscard]] std::vector<std::vector<int>> fused(const std::vector<Bytes>& sizes) const;
  void tune();
  void sleep_until_next_pass(Engine& engine);
  void start_pass(Engine& engine);
  [[nodiscard]] Seconds negotiation(int requests) const {
    return negotiation_time(settings_.profile.negotiation, settings_.control, {ranks_, requests, has_cache()});
  }
  void receive_responses(Engine& engine);
  void perform(Engine& engine);
  [[nodiscard]] bool data_ready(const Response& response) const;
  /// Whether the thread itself sees to it that the data is there.
  [[nodiscard]] bool holds_thread() const { return settings_.profile.waits_for_data || in_use_.hierarchical_allreduce; }
  [[nodiscard]] RankTimes when_ready(const Response& response) const;
  void take_up(Engine& engine, Response& response);
  void enqueue_ready(Engine& engine);
  void enqueue(Engine& engine, const Response& response);
  void reduce_through_hosts(Engine& engine, const Response& response, const WirePiece& piece, bool is_last);
  TaskId add(Engine& engine, const Response& response, const Collective& collective, bool is_last);
  [[nodiscard]] Seconds copying_time(const Response& response) const;
  [[nodiscard]] bool has_cache() const { return in_use_.cache_enabled && settings_.profile.cache_capacity > 0; }
  [[nodiscard]] int uncached(const std::vector<int>& gradients) const;
  void record_announced(int gradient, const RankTimes& moments) const;
  void record_wait(const Response& response, double reached) const;
  void record_communication(const Flight& flight, const Stages& times) const;

  const Job& job_;
  int ranks_;
  HorovodSettings settings_;
  Timeline* timeline_;

  std::optional<Autotuner> tuner_;
  TuningSample in_use_;
  std::vector<int> group_of_;                 // each gradient's; empty without groups
  std::vector<std::vector<int>> incomplete_;  // members of each group that are announced, until all are
  std::vector<int> group_size_;

  Thread thread_ = Thread::sleeping;
  bool awaiting_timer_ = false;
  Seconds pass_start_;
  Seconds next_pass_;
  RankTimes thread_moment_;           // where each rank's thread is
  std::vector<int> announced_;        // waiting for the next pass
  std::vector<int> negotiated_;       // in this pass
  std::vector<Response> to_perform_;  // in order; `performed_` of them are enqueued
  std::size_t performed_ = 0;
  std::optional<TaskId> blocking_;  // the collective that the thread waits for
  std::deque<Response> queued_;     // by threads that went on; not on their stream yet, since data is missing
  std::vector<Flight> in_flight_;
  std::vector<TaskId> last_of_stream_;
  std::size_t next_stream_ = 0;
  std::vector<RankTimes> ready_;  // per gradient; empty until computed everywhere
  std::vector<double> first_announced_;
  std::vector<Busy> negotiations_;  // of this iteration: a response each, from its first tensor's announcement on
  std::vector<bool> cached_;
  int remaining_ = 0;
  std::uint64_t drawn_ = 0;  // random numbers used
  RankTimes synchronised_;
};

}}  // namespace farandole::training
