#include "training/staged_trainer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/invariant.hpp"

namespace farandole { inline namespace training {

StagedTrainer::Stage::Stage(Simulator& simulator, StageOnSite on)
    : job(on.job), strategy(on.strategy), ranks(on.site.ranks), simulated(simulator, std::move(on.site)) {}

StagedTrainer::StagedTrainer(Simulator& simulator, std::vector<StageOnSite> stages, BetweenStages between,
                             const Variability& variability, Timeline* timeline)
    : simulator_(simulator), between_(std::move(between)), variability_(variability), timeline_(timeline) {
  int ranks = 0;
  for (StageOnSite& on : stages) {
    const int number = static_cast<int>(stages_.size());
    on.site.meet = [this, number](TaskId task, const StageExchange& exchange, const RankTimes& begin) {
      meet(number, task, exchange, begin);
    };
    Stage& stage = *stages_.emplace_back(std::make_unique<Stage>(simulator, std::move(on)));
    stage.first_rank = std::exchange(ranks, ranks + stage.ranks);
    stage.simulated.tell([this, &stage](const Happening& happening) {
      if (happening.note.what >= 0) stage.strategy.on(stage.simulated, happening);
      look();
    });
  }
  longest_ = static_cast<std::size_t>(
      std::ranges::max_element(stages_, {}, [](const auto& stage) { return stage->job.compute(); }) - stages_.begin());
}

void StagedTrainer::begin() {
  const RankTimes factors = variability_.factors(iteration_++);
  for (const auto& stage : stages_) {
    stage->simulated.begin_iteration(factors.segment(stage->first_rank, stage->ranks));
  }
  for (const auto& stage : stages_) stage->strategy.begin(stage->simulated, all_at(stage->ranks, begin_));
  is_running_ = true;
}

bool StagedTrainer::is_over() const {
  return std::ranges::all_of(stages_, [](const auto& stage) {
    const SimulatedJob& job = stage->simulated;
    return job.computes() && job.open_marks() == 0 && job.open_tasks() == 0 && stage->strategy.synchronised();
  });
}

Iteration StagedTrainer::run_iteration() {
  begin();
  if (!is_over()) simulator_.run();
  if (!is_over())
    throw InvariantError("an iteration of a pipeline stopped before all stages had averaged their gradients");
  is_running_ = false;
  return close();
}

/// When all stages have reduced their gradients, and the first and the last have added up those of what they share.
Seconds StagedTrainer::synchronise(std::vector<RankTimes> reduced) {
  if (between_.tied > Bytes(0)) {
    RankTimes both(reduced.front().size() + reduced.back().size());
    both << reduced.front(), reduced.back();
    reduced.push_back(between_.tie().completion_times(between_.tied, both));
  }
  Seconds last;
  for (const RankTimes& of_stage : reduced) last = std::max(last, latest(of_stage));
  return last;
}

Iteration StagedTrainer::close() {
  std::vector<TasksOfIteration> tasks;
  std::vector<RankTimes> reduced;
  for (const auto& stage : stages_) {
    tasks.push_back(tasks_of(stage->simulated));
    reduced.push_back(stage->strategy.synchronised()->max(tasks.back().ended));
  }
  IterationMoments moments{begin_, begin_, synchronise(std::move(reduced))};
  std::vector<Seconds> updated;
  for (const auto& stage : stages_) {
    updated.push_back(moments.synchronised + stage->simulated.factors().maxCoeff() * stage->job.update);
  }
  const TasksOfIteration& longest = tasks[longest_];
  begin_ = *std::ranges::max_element(updated);
  moments.end = updated[longest_];
  moments.compute_slowdown = longest.slowdown;
  last_critical_path_ = critical_path(moments, longest.computed, longest.communications);
  Iteration iteration = iteration_of(moments, longest.computed, longest.busy);
  // It waits for others where nothing of its own is under way, and for their updates.
  const Seconds waits = iteration.unclaimed + (begin_ - moments.end);
  iteration.duration = begin_ - moments.start;
  iteration.unclaimed = Seconds(0);
  iteration.exposed_between_stages += waits;
  iteration.exposed_communication += waits;
  iteration.collectives -= static_cast<int>(std::ranges::count_if(longest.busy, &Busy::is_between_stages));
  if (timeline_ != nullptr) record();
  return iteration;
}

void StagedTrainer::record() const {
  for (std::size_t number = 0; number < stages_.size(); ++number) {
    const SimulatedJob& job = stages_[number]->simulated;
    if (number == 0) record_tasks(*timeline_, job);
    for (const SimulatedJob::Done* task : job.tasks(computing)) {
      if (!std::holds_alternative<Compute>(task->task.what)) continue;
      timeline_->span(fmt::format("stage {}", number), "COMPUTE", task->times.first_rank.begin,
                      task->times.first_rank.end);
    }
  }
}

void StagedTrainer::meet(int stage, TaskId task, const StageExchange& exchange, const RankTimes& begin) {
  const int other = stage + exchange.with;
  open_[{stage, task}] = {(exchange.sends ? 1 : 0) + (exchange.receives ? 1 : 0), begin};
  if (exchange.sends) post(stage, other, true, {task, begin});
  if (exchange.receives) post(other, stage, false, {task, begin});
  settle();
}

void StagedTrainer::post(int from, int to, bool by_sender, Side side) {
  Way& way = ways_[{from, to}];
  (by_sender ? way.senders : way.receivers).push_back(std::move(side));
  if (way.senders.empty() || way.receivers.empty()) return;
  const Side sender = std::move(way.senders.front());
  const Side receiver = std::move(way.receivers.front());
  way.senders.pop_front();
  way.receivers.pop_front();
  send(from, to, sender, receiver);
}

void StagedTrainer::send(int from, int to, const Side& sender, const Side& receiver) {
  const Bytes size = between_.handed_on[static_cast<std::size_t>(std::min(from, to))];
  const auto ranks = sender.begin.size();
  const RankTimes begin = sender.begin.max(receiver.begin);
  RankTimes both(2 * ranks);
  both << begin, begin;
  const auto over = [this, from, to, ranks, sending = sender.task, receiving = receiver.task](const RankTimes& ends) {
    end_message(from, sending, ends.head(ranks));
    end_message(to, receiving, ends.tail(ranks));
  };
  if (between_.company == nullptr) return over(between_.clock_of(from, to).completion_times(size, both));
  const auto& groups = between_.carriages_of(from, to);
  auto left = std::make_shared<std::size_t>(groups.size());
  auto all = std::make_shared<RankTimes>(both);
  for (const GroupCarriage& group : groups) {
    const RankTimes joins = group.members.empty() ? both : RankTimes(both(group.members));
    between_.company->start(*group.carriage, size, joins.max(simulator_.now().si()),
                            [this, left, all, over, &group](const RankTimes& ends) {
                              group.members.empty() ? static_cast<void>(*all = ends)
                                                    : static_cast<void>((*all)(group.members) = ends);
                              if (--*left > 0) return;
                              over(*all);
                              settle();
                              look();
                            });
  }
}

void StagedTrainer::end_message(int stage, TaskId task, const RankTimes& ends) {
  const auto open = open_.find({stage, task});
  open->second.ends = open->second.ends.max(ends);
  if (--open->second.messages > 0) return;
  settled_.emplace_back(open->first, std::move(open->second.ends));
  open_.erase(open);
}

/// One after the other, not each within the one before: a stage that goes on meets the next message at once.
void StagedTrainer::settle() {
  if (is_settling_) return;
  is_settling_ = true;
  while (!settled_.empty()) {
    const auto [what, ends] = std::move(settled_.front());
    settled_.pop_front();
    at(what.first).simulated.end_exchange(what.second, ends);
  }
  is_settling_ = false;
}

}}  // namespace farandole::training
