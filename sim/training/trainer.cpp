#include "training/trainer.hpp"

#include <algorithm>
#include <utility>

#include "simulate/invariant.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace training {

/// Pieces of computation between which it may wait, and which collective, of how many bytes, from when its turn comes
/// until it is copied out; what stages exchange, from when it is at it.
void record_tasks(Timeline& timeline, const SimulatedJob& job) {
  const auto record = [&](const char* lane, const SimulatedJob::Done& task) {
    const auto* collective = std::get_if<Collective>(&task.task.what);
    std::string what = "COMPUTE";
    if (collective != nullptr) what = name(collective->operation) + " " + decimal(collective->size);
    const auto* exchange = std::get_if<StageExchange>(&task.task.what);
    if (exchange != nullptr) what = exchange->receives ? (exchange->sends ? "SEND_RECEIVE" : "RECEIVE") : "SEND";
    timeline.span(lane, std::move(what), task.times.first_rank.begin, task.times.first_rank.end);
  };
  for (const auto& [stream, lane] : {std::pair(computing, "compute"), std::pair(communicating, "communication"),
                                     std::pair(communicating_among_replicas, "communication among replicas"),
                                     std::pair(communicating_among_stages, "other stages")}) {
    const auto tasks = job.tasks(stream);
    if (stream == computing && tasks.size() < 2) continue;  // all of FORWARD_BACKWARD
    for (const SimulatedJob::Done* task : tasks) {
      const auto* inside = stream == computing ? std::get_if<Collective>(&task->task.what) : nullptr;
      const char* of_group = inside != nullptr && inside->group == Group::experts ? "experts" : "tensor parallel";
      record(inside != nullptr ? of_group : lane, *task);
    }
  }
}

TasksOfIteration tasks_of(const SimulatedJob& job) {
  TasksOfIteration all;
  const auto take = [&](const SimulatedJob::Done& task, Operation operation, bool is_inside, bool is_between_stages) {
    all.communications.push_back(task.last);
    all.busy.push_back(
        {all.communications.back().begin, all.communications.back().end, operation, is_inside, is_between_stages});
  };
  const SimulatedJob::Done* last = nullptr;
  for (const SimulatedJob::Done* task : job.tasks(computing)) {
    if (const auto* collective = std::get_if<Collective>(&task->task.what)) {
      take(*task, collective->operation, true, false);
      continue;
    }
    if (all.computed.empty()) all.first = task->times.first_rank.begin;
    all.computed.push_back({task->last.begin, task->last.end});
    all.slowdown += task->last.end - task->undisturbed;
    last = task;
  }
  all.ended = last->times.end;
  for (const Stream stream : {communicating, communicating_among_replicas}) {
    for (const SimulatedJob::Done* task : job.tasks(stream)) {
      take(*task, std::get<Collective>(task->task.what).operation, false, false);
    }
  }
  // Computation waits for what is received; what is only sent goes on beside it.
  for (const SimulatedJob::Done* task : job.tasks(communicating_among_stages)) {
    if (std::get<StageExchange>(task->task.what).receives) take(*task, Operation::broadcast, true, true);
  }
  std::ranges::stable_sort(all.busy, {}, &Busy::from);
  return all;
}

Trainer::Trainer(Simulator& simulator, JobSite site, const Job& job, const Variability& variability, Strategy& strategy,
                 Timeline* timeline)
    : simulator_(simulator),
      job_(job),
      variability_(variability),
      strategy_(strategy),
      timeline_(timeline),
      simulated_(simulator, site),
      representatives_(site.representatives),
      begin_(all_at(site.ranks, Seconds(0))) {
  simulated_.tell([this](const Happening& happening) {
    if (happening.note.what >= 0) strategy_.on(simulated_, happening);
    look();
  });
}

void Trainer::begin() {
  factors_ = variability_.factors(iteration_++);
  before_ = latest(begin_);
  if (input_ != nullptr) begin_ = input_->start(begin_);
  set_out();
}

void Trainer::set_out() {
  if (representatives_ != nullptr) representatives_->choose(begin_, factors_);
  simulated_.begin_iteration(representatives_ != nullptr ? representatives_->factors() : factors_);
  is_running_ = true;
  strategy_.begin(simulated_, representatives_ != nullptr ? representatives_->begin() : begin_);
}

bool Trainer::is_over() const {
  return is_running_ && simulated_.computes() && simulated_.open_marks() == 0 && simulated_.open_tasks() == 0 &&
         strategy_.synchronised();
}

void Trainer::look() {
  if (!is_over()) return;
  is_running_ = false;
  if (!goes_on_) return simulator_.halt();
  ended_.push_back(close());
  if (ended_.back().duration > Seconds(0)) go_on();
}

/// What is known from its begin on is over at its end, of which nobody else tells.
void Trainer::go_on() {
  begin();
  if (is_over()) simulated_.call_at(latest(simulated_.tasks(computing).back()->times.end), {});
}

Iteration Trainer::run_iteration() {
  begin();
  run_on();
  while (representatives_ != nullptr && !representatives_->stood_for_all(synchronised())) {
    const double later = std::max(0.0, (simulator_.now() - earliest(begin_)).si());
    before_ += Seconds(later);
    begin_ += later;
    representatives_->choose_more_from_now_on();
    simulated_.forget_iteration();
    set_out();
    run_on();
  }
  return close();
}

void Trainer::run_on() {
  if (!is_over()) simulator_.run();
  if (is_running_ && !is_over()) throw InvariantError("an iteration stopped before all gradients were averaged");
  is_running_ = false;
}

void Trainer::keep_training() {
  goes_on_ = true;
  go_on();
}

/// When each rank's update begins.
RankTimes Trainer::synchronised() const {
  return strategy_.synchronised()->max(simulated_.tasks(computing).back()->times.end);
}

Iteration Trainer::close() {
  const TasksOfIteration tasks = tasks_of(simulated_);
  IterationMoments moments{before_, latest(begin_)};
  moments.compute_slowdown = tasks.slowdown;
  const RankTimes synchronised = this->synchronised();
  begin_ = representatives_ != nullptr ? representatives_->of_all(synchronised) : synchronised;
  begin_ += factors_ * job_.update.si();
  if (timeline_ != nullptr) {
    timeline_->span("compute", "FORWARD_BACKWARD", tasks.first, Seconds(tasks.ended[0]));
    timeline_->span("compute", "UPDATE", Seconds(synchronised[0]), Seconds(begin_[0]));
    record_tasks(*timeline_, simulated_);
  }
  moments.synchronised = latest(synchronised);
  moments.end = latest(begin_);
  last_critical_path_ = critical_path(moments, tasks.computed, tasks.communications);
  return iteration_of(moments, tasks.computed, tasks.busy, strategy_.negotiated());
}

}}  // namespace farandole::training
