#include "backend/replay/replay.hpp"

#include <algorithm>
#include <utility>

#include "simulate/invariant.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace backend {
Replay::Replay(ReplaySite site, Session& session)
    : site_(std::move(site)), session_(session), rank_(session.endpoint().rank()), ranks_(session.endpoint().ranks()) {
  stream(0);
  if (site_.negotiates && ranks_ > 1) {
    auto to_leader = session.open_channel();
    agreement_.emplace(std::move(to_leader), session.open_channel());
  }
  session.endpoint().allgather_scalar(0);
  clock_.start();
}

CommunicationStream& Replay::stream(int number) {
  const auto found = streams_.find(number);
  if (found != streams_.end()) return found->second;
  auto& made = streams_.try_emplace(number, session_.open_channel(), site_.schedules, clock_).first->second;
  made.check_data(is_checked_);
  return made;
}

void Replay::check_data(bool yes) {
  is_checked_ = yes;
  for (auto& [number, stream] : streams_) stream.check_data(yes);
}

std::int64_t Replay::wrong() const {
  std::int64_t sum = 0;
  for (const auto& [number, stream] : streams_) sum += stream.wrong();
  return sum;
}

void Replay::schedule(Seconds when, Kind kind, Note note, TaskId task) {
  events_.push({when, scheduled_++, kind, note, task});
}

void Replay::call_at(Seconds when, Note note) {
  if (agreement_ && !agreement_->leads()) {
    awaited_timers_.push_back(note);
  } else {
    schedule(when, Kind::timer, note);
  }
}

TaskId Replay::add(Task task) {
  const auto id = static_cast<TaskId>(items_.size());
  const Stream stream = task.stream;
  Item& own = items_.emplace_back(Item{std::move(task)});
  for (const TaskId before : own.task.after) {
    Item& earlier = items_[static_cast<std::size_t>(before)];
    if (earlier.is_done) continue;
    earlier.next.push_back(id);
    ++own.missing;
  }
  if (const auto* compute = std::get_if<Compute>(&own.task.what)) {
    undelivered_ += static_cast<int>(compute->marks.size());
    ++unfinished_;
  } else {
    own.number = current_.communications.size();  // in an order that all ranks agree on, whichever begins first
    current_.communications.emplace_back();
    of_communication_.push_back(id);
  }
  lines_[stream].push_back(id);
  advance(stream);
  return id;
}

void Replay::advance(Stream stream) {
  auto& line = lines_[stream];
  while (!line.empty() && items_[static_cast<std::size_t>(line.front())].missing == 0) {
    const TaskId id = line.front();
    if (std::holds_alternative<Compute>(items_[static_cast<std::size_t>(id)].task.what)) {
      if (is_computing_) return;
      line.pop_front();
      begin_compute(id);
    } else {
      line.pop_front();
      begin_collective(id);
    }
  }
}

Seconds Replay::earliest_of(const Item& item) const {
  Seconds earliest = item.task.earliest.size() > 0 ? Seconds(item.task.earliest[rank_]) : Seconds(0);
  for (const TaskId before : item.task.after) {
    earliest = std::max(earliest, items_[static_cast<std::size_t>(before)].end);
  }
  return earliest;
}

void Replay::begin_compute(TaskId id) {
  Item& own = items_[static_cast<std::size_t>(id)];
  const auto& compute = std::get<Compute>(own.task.what);
  const Seconds begin = std::max(earliest_of(own), current_.computed.empty() ? Seconds(0) : now());
  is_computing_ = true;
  own.number = current_.computed.size();
  current_.computed.push_back({begin, begin + compute.work * factor_});
  for (const Mark& mark : compute.marks) {
    schedule(begin + (mark.on_host ? mark.at : mark.at * factor_), mark.on_host ? Kind::announced : Kind::passed,
             mark.note, id);
  }
  schedule(begin + compute.work * factor_, Kind::computed, own.task.note, id);
}

void Replay::begin_collective(TaskId id) {
  Item& own = items_[static_cast<std::size_t>(id)];
  const auto number = static_cast<int>(own.number);
  const bool is_among_replicas = own.task.stream == communicating_among_replicas;
  stream(is_among_replicas ? site_.streams : number % site_.streams)
      .enqueue(number, std::get<Collective>(own.task.what), earliest_of(own));
}

void Replay::finish(TaskId id, const TaskTimes& times) {
  Item& own = items_[static_cast<std::size_t>(id)];
  own.is_done = true;
  own.end = Seconds(times.end[rank_]);
  const Stream stream = own.task.stream;
  const Note note = own.task.note;
  for (const TaskId later : std::vector<TaskId>(own.next)) {
    Item& next = items_[static_cast<std::size_t>(later)];
    if (--next.missing == 0) advance(next.task.stream);
  }
  advance(stream);
  if (note.what >= 0) site_.strategy.on(*this, {note, times.end, id, &times});
}

bool Replay::is_over() const {
  return !current_.computed.empty() && undelivered_ == 0 && unfinished_ <= 1 && site_.strategy.synchronised();
}

LocalIteration Replay::run_iteration() {
  factor_ = site_.variability.factors(iteration_++)[rank_];
  current_ = {};
  items_.clear();
  of_communication_.clear();
  unfinished_ = 0;
  current_.start = now();
  if (site_.input != nullptr) wait_until(Seconds(site_.input->start(here(now()))[rank_]));
  current_.fed = now();
  site_.strategy.begin(*this, here(current_.fed));
  while (!is_over()) step(Seconds::infinity());
  return close_iteration();
}

