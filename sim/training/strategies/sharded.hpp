// Sharded data parallelism: parameters, gradients and optimizer state are spread over the ranks of a shard group.
//
// What fsdp and zero have in common. The model is cut into units (a transformer's blocks), and what belongs to none
// (embedding, last norm, head) is the root. In an iteration
//
//   forward   a unit's parameters are gathered before it is computed; at most `in_flight` gathered units are ahead of
//             what is being computed, as FSDP's rate limiter has it
//   backward  they are gathered again, where they were given up after the forward pass, in the backward order; the next
//             unit's before this unit is computed (BACKWARD_PRE) or after
//   then      a unit's gradients are summed and spread by a reduce-scatter, which stands in line behind the next unit's
//             allgather, on the one stream that a process group has; between replicas of the shard group an allreduce
//             of the shard follows (HSDP), on a stream of its own where the groups share no links
//   update    every rank updates its shard
//
// Where parameters stay whole (ZeRO-1 and -2), those that were updated are gathered once, before the next forward pass,
// unit by unit beside it or all before it. The root stays gathered from the first pass on. (PyTorch 2:
// torch/distributed/fsdp/_runtime_utils.py, _pre_forward, _post_backward_hook, _reduce_grad; DeepSpeed 0.14:
// runtime/zero/stage_1_and_2.py; Zhao et al., PyTorch FSDP, VLDB 2023; Rajbhandari et al., ZeRO, SC 2020.)
#pragma once

#include <optional>
#include <vector>

#include "training/strategies/catalogue.hpp"

namespace farandole {

struct ShardedPlan {
  int shards = 0;                   // ranks in a shard group; 0: all
  bool gathers_once = false;        // parameters stay whole from one update to the next
  bool reshards = true;             // after the forward pass; else they stay until the backward pass has used them
  int in_flight = 2;                // gathered units ahead of computation; 0: any number
  bool backward_prefetch = true;    // the next unit's allgather is issued before a unit's backward pass
  bool overlaps_gathering = true;   // where they are gathered once: beside the forward pass
  bool overlaps_reducing = true;    // beside the backward pass; else after it
  bool reduces_every_pass = false;  // of those that are accumulated; else only in the last
  bool shards_gradients = true;     // reduce-scatter; else an allreduce, of which each rank uses its shard
  Bytes bucket{};                   // gradients of several units travel together until they are so many; 0: one by one
  Bytes parameter_element = 4_B;    // as they are gathered
  Bytes gradient_element = 4_B;     // as they are reduced
  int passes = 1;
  bool shares_links = false;  // groups of shards and of replicas meet on links
};

/// What is gathered, computed and reduced together; -1 for the root.
struct ShardedUnits {
  struct Segment {
    int unit;
    Seconds forward;
    Seconds backward;
  };
  std::vector<Segment> segments;   // neighbouring layers of one unit, in forward order
  std::vector<double> parameters;  // of every unit
  double root = 0;                 // parameters that are in none
};

/// By the first number in the names of a layer's variables: "transformer.blocks.7.attn.Wqkv.weight" is of unit 7 of
/// "transformer.blocks". Layers without variables go with those before them.
ShardedUnits units_of(const Job& job);

class Sharded final : public Strategy {
 public:
  Sharded(const StrategySite& site, ShardedPlan plan);

  void begin(Engine& engine, const RankTimes& moments) override;
  void on(Engine& engine, const Happening& happening) override;
  [[nodiscard]] std::optional<RankTimes> synchronised() const override;

 private:
  struct Gathered {
    std::optional<TaskId> by;  // the allgather; empty: not there
  };
  TaskId communicate(Engine& engine, Operation operation, double parameters, Bytes element, std::vector<TaskId> after);
  void gather(Engine& engine, int unit, std::vector<TaskId> after);
  void gather_everything(Engine& engine);
  void forward(Engine& engine);
  void backward(Engine& engine, bool reduces);
  void reduce(Engine& engine, double parameters, TaskId after);
  void reduce_unit(Engine& engine, int unit, TaskId after);
  TaskId compute(Engine& engine, Seconds work, int unit, std::vector<TaskId> after);
  [[nodiscard]] double parameters_of(int unit) const;
  [[nodiscard]] std::vector<TaskId> freeing(std::size_t ahead) const;

  StrategySite site_;
  ShardedPlan plan_;
  ShardedUnits units_;
  int shards_;
  int replicas_;

  RankTimes start_;                                   // of this iteration
  std::vector<Gathered> gathered_;                    // by unit, the root last
  std::vector<TaskId> computed_;                      // in this iteration
  double waiting_ = 0;                                // parameters whose gradients wait for their bucket to fill
  std::vector<std::pair<double, TaskId>> after_all_;  // what is reduced when the backward pass is over
  int open_ = 0;                                      // collectives of gradients under way
  RankTimes synchronised_;
};

}  // namespace farandole
