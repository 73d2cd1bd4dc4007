#include "backend/replay/replay.hpp"

#include <algorithm>
#include <utility>

#include "simulate/invariant.hpp"

namespace farandole {

Replay::Replay(ReplaySite site, Session& session)
    : site_(std::move(site)), session_(session), rank_(session.endpoint().rank()), ranks_(session.endpoint().ranks()) {
  stream(0);
  if (site_.negotiates && ranks_ > 1) {
    auto to_leader = session.open_channel();
    agreement_.emplace(std::move(to_leader), session.open_channel());
  }
  session.endpoint().everyones(0);
  clock_.start();
}

CommunicationStream& Replay::stream(int number) {
  const auto found = streams_.find(number);
  if (found != streams_.end()) return found->second;
  auto& made = streams_.try_emplace(number, session_.open_channel(), site_.schedule_of, clock_).first->second;
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

void Replay::close() {
  if (agreement_) agreement_->close();
}

void Replay::schedule(Seconds when, Kind kind, int index) {
  events_.push({when, scheduled_++, kind, index});
}

void Replay::wake_at(Seconds when) {
  if (agreement_ && !agreement_->leads()) {
    ++awaited_rings_;
  } else {
    schedule(when, Kind::timer, 0);
  }
}

void Replay::compute_from(RankTimes moments) {
  const Seconds begin(moments[rank_]);
  compute_begin_ = begin;
  for (std::size_t i = 0; i < site_.job.gradients.size(); ++i) {
    const Gradient& gradient = site_.job.gradients[i];
    schedule(begin + gradient.announced, Kind::announced, static_cast<int>(i));
    schedule(begin + gradient.ready * factor_, Kind::ready, static_cast<int>(i));
  }
  undelivered_ = static_cast<int>(site_.job.gradients.size());
}

int Replay::enqueue(CommunicationWork work) {
  const auto number = static_cast<int>(current_.communications.size());
  current_.communications.emplace_back();
  stream(number % site_.streams).enqueue(number, work);
  return number;
}

bool Replay::is_over() const {
  return compute_begin_ && undelivered_ == 0 && site_.strategy.synchronised();
}

LocalIteration Replay::run_iteration() {
  factor_ = site_.variability.factors(iteration_++)[rank_];
  compute_begin_.reset();
  current_ = {};
  current_.start = now();
  if (site_.input != nullptr) wait_until(Seconds(site_.input->start(here(now()))[rank_]));
  current_.fed = now();
  site_.strategy.begin(*this, here(current_.fed));
  while (!is_over()) step(Seconds::infinity());
  return close_iteration();
}

LocalIteration Replay::close_iteration() {
  const Seconds compute_end = *compute_begin_ + site_.job.backward_end * factor_;
  wait_until(compute_end);
  current_.compute_begin = *compute_begin_;
  current_.compute_end = compute_end;
  current_.synchronised = std::max(Seconds((*site_.strategy.synchronised())[rank_]), compute_end);
  wait_until(current_.synchronised + site_.job.update * factor_);
  current_.end = now();
  if (site_.timeline != nullptr) {
    site_.timeline->span("compute", "FORWARD_BACKWARD", current_.compute_begin, current_.compute_end);
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
    site_.strategy.on_communicated(*this, finished->number,
                                   {here(times.begin), here(times.reducing), here(times.reduced), here(times.end)});
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
      if (agreement_) return agreement_->announce();
      return announce(event.index);
    case Kind::ready:
      --undelivered_;
      return site_.strategy.on_ready(*this, event.index, here(now()));
    case Kind::timer:
      return ring();
  }
}

void Replay::announce(int gradient) {
  ++delivered_;
  site_.strategy.on_announced(*this, gradient, here(now()));
}

void Replay::ring() {
  if (agreement_ && agreement_->leads()) agreement_->ring(delivered_);
  site_.strategy.on_timer(*this);
}

/// Delivers what all ranks have announced, and on the others than rank 0 its timers.
bool Replay::follow_agreement() {
  if (!agreement_) return false;
  agreement_->listen();
  const auto gradients = static_cast<std::int64_t>(site_.job.gradients.size());
  bool has_followed = false;
  for (; delivered_ < agreement_->announced(); has_followed = true) announce(static_cast<int>(delivered_ % gradients));
  if (!agreement_->leads() && agreement_->has_rung() && awaited_rings_ > 0) {
    agreement_->take_ring();
    --awaited_rings_;
    ring();
    has_followed = true;
  }
  return has_followed;
}

}  // namespace farandole
