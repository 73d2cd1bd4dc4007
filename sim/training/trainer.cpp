#include "training/trainer.hpp"

#include <algorithm>
#include <utility>

#include "simulate/invariant.hpp"
#include "units/format.hpp"

namespace farandole::inline training {
namespace {

/// What rank 0 does on its streams: pieces of computation between which it may wait, and which collective, of how many
/// bytes, from when its turn comes until it is copied out.
void record_tasks(Timeline& timeline, const SimulatedJob& job) {
  const auto record = [&](const char* lane, const SimulatedJob::Done& task) {
    const auto* collective = std::get_if<Collective>(&task.task.what);
    std::string what = "COMPUTE";
    if (collective != nullptr) what = name(collective->operation) + " " + decimal(collective->size);
    const Seconds end((collective != nullptr ? task.times.end : job.computed(task))[0]);
    timeline.span(lane, std::move(what), Seconds(task.times.begin[0]), end);
  };
  for (const auto& [stream, lane] : {std::pair(computing, "compute"), std::pair(communicating, "communication"),
                                     std::pair(communicating_among_replicas, "communication among replicas")}) {
    const auto tasks = job.tasks(stream);
    if (stream == computing && tasks.size() < 2) continue;  // all of FORWARD_BACKWARD
    for (const SimulatedJob::Done* task : tasks) {
      const bool is_inside = stream == computing && std::holds_alternative<Collective>(task->task.what);
      record(is_inside ? "tensor parallel" : lane, *task);
    }
  }
}

}  // namespace

Trainer::Trainer(Simulator& simulator, JobSite site, const Job& job, const Variability& variability, Strategy& strategy,
                 Timeline* timeline)
    : simulator_(simulator),
      job_(job),
      variability_(variability),
      strategy_(strategy),
      timeline_(timeline),
      simulated_(simulator, site),
      begin_(all_at(site.ranks, Seconds(0))) {
  simulated_.tell([this](const Happening& happening) {
    if (happening.note.what >= 0) strategy_.on(simulated_, happening);
    look();
  });
}

void Trainer::begin() {
  simulated_.begin_iteration(variability_.factors(iteration_++));
  before_ = latest(begin_);
  if (input_ != nullptr) begin_ = input_->start(begin_);
  is_running_ = true;
  strategy_.begin(simulated_, begin_);
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
  if (!is_over()) simulator_.run();
  if (is_running_ && !is_over()) throw InvariantError("an iteration stopped before all gradients were averaged");
  is_running_ = false;
  return close();
}

void Trainer::keep_training() {
  goes_on_ = true;
  go_on();
}

Iteration Trainer::close() {
  const RankTimes& factors = simulated_.factors();
  IterationMoments moments{before_, latest(begin_)};
  std::vector<Busy> computed;
  RankTimes ended;
  RankTimes first;
  std::vector<LastTimes> communications;
  std::vector<Busy> busy;
  const auto take_collective = [&](const SimulatedJob::Done& task, bool is_inside) {
    communications.push_back(last_times(task.times));
    const Operation operation = std::get<Collective>(task.task.what).operation;
    busy.push_back({communications.back().begin, communications.back().end, operation, is_inside});
  };
  for (const SimulatedJob::Done* task : simulated_.tasks(computing)) {
    if (std::holds_alternative<Collective>(task->task.what)) {
      take_collective(*task, true);
      continue;
    }
    ended = simulated_.computed(*task);
    if (computed.empty()) first = task->times.begin;
    computed.push_back({latest(task->times.begin), latest(ended)});
    const Seconds undisturbed = latest(task->times.begin + factors * std::get<Compute>(task->task.what).work.si());
    moments.compute_slowdown += computed.back().to - undisturbed;
  }
  const RankTimes synchronised = strategy_.synchronised()->max(ended);
  begin_ = synchronised + factors * job_.update.si();
  if (timeline_ != nullptr) {
    timeline_->span("compute", "FORWARD_BACKWARD", Seconds(first[0]), Seconds(ended[0]));
    timeline_->span("compute", "UPDATE", Seconds(synchronised[0]), Seconds(begin_[0]));
    record_tasks(*timeline_, simulated_);
  }
  for (const Stream stream : {communicating, communicating_among_replicas}) {
    for (const SimulatedJob::Done* task : simulated_.tasks(stream)) take_collective(*task, false);
  }
  std::ranges::stable_sort(busy, {}, &Busy::from);
  moments.synchronised = latest(synchronised);
  moments.end = latest(begin_);
  last_critical_path_ = critical_path(moments, computed, communications);
  return iteration_of(moments, computed, busy);
}

}  // namespace farandole::inline training
