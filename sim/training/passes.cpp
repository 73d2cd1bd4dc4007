#include "training/passes.hpp"

#include <utility>

namespace farandole { inline namespace training {
namespace {

class StageOrder {
 public:
  StageOrder(Engine& engine, const Job& job, const RankTimes& moments, const StagePasses& passes)
      : engine_(engine), place_(*job.stage), count_(job.passes), moments_(moments), passes_(passes) {}

  TaskId run() {
    const int ahead = place_.in_flight(count_);
    for (int forwards = 1; forwards <= ahead; ++forwards) {
      exchange({-1, false, true});
      forward();
      if (forwards < ahead) exchange({1, true, false});
    }
    take_turns(ahead);
    return *computed_;
  }

 private:
  void take_turns(int forwards) {
    bool has_to_send = true;
    for (int backwards = 1; backwards <= count_; ++backwards) {
      exchange({1, has_to_send, true});
      computed_ = passes_.backward(backwards == count_, std::exchange(awaited_, {}));
      const bool goes_on = forwards < count_;
      exchange({-1, true, goes_on});
      if (goes_on) forward();
      if (goes_on) ++forwards;
      has_to_send = goes_on;
    }
  }

  void forward() { computed_ = passes_.forward(std::exchange(awaited_, {})); }

  /// What is received is waited for, and what is sent along with it.
  void exchange(StageExchange what) {
    const int other = place_.stage + what.with;
    if (other < 0 || other == place_.stages) return;
    std::vector<TaskId> after;
    if (computed_) after.push_back(*computed_);
    const TaskId task = engine_.add({what, moments_, std::move(after), communicating_among_stages});
    if (what.receives) awaited_.push_back(task);
  }

  Engine& engine_;
  StagePlace place_;
  int count_;
  const RankTimes& moments_;
  const StagePasses& passes_;
  std::optional<TaskId> computed_;
  std::vector<TaskId> awaited_;
};

std::vector<Mark> marks_of(const Job& job, const std::optional<std::vector<int>>& only) {
  std::vector<Mark> marks;
  const auto count = only ? only->size() : job.gradients.size();
  for (std::size_t i = 0; i < count; ++i) {
    const int index = only ? (*only)[i] : static_cast<int>(i);
    const Gradient& gradient = job.gradients[static_cast<std::size_t>(index)];
    if (!only && !job.stage) marks.push_back({gradient.announced, true, {announced, 0, index}});
    marks.push_back({gradient.ready, false, {ready, 0, index}});
  }
  return marks;
}

TaskId add_passes_of_stage(Engine& engine, const Job& job, const RankTimes& moments, std::vector<Mark> marks) {
  Seconds forward;
  Seconds backward;
  for (const LayerPass& layer : job.layers) {
    forward += layer.forward;
    backward += layer.backward;
  }
  const Seconds before_last = (job.passes - 1) * (forward + backward) + forward;
  for (Mark& mark : marks) mark.at -= before_last;
  const Compute last{job.backward_end - before_last, std::move(marks), backward_exchanges(job)};
  const Compute forward_pass{forward, {}, forward_exchanges(job)};
  const Compute backward_pass{backward, {}, backward_exchanges(job)};
  const auto add = [&](Compute pass, std::vector<TaskId> after) {
    return engine.add({std::move(pass), moments, std::move(after), computing});
  };
  return add_in_stage_order(
      engine, job, moments,
      {[&](std::vector<TaskId> after) { return add(forward_pass, std::move(after)); },
       [&](bool is_last, std::vector<TaskId> after) { return add(is_last ? last : backward_pass, std::move(after)); }});
}

}  // namespace

TaskId add_in_stage_order(Engine& engine, const Job& job, const RankTimes& moments, const StagePasses& passes) {
  return StageOrder(engine, job, moments, passes).run();
}

TaskId add_passes(Engine& engine, const Job& job, RankTimes moments, const std::optional<std::vector<int>>& only) {
  std::vector<Mark> marks = marks_of(job, only);
  if (job.stage) return add_passes_of_stage(engine, job, moments, std::move(marks));
  return engine.add({Compute{job.backward_end, std::move(marks), exchanges_of(job)}, std::move(moments)});
}

}}  // namespace farandole::training
