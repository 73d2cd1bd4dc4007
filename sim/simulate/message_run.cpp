#include "simulate/message_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/invariant.hpp"

namespace farandole {

MessageClock::Run::Run(MessageClock& clock, Bytes size, const RankTimes& start, int first_tag)
    : clock_(clock),
      schedule_(clock.routed_.schedule()),
      chunks_(size, schedule_),
      network_(*clock.network_),
      start_(start),
      first_tag_(first_tag),
      end_(start),
      completed_(clock.transfers_.size()),
      in_flight_(clock.transfers_.size()),
      progress_(static_cast<std::size_t>(schedule_.ranks)),
      turn_(static_cast<std::size_t>(schedule_.ranks)) {
  for (std::size_t number = 0; number < completed_.size(); ++number) {
    completed_[number] = clock.pattern(static_cast<int>(number)).start;
  }
}

void MessageClock::Run::begin() {
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    call_at(std::max(network_.now(), Seconds(start_[rank])), transfers + rank);
  }
}

void MessageClock::Run::handle(int tag) {
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  const int own = tag - first_tag_;
  if (own >= transfers + 2 * schedule_.ranks) {
    send(own - transfers - 2 * schedule_.ranks);  // its turn has come
  } else if (own >= transfers + schedule_.ranks) {
    ready_.push_back(own - transfers - schedule_.ranks);  // all is reduced
  } else if (own >= transfers) {
    ++started_;
    enter_round(own - transfers);
  } else {
    --flows_;
    received_ += in_flight_[static_cast<std::size_t>(own)];
    if (!send_next(own)) done(own);
  }
  drain();
}

RankTimes MessageClock::Run::ends() const {
  check();
  return end_.max(start_);
}

void MessageClock::Run::enter_round(int rank) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  if (at.phase == schedule_.phases.size()) {
    at.finished = true;
    ++finished_;
    end_[rank] = network_.now().si() + skipped_;
    return;
  }
  const Phase& phase = schedule_.phases[at.phase];
  const auto is_due = [&](int transfer) { return takes_part(phase, clock_.pattern(transfer), at.repeat); };
  const auto is_missing = [&](int transfer) {
    return is_due(transfer) && completed_[static_cast<std::size_t>(transfer)] <= at.repeat;
  };
  const auto& sends = clock_.phases_[at.phase].ranks[static_cast<std::size_t>(rank)].sends;
  const auto& receives = clock_.receives(at.phase, at.repeat, rank);
  const bool eager = is_eager(at.phase);
  at.missing = static_cast<int>(std::ranges::count_if(receives, is_missing));
  if (!eager) at.missing += static_cast<int>(std::ranges::count_if(sends, is_missing));
  at.reduced = network_.now().si();
  for (const int transfer : receives) {
    if (is_due(transfer) && !is_missing(transfer)) at.reduced += time_to_reduce(transfer, at.repeat).si();
  }
  if (at.missing == 0) leave_when_reduced(rank);
  for (const int transfer : sends) {
    if (is_due(transfer)) eager ? post(transfer) : send(transfer);
  }
  if (clock_.repeats_ == Repeats::until_steady && !(sends.empty() && receives.empty())) note_entry(at);
}

void MessageClock::Run::note_entry(const Progress& at) {
  const Lockstep before = lockstep_;
  const double now = network_.now().si();
  if (at.phase != before.phase || at.repeat != before.repeat || now != before.moment) {
    lockstep_ = {at.phase, at.repeat, now};
    lockstep_.follows = before.complete && at.phase == before.phase && at.repeat == before.repeat + 1;
    lockstep_.period = now - before.moment;
  }
  ++lockstep_.entered;
}

