// The iterations of a pipeline, in simulated time: stages that are data-parallel jobs, each of its own ranks and
// layers, coupled by what they hand on.
//
// Every stage goes through its micro-batches by itself (training/passes.hpp) until it needs what a neighbour has made.
// A message between two stages begins when both are at it, as with NCCL, whose receiver must have come that far; the
// k-th that one of them sends is the k-th that the other receives. All stages update when the last has reduced its
// gradients, since the norm by which these are clipped is that of all; and all begin the next iteration together.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "training/trainer.hpp"

namespace farandole { inline namespace training {

/// One stage. The references must outlive it.
struct StageOnSite {
  const Job& job;
  JobSite site;
  Strategy& strategy;
};

/// What stages have between them.
struct BetweenStages {
  std::vector<Bytes> handed_on;  // for a micro-batch, by each rank of a stage to one of the next; and back
  /// Of a message from the ranks of one stage to those of another, which follow behind them.
  std::function<CollectiveClock&(int from, int to)> clock_of{};
  /// Likewise, where others are on the links, too.
  Company* company = nullptr;
  std::function<const std::vector<GroupCarriage>&(int from, int to)> carriages_of{};
  /// What the first and the last stage both keep: they add up its gradients. 0: nothing.
  Bytes tied{};
  std::function<CollectiveClock&()> tie{};
};

class StagedTrainer {
 public:
  /// `timeline` may be null; it gets what the first rank of each stage does. The references must outlive it.
  StagedTrainer(Simulator& simulator, std::vector<StageOnSite> stages, BetweenStages between,
                const Variability& variability, Timeline* timeline);
  StagedTrainer(const StagedTrainer&) = delete;
  StagedTrainer& operator=(const StagedTrainer&) = delete;

  /// Its parts are those of the stage that computes longest.
  Iteration run_iteration();
  [[nodiscard]] const Job& longest() const { return stages_[longest_]->job; }

  [[nodiscard]] static const Tuning* tuning() { return nullptr; }
  /// Of the last iteration, of the stage that computes longest.
  [[nodiscard]] const std::vector<PathStep>& last_critical_path() const { return last_critical_path_; }
  [[nodiscard]] int stages() const { return static_cast<int>(stages_.size()); }
  [[nodiscard]] const SimulatedJob& simulated(int stage) const {
    return stages_[static_cast<std::size_t>(stage)]->simulated;
  }

 private:
  struct Stage {
    Stage(Simulator& simulator, StageOnSite on);
    const Job& job;
    Strategy& strategy;
    int ranks;
    int first_rank = 0;  // of the job
    SimulatedJob simulated;
  };
  struct Side {
    TaskId task;
    RankTimes begin;
  };
  /// From a stage to a neighbour: who is at a message that the other is not at yet.
  struct Way {
    std::deque<Side> senders;
    std::deque<Side> receivers;
  };
  struct Open {
    int messages = 0;
    RankTimes ends;
  };

  Stage& at(int stage) { return *stages_[static_cast<std::size_t>(stage)]; }
  void begin();
  void look() {
    if (is_running_ && is_over()) simulator_.halt();
  }
  [[nodiscard]] bool is_over() const;
  Iteration close();
  void record() const;
  [[nodiscard]] Seconds synchronise(std::vector<RankTimes> reduced);
  void meet(int stage, TaskId task, const StageExchange& exchange, const RankTimes& begin);
  void post(int from, int to, bool by_sender, Side side);
  void send(int from, int to, const Side& sender, const Side& receiver);
  void end_message(int stage, TaskId task, const RankTimes& ends);
  void settle();

  Simulator& simulator_;
  BetweenStages between_;
  const Variability& variability_;
  Timeline* timeline_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::size_t longest_ = 0;
  std::map<std::pair<int, int>, Way> ways_;
  std::map<std::pair<int, TaskId>, Open> open_;                       // by stage and task
  std::deque<std::pair<std::pair<int, TaskId>, RankTimes>> settled_;  // exchanges whose stages are to be told
  bool is_settling_ = false;
  int iteration_ = 0;
  Seconds begin_;
  bool is_running_ = false;
  std::vector<PathStep> last_critical_path_;
};

}}  // namespace farandole::training
