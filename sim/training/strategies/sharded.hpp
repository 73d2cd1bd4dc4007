// Sharded data parallelism: parameters, gradients and optimizer state are spread over the ranks of a shard group.
//
// What fsdp and zero have in common. The model is cut into units (a transformer's blocks), and what belongs to none
// (embedding, last norm, head) is the root. In an iteration
//
//   forward   a unit's parameters are gathered before it is computed. The host issues allgathers ahead of the device,
//   as
//             far as FSDP's rate limiter lets it: where two computations that gave up a unit have not been waited for,
//             the next allgather waits for the older of them
//   backward  they are gathered again, where they were given up after the forward pass, in the backward order. The next
//             unit's allgather is issued before this unit is computed (BACKWARD_PRE), after it and before its gradients
//             are reduced (BACKWARD_POST), or after that (no prefetch)
//   then      a unit's gradients are summed and spread by a reduce-scatter on the one stream that a process group has;
//             what was issued later stands in line behind it. Between replicas of the shard group an allreduce of the
//             shard follows (HSDP), on a stream of its own where the groups share no links
//   stages    of a pipeline go through their passes in another order (training/passes.hpp) and keep what they have
//             gathered from the first to the last
//   next pass nothing of it begins before the pass is computed and, if it reduces, before that is over
//   update    every rank updates its shard
//
// Frozen parameters are gathered, and have no gradients to reduce; units before the first that trains something are not
// gathered backward. In one unit with trained ones it is as FSDP2 has it, by parameter. Where parameters stay whole
// (ZeRO-1 and -2), those that were updated are gathered once, before the next forward pass, unit by unit beside it or
// all before it. The root stays gathered from the forward to the backward pass; what is not given up after the forward
// pass stays until a pass reduces. (PyTorch 2: torch/distributed/fsdp/_runtime_utils.py, _unshard, _reshard,
// _get_handle_to_prefetch, _post_backward_hook, _should_free_in_backward; _limiter_utils.py; DeepSpeed 0.14:
// runtime/zero/stage_1_and_2.py; Zhao et al., PyTorch FSDP, VLDB 2023; Rajbhandari et al., ZeRO, SC 2020.)
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "training/strategies/catalogue.hpp"

namespace farandole { inline namespace training {

/// When the next unit's allgather is issued in the backward pass.
enum class BackwardPrefetch : std::uint8_t { none, after, before };

struct ShardedPlan {
  int shards = 0;             // ranks in a shard group; 0: all
  bool gathers_once = false;  // parameters stay whole from one update to the next
  bool reshards = true;       // after the forward pass; else they stay until the backward pass has used them
  int kept = 0;               // ranks that share a unit from its forward to its backward pass; 0: those of the group
  std::size_t in_flight = 2;  // units given up that no allgather has waited for; 0: any number
  BackwardPrefetch backward_prefetch = BackwardPrefetch::before;
  bool overlaps_gathering = true;   // where they are gathered once: beside the forward pass
  bool overlaps_reducing = true;    // beside the backward pass; else after it
  bool reduces_every_pass = false;  // of those that are accumulated; else only in the last
  bool shards_gradients = true;     // reduce-scatter; else an allreduce, of which each rank uses its shard
  Bytes bucket{};                   // gradients of several units travel together until they are so many; 0: one by one
  Bytes parameter_element = 4_B;    // as they are gathered
  Bytes gradient_element = 4_B;     // as they are reduced
  int passes = 1;
  int blocks_per_unit = 1;    // 0: everything is the root
  bool shares_links = false;  // groups of shards and of replicas meet on links
};

/// What is gathered, computed and reduced together; -1 for the root.
struct ShardedUnits {
  struct Segment {
    int unit;
    Seconds forward;
    Seconds backward;
    bool is_first = false;  // of its unit, of those with a backward pass
    bool is_last = false;
    std::vector<InnerExchange> forward_exchanges{};
    std::vector<InnerExchange> backward_exchanges{};
  };
  std::vector<Segment> segments;   // neighbouring layers of one unit, in forward order
  std::vector<double> parameters;  // of every unit
  std::vector<double> trained;     // of these
  double root = 0;                 // parameters that are in none
  double root_trained = 0;
  std::size_t first_backward = 0;  // of the segments
};

/// By the first number in the names of a layer's variables: "transformer.blocks.7.attn.Wqkv.weight" is of unit 7 of
/// "transformer.blocks". Layers without variables go with those before them.
ShardedUnits units_of(const Job& job, int blocks_per_unit = 1);

class Sharded final : public Strategy {
 public:
  Sharded(const StrategySite& site, ShardedPlan plan);

  void begin(Engine& engine, const RankTimes& moments) override;
  void on(Engine& engine, const Happening& happening) override;
  [[nodiscard]] std::optional<RankTimes> synchronised() const override;

 private:
  using Gathered = std::optional<TaskId>;  // the allgather that brought it; empty: not there
  void gather(Engine& engine, int unit, bool is_backward = false);
  void prefetch(Engine& engine, std::size_t segment);
  void gather_everything(Engine& engine);
  void forward(Engine& engine, const std::vector<TaskId>& after);
  void backward(Engine& engine, bool reduces, bool frees, const std::vector<TaskId>& after);
  void go_through_stage(Engine& engine);
  void end_pass(bool reduces, bool frees);
  void reduce(Engine& engine, double parameters, TaskId after);
  void reduce_unit(Engine& engine, int unit, TaskId after);
  TaskId compute(Engine& engine, Compute work, int unit, std::vector<TaskId> after);
  [[nodiscard]] double parameters_of(int unit) const;
  [[nodiscard]] double trained_of(int unit) const;
  Gathered& gathered(int unit) { return gathered_[unit == -1 ? gathered_.size() - 1 : static_cast<std::size_t>(unit)]; }

  StrategySite site_;
  ShardedPlan plan_;
  ShardedUnits units_;
  int shards_;
  int replicas_;

  RankTimes start_;                                   // of this iteration
  std::vector<Gathered> gathered_;                    // by unit, the root last
  std::vector<TaskId> computed_;                      // in this iteration
  std::deque<TaskId> freeing_;                        // computations that gave up a unit, not waited for
  std::vector<TaskId> pass_before_;                   // what ended it; empty in backward passes
  std::optional<TaskId> reduction_;                   // the last
  double waiting_ = 0;                                // parameters whose gradients wait for their bucket to fill
  std::vector<std::pair<double, TaskId>> after_all_;  // what is reduced when the backward pass is over
  int open_ = 0;                                      // collectives of gradients under way
  RankTimes synchronised_;
};

/// What a row of the catalogue makes of the plan (StrategyChoice::make).
std::function<std::unique_ptr<Strategy>(const StrategySite&)> maker_of(const ShardedPlan& plan);

}}  // namespace farandole::training