void MessageClock::Run::look_for_lockstep() {
  if (lockstep_.complete || lockstep_.entered == 0) return;
  if (lockstep_.entered != clock_.phases_[lockstep_.phase].participants) return;
  const Phase& phase = schedule_.phases[lockstep_.phase];
  if (is_eager(lockstep_.phase)) return;  // what was sent before may be under way still
  if (phase.one_by_one || phase.window != 0 || receivers_move(phase)) return;  // repeats are not alike
  if (started_ != schedule_.ranks || flows_ != static_cast<int>(phase.transfers.size())) return;
  lockstep_.complete = true;
  if (lockstep_.follows && lockstep_.repeat + 1 < phase.repeats) multiply();
}

/// What has just been sent becomes the last repeat; those between take as long as the one before.
void MessageClock::Run::multiply() {
  const Phase& phase = schedule_.phases[lockstep_.phase];
  const int left_out = phase.repeats - 1 - lockstep_.repeat;
  skipped_ += left_out * lockstep_.period;
  for (Progress& at : progress_) {
    if (at.phase == lockstep_.phase) at.repeat = phase.repeats - 1;
  }
  const auto first = static_cast<std::size_t>(clock_.phases_[lockstep_.phase].first);
  for (std::size_t transfer = first; transfer < first + phase.transfers.size(); ++transfer) {
    completed_[transfer] = phase.repeats - 1;
    sent_ += in_flight_[transfer] * left_out;
    received_ += in_flight_[transfer] * left_out;
  }
}

/// Where receivers move on, messages of one transfer would overtake one another; there, ranks wait.
bool MessageClock::Run::is_eager(std::size_t phase) const {
  const Phase& pattern = schedule_.phases[phase];
  return clock_.routed_.eager_sends() && !receivers_move(pattern) && !pattern.one_by_one;
}

void MessageClock::Run::post(int transfer) {
  const Transfer& pattern = clock_.pattern(transfer);
  auto& stream = streams_[{pattern.from, pattern.to}];
  stream.push_back(transfer);
  if (stream.size() == 1) send_in_turn(transfer);
}

void MessageClock::Run::send_in_turn(int transfer) {
  const auto& [phase, position] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  const Transfer placed = clock_.placed(transfer, completed_[static_cast<std::size_t>(transfer)]);
  const Bytes ahead = std::min(chunks_.of(schedule_, schedule_.phases[phase], placed), clock_.routed_.send_window());
  double& turn = turn_[static_cast<std::size_t>(placed.from)];
  const double begin = std::max(network_.now().si(), turn);
  turn = begin + (ahead / clock_.routed_.legs(phase)[position].narrowest).si();
  if (begin <= network_.now().si()) return send(transfer);
  call_at(Seconds(begin), static_cast<int>(clock_.transfers_.size()) + 2 * schedule_.ranks + transfer);
}

void MessageClock::Run::send(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  const int repeat = completed_[index];
  const Phase& phase = schedule_.phases[clock_.transfers_[index].phase];
  const Transfer placed = clock_.placed(transfer, repeat);
  if (phase.one_by_one) {
    queued_[transfer] = chunks_.messages(schedule_, phase, placed);
    std::ranges::reverse(queued_[transfer]);
    if (!send_next(transfer)) done(transfer);
    return;
  }
  const Bytes bytes = chunks_.of(schedule_, phase, placed);
  bytes == Bytes(0) ? done(transfer) : start(transfer, bytes);
}

