#include "simulate/message_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/invariant.hpp"

namespace farandole { inline namespace simulate {

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
      waiting_(progress_.size()),
      occupied_(clock.routed_.has_occupancy()),
      ready_(occupied_ ? completed_.size() : 0),
      turn_(static_cast<std::size_t>(schedule_.ranks)) {
  for (std::size_t number = 0; number < completed_.size(); ++number) {
    completed_[number] = clock.pattern(static_cast<int>(number)).start;
  }
  if (clock.routed_.burst() > Bytes(0)) {
    buckets_.assign(clock.routed_.capacities().size(), {clock.routed_.burst().si()});
    limited_.resize(completed_.size());
  }
  for (const Phase& phase : schedule_.phases) eager_.push_back(has_eager_sends(phase));
  if (clock.routed_.handshakes()) {
    sending_.resize(progress_.size());
    for (std::size_t phase = 0; phase < schedule_.phases.size(); ++phase)
      announces_.push_back(has_announcements(phase));
  }
}

void MessageClock::Run::begin() {
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    call_at(std::max(network_.now(), Seconds(start_[rank]) + apart(0)), transfers + rank);
  }
}

void MessageClock::Run::handle(int tag) {
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  const int own = tag - first_tag_;
  if (own >= 2 * transfers + 2 * schedule_.ranks) {
    announced(own - 2 * transfers - 2 * schedule_.ranks);
  } else if (own >= transfers + 2 * schedule_.ranks) {
    send({own - transfers - 2 * schedule_.ranks, network_.now().si()});  // its turn has come
  } else if (own >= transfers + schedule_.ranks) {
    complete_.push_back(own - transfers - schedule_.ranks);  // all is reduced
  } else if (own >= transfers) {
    ++started_;
    enter_round(own - transfers);
  } else {
    --flows_;
    if (!buckets_.empty()) leave_links(own);
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
  at.started = true;
  if (!waiting_[static_cast<std::size_t>(rank)].empty()) start_what_waited(rank);
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
  const std::vector<Posting> postings = posted(sends, at);
  for (const int transfer : receives) {
    if (is_due(transfer) && !is_missing(transfer)) receive(at, transfer, at.repeat);
  }
  if (at.missing == 0) leave_when_reduced(rank);
  for (const Posting& posting : postings) {
    if (eager) {
      post(posting);
    } else {
      send(posting);
    }
  }
  if (clock_.repeats_ == Repeats::until_steady && !(sends.empty() && receives.empty())) note_entry(at);
}

/// Where receivers move on, messages of one transfer would overtake one another; there, ranks wait. So they do where
/// messages are too long to be eager.
bool MessageClock::Run::has_eager_sends(const Phase& phase) const {
  const bool moves_on = receivers_move(phase) && phase.repeats > 1;
  if (!clock_.routed_.eager_sends() || moves_on || phase.one_by_one) return false;
  return posts_all_sends(phase) || has_short_messages(phase);
}

void MessageClock::Run::post(Posting posting) {
  auto& stream = stream_of(posting.transfer);
  stream.push_back(posting);
  if (stream.size() == 1) send_in_turn(posting);
}

void MessageClock::Run::send_in_turn(Posting posting) {
  const auto& [transfer, ready] = posting;
  const auto& [phase, position] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  const Transfer placed = clock_.placed(transfer, completed_[static_cast<std::size_t>(transfer)]);
  const Bytes ahead = std::min(chunks_.of(schedule_, schedule_.phases[phase], placed), clock_.routed_.send_window());
  double& turn = turn_[static_cast<std::size_t>(placed.from)];
  const double begin = std::max({network_.now().si(), turn, ready});
  const RoutedSchedule::Leg& leg = clock_.routed_.legs(phase)[position];
  const bool bursts = !buckets_.empty() && !leg.links.empty();
  const Bytes at_once(bursts ? std::min(ahead.si(), tokens_at(leg.links.front(), begin)) : 0);
  turn = begin + ((ahead - at_once) / leg.narrowest).si();
  if (begin <= network_.now().si()) return send(posting);
  call_at(Seconds(begin), static_cast<int>(clock_.transfers_.size()) + 2 * schedule_.ranks + transfer);
}

void MessageClock::Run::send(Posting posting) {
  const int transfer = posting.transfer;
  if (occupied_) ready_[static_cast<std::size_t>(transfer)] = posting.ready;
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
  const bool eager = clock_.routed_.message_cost().is_eager(bytes);
  if (!eager && is_announced(transfer)) return announce(transfer, bytes);
  if (eager || is_posted(transfer)) return start_now(transfer, bytes);
  const Transfer placed = clock_.placed(transfer, completed_[static_cast<std::size_t>(transfer)]);
  waiting_[static_cast<std::size_t>(placed.to)].push_back({transfer, bytes});
}

void MessageClock::Run::start_now(int transfer, Bytes bytes, Seconds handshake) {
  const auto index = static_cast<std::size_t>(transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  const int repeat = completed_[index];
  in_flight_[index] = bytes;
  sent_ += bytes;
  ++flows_;
  Seconds cost = clock_.routed_.message_cost().of(bytes) + handshake;
  if (occupied_) cost += std::max(Seconds(0), Seconds(ready_[index]) - network_.now());
  if (!buckets_.empty()) bytes -= take_burst(transfer, bytes);
  if (bytes == Bytes(0)) return call_at(network_.now() + clock_.routed_.legs(phase)[position].latency + cost, transfer);
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
  const int repeat = completed_[index];
  if (!sending_.empty()) has_left(transfer);
  ++completed_[index];
  const Transfer ends = clock_.placed(transfer, repeat);
  const bool eager = is_eager(clock_.transfers_[index].phase);
  if (!eager) count_for(End::sender, ends.from, transfer, repeat);
  count_for(End::receiver, ends.to, transfer, repeat);
  if (!eager) return;
  auto& stream = stream_of(transfer);
  stream.pop_front();
  if (stream.empty()) return;
  send(stream.front());
}

Seconds MessageClock::Run::time_to_reduce(int transfer, int repeat) const {
  const auto& [phase, index] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  const BytesPerSecond rate = clock_.routed_.legs(phase)[index].reduce_rate;
  if (rate == BytesPerSecond::infinity()) return Seconds(0);
  return chunks_.of(schedule_, schedule_.phases[phase], clock_.placed(transfer, repeat)) / rate;
}

void MessageClock::Run::leave_when_reduced(int rank) {
  const Progress& at = progress_[static_cast<std::size_t>(rank)];
  const Seconds reduced = Seconds(at.reduced) + apart(at.phase);
  if (reduced <= network_.now()) {
    complete_.push_back(rank);
  } else {
    call_at(reduced, static_cast<int>(clock_.transfers_.size()) + schedule_.ranks + rank);
  }
}

void MessageClock::Run::count_for(End end, int rank, int transfer, int repeat) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  const bool in_this_round =
      at.phase == clock_.transfers_[static_cast<std::size_t>(transfer)].phase && at.repeat == repeat;
  // A rank that has not started yet has nothing missing; it looks at what is completed when it enters.
  if (!in_this_round || at.missing == 0) return;
  if (end == End::receiver) receive(at, transfer, repeat);
  if (--at.missing == 0) leave_when_reduced(rank);
}

void MessageClock::Run::drain() {
  while (!complete_.empty()) {
    const int rank = complete_.back();
    complete_.pop_back();
    leave_round(rank);
  }
  if (clock_.repeats_ == Repeats::until_steady && buckets_.empty()) look_for_lockstep();
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

}}  // namespace farandole::simulate
