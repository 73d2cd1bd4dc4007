// Parameter servers as a state machine: workers pull variables, compute layer by layer, and push gradients.
//
// An iteration of a worker:
//   pulls     all variables are asked for when it starts, in forward order
//   forward   a layer starts when the one before is done and its variables are there
//   backward  when a layer is done its gradients are encoded and pushed (with aggregation: after they crossed the
//   node's
//             bus, one after the other)
//   update    with a barrier a server adds the gradients of all workers up when the last of them is there, and updates
//             the variable; else it applies every push by itself as it arrives (server_traffic() says what that moves)
// and it is over when what it pushed last has been applied. When the next one starts is the mode's affair:
//   synchronous        when the iteration of every worker is over
//   asynchronous       at once
//   stale_synchronous  at once, unless it would be more than `bound` iterations ahead of the slowest worker
//                      (Ho et al., NIPS 2013)
// Without overlap the forward pass waits for all variables, and pushes wait for the end of the backward pass.
// Replicated: nothing is pulled at the start; a variable is fetched as soon as it is updated, and the iteration is over
// when all are fetched everywhere (tf_cnn_benchmarks' distributed_replicated: the optimizer runs on the servers, with a
// barrier per variable; variable_mgr.py, VariableMgrDistributedReplicated.append_apply_gradients_ops).
//
// In a replay every process has a copy, which acts for its worker and its servers only. What a copy must know of others
// it is told: that a push was applied, and that a worker has ended an iteration.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/strategies/server_plan.hpp"
#include "training/strategy.hpp"

namespace farandole { inline namespace training {

/// Workers that act as one.
struct WorkerGroup {
  double count = 1;
  BytesPerSecond bus;  // at which a node's ranks add their gradients up and share what is fetched; infinite: no cost
  Seconds serving{};   // of an iteration: what a server on the same processor takes from its workers' compute
};

/// By how much each group's compute exceeds the nominal one in an iteration.
using FactorsOf = std::function<const RankTimes&(int iteration)>;

/// One iteration of one group.
struct WorkerIteration {
  int group = 0;
  Seconds start;  // when it was free to start
  Seconds end;
  Seconds waited;        // of that, for the slowest worker
  Seconds fed;           // and for its batch
  Seconds computing;     // its own
  Seconds updating;      // a server's work that it waited for, or that took its processor's time
  double staleness = 0;  // updates by others between its pulls and its last push, equal moments in the order of events
};

class ParameterServer final : public Strategy {
 public:
  /// Runs until every worker has done `iterations`; fast ones go on until the slowest has. `slots`: numbers that the
  /// optimizer keeps per parameter.
  ParameterServer(const Job& job, const ServerPlan& plan, std::vector<Shard> shards, std::vector<WorkerGroup> workers,
                  FactorsOf factors, int iterations, Timeline* timeline, int slots = 1);

  /// `input`: a batch for every worker's iteration; null: batches are always there. It must outlive the strategy.
  void feed_from(InputPipeline* input, std::vector<int> rank_of_group) {
    input_ = input;
    rank_of_group_ = std::move(rank_of_group);
  }

  void begin(Engine& engine, const RankTimes& moments) override;
  void on(Engine& engine, const Happening& happening) override;
  [[nodiscard]] std::optional<RankTimes> synchronised() const override { return std::nullopt; }
  /// Whether every worker has done its iterations.
  [[nodiscard]] bool is_over() const { return over_.begin()->first >= iterations_; }
  /// Whether that worker is between two iterations.
  [[nodiscard]] bool is_idle(int worker) const { return idle_[static_cast<std::size_t>(worker)]; }

  /// In the order in which they ended.
  [[nodiscard]] const std::vector<WorkerIteration>& finished() const { return finished_; }
  /// Sent in the whole run, each once however many workers are aggregated.
  [[nodiscard]] int messages() const { return messages_; }

 private:
  enum What : int {
    fed,
    forwarded,
    computed_layer,
    computed,
    encoded,
    pushed,
    updated,
    at_node,
    pulled,
    applied,
    ended
  };
  /// A server's work on a shard.
  struct Work {
    Seconds start;
    Seconds end;
  };
  struct Worker {
    int iteration = -1;  // counted from 0; the one it is in, or was in last
    double factor = 1;
    double nominal_factor = 1;  // without what a server on its processor takes
    Seconds free;               // since when it could have started
    Seconds allowed;            // to start, but for its batch
    Seconds start;
    Seconds computed_at;
    double updates_at_start = 0;
    std::size_t layer = 0;  // next of the forward pass
    bool waits_for_pull = false;
    int outstanding = 0;       // pushes to be applied, or fetches where replicated, and the backward pass
    int last = -1;             // the shard that was so last
    std::vector<int> missing;  // pulls per layer
    Seconds free_out;          // of the device's encoding and the node's bus
    Seconds free_in;
  };

  void start(Engine& engine, int worker);
  void pull(Engine& engine, int worker);
  void forward(Engine& engine, int worker);
  void backward(Engine& engine, int worker);
  [[nodiscard]] std::size_t waiting_layer(const Shard& shard) const;
  void push_layer(Engine& engine, int worker, int layer);
  void push(Engine& engine, int worker, int shard);
  void arrived(Engine& engine, int worker, int shard);
  void updated_on_server(Engine& engine, int worker, int shard);
  void send_back(Engine& engine, int worker, int shard);
  void bring_in(Engine& engine, int worker, int shard);
  void pulled_here(Engine& engine, int worker, int shard);
  void applied_for(Engine& engine, int worker, int shard);
  void one_done(Engine& engine, int worker, int shard);
  void finish(Engine& engine, int worker);
  void count_ended(Engine& engine, int worker);
  void start_if_allowed(Engine& engine, int worker);
  void start_all_allowed(Engine& engine);
  [[nodiscard]] bool may_start(const Worker& worker) const;
  [[nodiscard]] bool applies_together() const { return plan_.mode == ServerMode::synchronous; }
  Work& work_on(int worker, int shard);
  [[nodiscard]] Seconds waited_for_servers(int worker);
  void record(const char* what, int worker, int shard, Seconds now);

  const Job& job_;
  ServerPlan plan_;
  std::vector<Shard> shards_;
  FactorsOf factors_;
  int iterations_;
  int slots_;
  Timeline* timeline_;
  InputPipeline* input_ = nullptr;
  std::vector<int> rank_of_group_;

  std::vector<WorkerGroup> groups_;
  std::vector<Worker> workers_;
  std::vector<bool> idle_;   // between two iterations
  std::map<int, int> over_;  // how many groups have so many iterations behind them
  std::vector<std::vector<int>> shards_of_layer_;
  std::vector<int> pushed_by_;  // with a barrier: groups whose push of a shard has arrived
  std::vector<Work> work_;      // the last on every shard; without a barrier of every worker's push
  double pushes_ = 0;           // of a shard in an iteration
  std::vector<Seconds> asked_;  // of worker 0: since when a shard is on its way
  double updates_ = 0;          // iterations of single workers that are over
  std::vector<WorkerIteration> finished_;
  int messages_ = 0;
};

}}  // namespace farandole::training