void MessageClock::Run::start(int transfer, Bytes bytes) {
  const auto index = static_cast<std::size_t>(transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  const int repeat = completed_[index];
  in_flight_[index] = bytes;
  sent_ += bytes;
  ++flows_;
  const Seconds cost = clock_.routed_.message_cost().of(bytes);
  if (repeat == 0 || !receivers_move(schedule_.phases[phase])) {
    network_.start(clock_.routes_[index], clock_.routed_.legs(phase)[position].latency + cost, bytes,
                   first_tag_ + transfer);
    return;
  }
  const RoutedSchedule::Leg leg = clock_.routed_.leg(phase, position, repeat);
  network_.start(clock_.route_over(leg), leg.latency + cost, bytes, first_tag_ + transfer);
}

bool MessageClock::Run::send_next(int transfer) {
  const auto queued = queued_.find(transfer);
  if (queued == queued_.end() || queued->second.empty()) return false;
  const Bytes next = queued->second.back();
  queued->second.pop_back();
  start(transfer, next);
  return true;
}

void MessageClock::Run::done(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  const int repeat = completed_[index]++;
  const Transfer ends = clock_.placed(transfer, repeat);
  const bool eager = is_eager(clock_.transfers_[index].phase);
  if (!eager) count_for(ends.from, transfer, repeat, Seconds(0));
  count_for(ends.to, transfer, repeat, time_to_reduce(transfer, repeat));
  if (!eager) return;
  const Transfer& pattern = clock_.pattern(transfer);
  auto& stream = streams_[{pattern.from, pattern.to}];
  stream.pop_front();
  if (!stream.empty()) send(stream.front());
}

Seconds MessageClock::Run::time_to_reduce(int transfer, int repeat) const {
  const auto& [phase, index] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  const BytesPerSecond rate = clock_.routed_.legs(phase)[index].reduce_rate;
  if (rate == BytesPerSecond::infinity()) return Seconds(0);
  return chunks_.of(schedule_, schedule_.phases[phase], clock_.placed(transfer, repeat)) / rate;
}

void MessageClock::Run::leave_when_reduced(int rank) {
  const Seconds reduced(progress_[static_cast<std::size_t>(rank)].reduced);
  if (reduced <= network_.now()) {
    ready_.push_back(rank);
  } else {
    call_at(reduced, static_cast<int>(clock_.transfers_.size()) + schedule_.ranks + rank);
  }
}

void MessageClock::Run::count_for(int rank, int transfer, int repeat, Seconds reducing) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  const bool in_this_round =
      at.phase == clock_.transfers_[static_cast<std::size_t>(transfer)].phase && at.repeat == repeat;
  // A rank that has not started yet has nothing missing; it looks at what is completed when it enters.
  if (!in_this_round || at.missing == 0) return;
  at.reduced = std::max(at.reduced, network_.now().si()) + reducing.si();
  if (--at.missing == 0) leave_when_reduced(rank);
}

void MessageClock::Run::drain() {
  while (!ready_.empty()) {
    const int rank = ready_.back();
    ready_.pop_back();
    leave_round(rank);
  }
  if (clock_.repeats_ == Repeats::until_steady) look_for_lockstep();
}

void MessageClock::Run::leave_round(int rank) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  if (++at.repeat == schedule_.phases[at.phase].repeats) {
    at.repeat = 0;
    ++at.phase;
  }
  enter_round(rank);
}

Bytes MessageClock::Run::bytes_due() const {
  Bytes due;
  if (chunks_.equal()) {  // every repeat is as long as the first
    for (std::size_t number = 0; number < clock_.transfers_.size(); ++number) {
      const Phase& phase = schedule_.phases[clock_.transfers_[number].phase];
      const auto transfer = static_cast<int>(number);
      const Bytes bytes = chunks_.of(schedule_, phase, clock_.placed(transfer, clock_.pattern(transfer).start));
      due += bytes * active_repeats(phase);
    }
    return due;
  }
  for (const Phase& phase : schedule_.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      for_each_transfer(schedule_, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
        due += chunks_.of(schedule_, phase, transfer);
      });
    }
  }
  return due;
}

void MessageClock::Run::check() const {
  for (std::size_t rank = 0; rank < progress_.size(); ++rank) {
    if (!progress_[rank].finished)
      throw InvariantError(fmt::format("rank {} never finished {}", rank, schedule_.algorithm));
  }
  const Bytes due = bytes_due();
  if (sent_ != due || received_ != due) {
    throw InvariantError(fmt::format("{} of {} bytes sent, {} received", sent_.si(), due.si(), received_.si()));
  }
}

}  // namespace farandole
