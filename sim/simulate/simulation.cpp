#include "simulate/simulation.hpp"

#include <algorithm>
#include <utility>

#include "simulate/invariant.hpp"

namespace farandole {

Simulation::Simulation(const Job& job, const Variability& variability, Strategy& strategy, CollectiveClock& clock,
                       int ranks, Seconds launch, Timeline* timeline)
    : Simulation(
          job, variability, strategy, [&clock](const CommunicationWork&) -> CollectiveClock& { return clock; }, ranks,
          launch, timeline) {}

Simulation::Simulation(const Job& job, const Variability& variability, Strategy& strategy, ClockOf clock_of, int ranks,
                       Seconds launch, Timeline* timeline)
    : job_(job),
      variability_(variability),
      strategy_(strategy),
      clock_of_(std::move(clock_of)),
      launch_(launch),
      timeline_(timeline),
      begin_(all_at(ranks, Seconds(0))),
      stream_free_(all_at(ranks, Seconds(0))) {}

void Simulation::schedule(Seconds when, Kind kind, int index) {
  const Event event{std::max(when, now_), scheduled_++, kind, index};
  if (streams_ == nullptr) return events_.push(event);
  const auto number = static_cast<int>(event.order);
  called_.emplace(number, event);
  streams_->call_at(event.when, number);
}

void Simulation::wake_at(Seconds when) {
  schedule(when, Kind::timer, 0);
}

void Simulation::compute_from(RankTimes moments) {
  compute_begin_ = std::move(moments);
  schedule_gradients();
}

void Simulation::schedule_gradients() {
  const Seconds last_begin = latest(compute_begin_);
  for (std::size_t i = 0; i < job_.gradients.size(); ++i) {
    const Gradient& gradient = job_.gradients[i];
    schedule(last_begin + gradient.announced, Kind::announced, static_cast<int>(i));
    schedule(latest(computed(gradient.ready)), Kind::ready, static_cast<int>(i));
  }
  undelivered_gradients_ = static_cast<int>(job_.gradients.size());
}

RankTimes Simulation::computed(Seconds nominal) const {
  return device_share_.finish(compute_begin_, factors_ * nominal.si(), communications_);
}

Iteration Simulation::run_iteration() {
  factors_ = variability_.factors(iteration_++);
  communications_.clear();
  spans_.clear();
  busy_.clear();
  compute_begin_ = {};
  const Seconds before = latest(begin_);
  if (input_ != nullptr) begin_ = input_->start(begin_);
  strategy_.begin(*this, begin_);
  streams_ == nullptr ? run_events() : run_events_over_streams();
  return close_iteration(before, computed(job_.backward_end));
}

bool Simulation::iteration_is_over() const {
  return compute_begin_.size() > 0 && undelivered_gradients_ == 0 && strategy_.synchronised();
}

void Simulation::run_events() {
  while (!iteration_is_over()) {
    if (events_.empty()) throw InvariantError("an iteration stopped before all gradients were averaged");
    const Event event = events_.top();
    events_.pop();
    now_ = event.when;
    deliver(event);
  }
}

/// Until nothing is left: strategies that let several streams work set no timers beyond their iteration.
void Simulation::run_events_over_streams() {
  streams_->run({[this](int number) {
                   now_ = streams_->now();
                   deliver(called_.extract(number).mapped());
                 },
                 [this](int number, const CommunicationTimes& times) {
                   now_ = streams_->now();
                   communications_[static_cast<std::size_t>(number)] = times;
                   note_span(number, times);
                   busy_.push_back({latest(times.begin), latest(times.end)});
                   strategy_.on_communicated(*this, number, times);
                 }});
  if (!iteration_is_over()) throw InvariantError("an iteration stopped before all gradients were averaged");
  std::ranges::sort(busy_, {}, &Busy::from);
}

void Simulation::deliver(const Event& event) {
  const auto index = static_cast<std::size_t>(event.index);
  switch (event.kind) {
    case Kind::announced:
      strategy_.on_announced(*this, event.index, compute_begin_ + job_.gradients[index].announced.si());
      break;
    case Kind::ready:
      deliver_ready(event.index);
      break;
    case Kind::timer:
      strategy_.on_timer(*this);
      break;
    case Kind::communicated:
      strategy_.on_communicated(*this, event.index, communications_[index]);
      break;
  }
}

/// Collectives that were enqueued in the meantime may have put it off.
void Simulation::deliver_ready(int gradient) {
  const RankTimes moments = computed(job_.gradients[static_cast<std::size_t>(gradient)].ready);
  if (latest(moments) > now_) return schedule(latest(moments), Kind::ready, gradient);
  --undelivered_gradients_;
  strategy_.on_ready(*this, gradient, moments);
}

int Simulation::enqueue(CommunicationWork work) {
  ++collectives_;
  ++counts_[{work.operation, work.size}];
  const auto number = static_cast<int>(communications_.size());
  spans_.push_back({work.operation, work.size, {}, {}});
  if (streams_ != nullptr) {
    communications_.emplace_back();
    streams_->enqueue(number, std::move(work));
    return number;
  }
  CommunicationTimes times;
  times.begin = work.earliest.max(stream_free_);
  times.reducing = times.begin + work.copy_in.si();
  CollectiveClock& clock = clock_of_(work);
  times.reduced = clock.finish(work.size, times.reducing + (clock.has_launch() ? 0 : launch_.si()));
  folded_ += clock.folded() ? 1 : 0;
  note_span(number, times);
  times.end = times.reduced + work.copy_out.si();
  stream_free_ = times.end;
  busy_.push_back({latest(times.begin), latest(times.end)});
  communications_.push_back(std::move(times));
  schedule(latest(communications_.back().end), Kind::communicated, number);
  return number;
}

void Simulation::note_span(int number, const CommunicationTimes& times) {
  CollectiveSpan& span = spans_[static_cast<std::size_t>(number)];
  span.begin = latest(times.reducing);
  span.end = latest(times.reduced);
}

IterationProfile Simulation::last_profile() const {
  IterationProfile profile{moments_.end - moments_.start, spans_};
  for (CollectiveSpan& span : profile.collectives) {
    span.begin -= moments_.start;
    span.end -= moments_.start;
  }
  return profile;
}

Iteration Simulation::close_iteration(Seconds before, const RankTimes& backward_end) {
  const RankTimes synchronised = strategy_.synchronised()->max(backward_end);
  const RankTimes end = synchronised + factors_ * job_.update.si();
  const Seconds computed = latest(backward_end);
  if (timeline_ != nullptr) {
    timeline_->span("compute", "FORWARD_BACKWARD", Seconds(compute_begin_[0]), Seconds(backward_end[0]));
    timeline_->span("compute", "UPDATE", Seconds(synchronised[0]), Seconds(end[0]));
  }
  moments_ = {before, latest(begin_), latest(compute_begin_), computed, latest(synchronised), latest(end)};
  const Seconds stolen = computed - latest(compute_begin_ + factors_ * job_.backward_end.si());
  begin_ = end;
  return iteration_of(moments_, busy_, stolen);
}

}  // namespace farandole
