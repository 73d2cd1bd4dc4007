#include "simulate/max_min_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace farandole { inline namespace simulate {
namespace {

/// Ends that are no further apart than rounding are one moment.
constexpr double kPrecision = 0x1p-49;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kBelow = 4;

}  // namespace

void Completions::put(std::size_t place, const End& end) {
  heap_[place] = end;
  places_[static_cast<std::size_t>(end.flow)] = static_cast<int>(place);
}

void Completions::up(std::size_t place, End end) {
  for (; place > 0; place = (place - 1) / kBelow) {
    const End& above = heap_[(place - 1) / kBelow];
    if (!(end < above)) break;
    put(place, above);
  }
  put(place, end);
}

void Completions::down(std::size_t place, End end) {
  while (kBelow * place + 1 < heap_.size()) {
    const std::size_t first = kBelow * place + 1;
    const std::size_t last = std::min(first + kBelow, heap_.size());
    std::size_t least = first;
    for (std::size_t below = first + 1; below < last; ++below) {
      if (heap_[below] < heap_[least]) least = below;
    }
    if (!(heap_[least] < end)) break;
    put(place, heap_[least]);
    place = least;
  }
  put(place, end);
}

void Completions::pop() {
  places_[static_cast<std::size_t>(heap_.front().flow)] = -1;
  const End last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) down(0, last);
}

void Completions::set(const End& end) {
  const auto flow = static_cast<std::size_t>(end.flow);
  if (flow >= places_.size()) places_.resize(flow + 1, -1);
  if (places_[flow] < 0) {
    heap_.push_back(end);
    return up(heap_.size() - 1, end);
  }
  const auto place = static_cast<std::size_t>(places_[flow]);
  end < heap_[place] ? up(place, end) : down(place, end);
}

void MaxMinNetwork::start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) {
  const double bytes = size.si();
  if (!(bytes >= 1) || bytes >= 0x1p63 || bytes != std::floor(bytes)) {
    throw std::invalid_argument("a flow has a whole number of bytes, at least one");
  }
  if (!(latency.si() >= 0) || !std::isfinite(latency.si())) throw std::invalid_argument("a latency is never negative");
  if (route < 0 || route >= shares_.routes()) throw std::invalid_argument("a flow over no such route");
  if (!(when.si() >= now_)) throw std::logic_error("a flow or call is never in the past");
  wait({(when + latency).si(), 0, bytes, route, tag});
}

void MaxMinNetwork::call_at(Seconds when, int tag) {
  if (!(when.si() >= now_)) throw std::logic_error("a flow or call is never in the past");
  wait({when.si(), 0, 0, kNoRoute, tag});
}

void MaxMinNetwork::wait(const Pending& pending) {
  if (!std::isfinite(pending.date)) throw std::logic_error("a flow or call comes at some time");
  Pending numbered = pending;
  numbered.order = order_++;
  pending_.push(numbered);
}

double MaxMinNetwork::next_date() const {
  const double date = pending_.empty() ? kNever : pending_.top().date;
  return completions_.empty() ? date : std::min(date, completions_.first().date);
}

Completions::End MaxMinNetwork::expected_end(int number) {
  Progress& flow = flows_[static_cast<std::size_t>(number)];
  flow.left = std::max(0.0, flow.left - flow.rate * (now_ - flow.since));
  flow.since = now_;
  flow.rate = shares_.rate(number).si();
  return {now_ + flow.left / flow.rate, flow.order, number};
}

void MaxMinNetwork::settle() {
  for (const int flow : shares_.settle()) completions_.set(expected_end(flow));
}

void MaxMinNetwork::begin(const Pending& pending) {
  const auto flow = static_cast<std::size_t>(shares_.enter(pending.route));
  if (flow >= flows_.size()) flows_.resize(flow + 1);
  flows_[flow] = {pending.size, 0, now_, pending.order, pending.tag};
}

/// The next end, begin or call.
void MaxMinNetwork::step(const Done& done) {
  const auto ends_before = [this](const Pending& pending) {
    return !completions_.empty() && completions_.first() < Completions::End{pending.date, pending.order, 0};
  };
  if (pending_.empty() || ends_before(pending_.top())) {
    const auto [date, order, flow] = completions_.first();
    if (date > now_ * (1 + kPrecision)) now_ = date;
    completions_.pop();
    shares_.leave(flow);
    return done(flows_[static_cast<std::size_t>(flow)].tag);
  }
  const Pending next = pending_.top();
  pending_.pop();
  now_ = std::max(now_, next.date);
  next.route == kNoRoute ? done(next.tag) : begin(next);
}

void MaxMinNetwork::run(const Done& done) {
  if (is_running_) throw std::logic_error("a network is run from its own callback");
  const struct Running {
    bool& is;
    ~Running() { is = false; }
  } running{is_running_ = true};
  is_halted_ = false;
  while (!is_halted_) {
    const double date = next_date();
    if (!shares_.is_settled() && date > now_ * (1 + kPrecision)) {
      settle();
    } else if (date == kNever) {
      return;
    } else {
      step(done);
    }
  }
}

void MaxMinNetwork::restart() {
  if (is_running_ || !shares_.is_settled() || next_date() != kNever) {
    throw std::logic_error("a restart while flows are left");
  }
  now_ = 0;
  order_ = 0;
}

}}  // namespace farandole::simulate
