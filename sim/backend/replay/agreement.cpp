#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/replay/communication_stream.hpp"

namespace farandole { inline namespace backend {
namespace {

constexpr std::int64_t last_message = -1;

}  // namespace

Agreement::Agreement(std::unique_ptr<Endpoint> to_leader, std::unique_ptr<Endpoint> from_leader)
    : to_leader_(std::move(to_leader)),
      from_leader_(std::move(from_leader)),
      heard_(static_cast<std::size_t>(to_leader_->ranks())) {
  expect();
}

void Agreement::expect() {
  if (!leads()) return from_leader_->receive(std::span(heard_).first(1), 0);
  for (int rank = 1; rank < to_leader_->ranks(); ++rank) {
    to_leader_->receive(std::span(heard_).subspan(static_cast<std::size_t>(rank), 1), rank);
  }
}

void Agreement::tell(Endpoint& endpoint, int to, std::int64_t number) {
  if (number >= most_exact_float) throw std::runtime_error("a replay with more announcements than can be counted");
  endpoint.send(std::span(&sent_.emplace_back(static_cast<float>(number)), 1), to);
}

void Agreement::announce() {
  ++own_;
  if (!leads()) tell(*to_leader_, 0, own_);
}

void Agreement::listen() {
  while (!is_over_ && incoming().is_done()) {
    const auto said = static_cast<std::int64_t>(heard_[leads() ? 1 : 0]);  // all others say as much
    is_over_ = said == last_message;
    if (is_over_) return;
    if (leads()) {
      ++others_;
    } else {
      timers_.push_back(said);
    }
    expect();
  }
  if (outgoing().is_done()) sent_.clear();
}

std::int64_t Agreement::announced() const {
  if (leads()) return std::min(own_, others_);
  return timers_.empty() ? settled_ : timers_.front();
}

void Agreement::ring(std::int64_t delivered) {
  for (int rank = 1; rank < from_leader_->ranks(); ++rank) tell(*from_leader_, rank, delivered);
}

void Agreement::take_timer() {
  settled_ = timers_.front();
  timers_.pop_front();
}

void Agreement::close() {
  if (leads()) {
    ring(last_message);
  } else {
    tell(*to_leader_, 0, last_message);
  }
  for (; !is_over_; listen()) incoming().idle(1_ms);
  outgoing().wait();
}

}}  // namespace farandole::backend