LocalIteration Replay::close_iteration() {
  while (unfinished_ > 0) step(Seconds::infinity());
  const Seconds compute_end = current_.computed.back().to;
  const auto negotiated = site_.strategy.negotiated();
  current_.negotiated.assign(negotiated.begin(), negotiated.end());
  current_.synchronised = std::max(Seconds((*site_.strategy.synchronised())[rank_]), compute_end);
  wait_until(current_.synchronised + site_.job.update * factor_);
  current_.end = now();
  if (site_.timeline != nullptr) {
    site_.timeline->span("compute", "FORWARD_BACKWARD", current_.computed.front().from, compute_end);
    site_.timeline->span("compute", "UPDATE", current_.synchronised, current_.end);
  }
  return current_;
}

void Replay::wait_until(Seconds moment) {
  while (now() < moment) step(moment);
}

void Replay::step(Seconds until) {
  const bool has_communicated = advance_streams();
  const bool has_followed = follow_agreement();
  if (deliver_due() || has_communicated || has_followed) return;
  const Seconds next = std::min(until, next_moment());
  expect_something(next);
  session_.endpoint().idle(next - now());
}

/// An iteration that nothing will ever end would wait for ever.
void Replay::expect_something(Seconds next) const {
  const auto is_idle = [](const auto& stream) { return stream.second.is_idle(); };
  if (next == Seconds::infinity() && !agreement_ && std::ranges::all_of(streams_, is_idle)) {
    throw InvariantError("an iteration stopped before all gradients were averaged");
  }
}

Seconds Replay::next_moment() const {
  Seconds next = events_.empty() ? Seconds::infinity() : events_.top().when;
  for (const auto& [number, stream] : streams_) next = std::min(next, stream.next_moment());
  return next;
}

bool Replay::advance_streams() {
  bool has_finished = false;
  for (auto& [number, stream] : streams_) {
    const auto finished = stream.advance();
    if (!finished) continue;
    has_finished = true;
    const LocalTimes& times = finished->times;
    current_.communications[static_cast<std::size_t>(finished->number)] = times;
    finish(of_communication_[static_cast<std::size_t>(finished->number)], here(times));
  }
  return has_finished;
}

bool Replay::deliver_due() {
  if (events_.empty() || events_.top().when > now()) return false;
  const Event event = events_.top();
  events_.pop();
  deliver(event);
  return true;
}

void Replay::deliver(const Event& event) {
  switch (event.kind) {
    case Kind::announced:
      if (!agreement_) return announce(event.note);
      announcements_.push_back(event.note);
      return agreement_->announce();
    case Kind::passed:
      --undelivered_;
      return site_.strategy.on(*this, {event.note, here(now()), event.task});
    case Kind::timer:
      return ring(event.note);
    case Kind::computed: {
      is_computing_ = false;
      --unfinished_;
      const Busy& busy = current_.computed[items_[static_cast<std::size_t>(event.task)].number];
      return finish(event.task, here({busy.from, busy.from, busy.to, busy.to}));
    }
  }
}

void Replay::announce(Note note) {
  --undelivered_;
  ++delivered_;
  site_.strategy.on(*this, {note, here(now())});
}

void Replay::ring(Note note) {
  if (agreement_ && agreement_->leads()) agreement_->ring(delivered_);
  site_.strategy.on(*this, {note});
}

/// Delivers what all ranks have announced, and on the others than rank 0 its timers.
bool Replay::follow_agreement() {
  if (!agreement_) return false;
  agreement_->listen();
  bool has_followed = false;
  for (; delivered_ < agreement_->announced(); has_followed = true) {
    const Note note = announcements_.front();
    announcements_.pop_front();
    announce(note);
  }
  if (!agreement_->leads() && agreement_->has_fired() && !awaited_timers_.empty()) {
    agreement_->take_timer();
    const Note note = awaited_timers_.front();
    awaited_timers_.pop_front();
    ring(note);
    has_followed = true;
  }
  return has_followed;
}

Seconds last_of_all(Endpoint& endpoint, Seconds own) {
  return Seconds(std::ranges::max(endpoint.allgather_scalar(own.si())));
}

Iteration iteration_of_all(Endpoint& endpoint, const LocalIteration& own, Seconds before) {
  const auto last = [&](Seconds moment) { return last_of_all(endpoint, moment); };
  const IterationMoments moments{before, last(own.fed), last(own.synchronised), last(own.end)};
  const auto over_all = [&](const Busy& task) { return Busy{last(task.from), last(task.to)}; };
  const std::vector<Busy> computed = mapped(own.computed, over_all);
  std::vector<Busy> busy = mapped(own.communications, [&](const LocalTimes& times) {
    return Busy{last(times.begin), last(times.end), times.operation};
  });
  std::ranges::stable_sort(busy, {}, &Busy::from);
  std::vector<Busy> negotiated = mapped(own.negotiated, over_all);
  std::ranges::stable_sort(negotiated, {}, &Busy::from);
  return iteration_of(moments, computed, busy, negotiated);
}

}}  // namespace farandole::backend
