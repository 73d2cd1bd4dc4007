// Long messages, which wait for their receivers, in a run of a message clock; and handshakes that queue behind data
// (Handshakes of platform/platform.hpp).
//
// There, a sender announces its message, which takes the way's latency; the receiver answers as soon as that is there
// and it has posted the receive; the data leave when the answer is back, a latency later. The answer goes behind what
// the receiver has begun to send itself: all of it, if that is for the same peer, since it shares that one's
// connection; else at most `ahead` of each message, what its kernel has taken of another connection. So two ranks that
// exchange long messages send one after the other, unless they announce them within a latency of each other.
#include <algorithm>

#include "simulate/message_run.hpp"

namespace farandole { inline namespace simulate {

/// A receive is posted when its rank enters the round; in a pipeline a round ahead, as Open MPI posts the next
/// segment's before it waits for the last one.
bool MessageClock::Run::is_posted(int transfer) const {
  const auto index = static_cast<std::size_t>(transfer);
  const std::size_t phase = clock_.transfers_[index].phase;
  const int repeat = completed_[index];
  const int ahead = schedule_.phases[phase].window != 0 && repeat > 0 ? 1 : 0;
  const Progress& at = progress_[static_cast<std::size_t>(clock_.placed(transfer, repeat).to)];
  return at.started && std::pair(at.phase, at.repeat) >= std::pair(phase, repeat - ahead);
}

void MessageClock::Run::start_what_waited(int rank) {
  auto& waiting = waiting_[static_cast<std::size_t>(rank)];
  const auto [ready, end] =
      std::ranges::stable_partition(waiting, [&](const Waiting& w) { return !is_posted(w.transfer); });
  const std::vector<Waiting> now(ready, end);
  waiting.erase(ready, end);
  for (const Waiting& message : now) {
    is_announced(message.transfer) ? answer(message) : start_now(message.transfer, message.bytes);
  }
}

/// As Open MPI does down a tree (coll_base_bcast.c, ompi_coll_base_bcast_intra_generic), where MPICH sends to one child
/// after the other.
bool MessageClock::Run::posts_all_sends(const Phase& phase) const {
  const Operation operation = schedule_.operation;
  const bool from_root = operation == Operation::broadcast || operation == Operation::scatter;
  return from_root && clock_.routed_.handshakes() && phase.repeats == 1 && phase.window == 0;
}

bool MessageClock::Run::has_short_messages(const Phase& phase) const {
  const auto runs = static_cast<double>(std::max<std::size_t>(phase.bundle.size(), 1));
  return std::ranges::all_of(phase.transfers, [&](const Transfer& transfer) {
    return clock_.routed_.message_cost().is_eager(chunks_.largest_run(transfer.count) * runs);
  });
}

bool MessageClock::Run::has_announcements(std::size_t phase) const {
  const bool leaves_nodes = std::ranges::any_of(clock_.routed_.legs(phase), &RoutedSchedule::Leg::between_nodes);
  return leaves_nodes && !has_short_messages(schedule_.phases[phase]);
}

bool MessageClock::Run::is_announced(int transfer) const {
  if (sending_.empty()) return false;
  const auto& [phase, position] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  return clock_.routed_.leg(phase, position, completed_[static_cast<std::size_t>(transfer)]).between_nodes;
}

void MessageClock::Run::announce(int transfer, Bytes bytes) {
  const auto index = static_cast<std::size_t>(transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  in_flight_[index] = bytes;
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  call_at(network_.now() + clock_.routed_.leg(phase, position, completed_[index]).latency,
          2 * transfers + 2 * schedule_.ranks + transfer);
}

void MessageClock::Run::announced(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  if (is_posted(transfer)) return answer({transfer, in_flight_[index]});
  const Transfer placed = clock_.placed(transfer, completed_[index]);
  waiting_[static_cast<std::size_t>(placed.to)].push_back({transfer, in_flight_[index]});
}

void MessageClock::Run::answer(const Waiting& message) {
  const auto index = static_cast<std::size_t>(message.transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  const Transfer placed = clock_.placed(message.transfer, completed_[index]);
  const double now = network_.now().si();
  Seconds wait;
  for (const Sending& own : sending_[static_cast<std::size_t>(placed.to)]) {
    if (own.begin > now) continue;
    if (own.to == placed.from) {
      unanswered_[own.transfer].push_back(message);
      return;
    }
    const Seconds left = std::max(own.bytes / own.rate - Seconds(now - own.begin), Seconds(0));
    wait += std::min(left, clock_.routed_.handshakes()->ahead / own.rate);
  }
  const RoutedSchedule::Leg leg = clock_.routed_.leg(phase, position, completed_[index]);
  wait += leg.latency;
  sending_[static_cast<std::size_t>(placed.from)].push_back(
      {message.transfer, placed.to, message.bytes, leg.narrowest, now + wait.si()});
  start_now(message.transfer, message.bytes, wait);
}

void MessageClock::Run::has_left(int transfer) {
  const Transfer placed = clock_.placed(transfer, completed_[static_cast<std::size_t>(transfer)]);
  std::erase_if(sending_[static_cast<std::size_t>(placed.from)],
                [&](const Sending& sent) { return sent.transfer == transfer; });
  const auto waiting = unanswered_.extract(transfer);
  if (waiting.empty()) return;
  for (const Waiting& message : waiting.mapped()) answer(message);
}

Seconds MessageClock::Run::apart(std::size_t phase) {
  if (sending_.empty() || phase >= announces_.size() || !announces_[phase]) return Seconds(0);
  return clock_.routed_.handshakes()->skew * std::uniform_real_distribution<>(0, 1)(draws_);
}

}}  // namespace farandole::simulate
