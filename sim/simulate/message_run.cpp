#include "simulate/message_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/invariant.hpp"
#include "simulate/link_loads.hpp"

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
      progress_(as_index(schedule_.ranks)),
      waiting_(progress_.size()),
      occupied_(clock.routed_.has_occupancy()),
      ready_(occupied_ ? completed_.size() : 0),
      turn_(as_index(schedule_.ranks)) {
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
    enter_round(own - transfers);
  } else {
    if (!buckets_.empty()) leave_links(own);
    received_ += in_flight_[as_index(own)];
    if (!send_next(own)) done(own);
  }
  drain();
}

RankTimes MessageClock::Run::ends() const {
  check();
  return end_.max(start_);
}

void MessageClock::Run::enter_round(int rank) {
  Progress& at = progress_[as_index(rank)];
  at.started = true;
  if (!waiting_[as_index(rank)].empty()) start_what_waited(rank);
  if (at.phase == schedule_.phases.size()) {
    at.finished = true;
    ++finished_;
    end_[rank] = network_.now().si();
    return;
  }
  const Phase& phase = schedule_.phases[at.phase];
  const auto is_due = [&](int transfer) { return takes_part(phase, clock_.pattern(transfer), at.repeat); };
  const auto is_missing = [&](int transfer) { return is_due(transfer) && completed_[as_index(transfer)] <= at.repeat; };
  const auto& sends = clock_.phases_[at.phase][as_index(rank)].sends;
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
  const auto& [phase, position] = clock_.transfers_[as_index(transfer)];
  const Transfer placed = clock_.placed(transfer, completed_[as_index(transfer)]);
  const Bytes ahead = std::min(chunks_.of(schedule_, schedule_.phases[phase], placed), clock_.routed_.send_window());
  double& turn = turn_[as_index(placed.from)];
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
  if (occupied_) ready_[as_index(transfer)] = posting.ready;
  const auto index = as_index(transfer);
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
  const Transfer placed = clock_.placed(transfer, completed_[as_index(transfer)]);
  waiting_[as_index(placed.to)].push_back({transfer, bytes});
}

void MessageClock::Run::start_now(int transfer, Bytes bytes, Seconds handshake) {
  const auto index = as_index(transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  const int repeat = completed_[index];
  in_flight_[index] = bytes;
  sent_ += bytes;
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
  const auto index = as_index(transfer);
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
  const auto& [phase, index] = clock_.transfers_[as_index(transfer)];
  const BytesPerSecond rate = clock_.routed_.legs(phase)[index].reduce_rate;
  if (rate == BytesPerSecond::infinity()) return Seconds(0);
  return chunks_.of(schedule_, schedule_.phases[phase], clock_.placed(transfer, repeat)) / rate;
}

void MessageClock::Run::leave_when_reduced(int rank) {
  const Progress& at = progress_[as_index(rank)];
  const Seconds reduced = Seconds(at.reduced) + apart(at.phase);
  if (reduced <= network_.now()) {
    complete_.push_back(rank);
  } else {
    call_at(reduced, static_cast<int>(clock_.transfers_.size()) + schedule_.ranks + rank);
  }
}

void MessageClock::Run::count_for(End end, int rank, int transfer, int repeat) {
  Progress& at = progress_[as_index(rank)];
  const bool in_this_round = at.phase == clock_.transfers_[as_index(transfer)].phase && at.repeat == repeat;
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
}

void MessageClock::Run::leave_round(int rank) {
  Progress& at = progress_[as_index(rank)];
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

// Links whose rates are those of token buckets, in a run of a message clock.
//
// A bucket holds `burst` bytes at most, which come at the link's rate r. What is sent takes them from every link of its
// way: at once as far as they are there, the rest as they come. So a message of s bytes that finds k of them takes
// latency + (s - k) / r, and n messages one behind the other, with pauses that do not fill the bucket, as long as if
// there were no pauses. Not seen: tokens that come while a flow on the link is held up elsewhere.

double MessageClock::Run::tokens_at(int link, double moment) const {
  const auto index = as_index(link);
  const Bucket& bucket = buckets_[index];
  if (bucket.flows > 0) return bucket.tokens;
  const double come = (moment - bucket.moment) * clock_.routed_.capacities()[index].si();
  return std::min(clock_.routed_.burst().si(), bucket.tokens + come);
}

Bytes MessageClock::Run::take_burst(int transfer, Bytes bytes) {
  const auto& [phase, position] = clock_.transfers_[as_index(transfer)];
  const RoutedSchedule::Leg leg = clock_.routed_.leg(phase, position, completed_[as_index(transfer)]);
  double taken = leg.links.empty() ? 0 : bytes.si();
  const double now = network_.now().si();
  for_each_listed(leg.links, [&](int link, int /*times*/) { taken = std::min(taken, tokens_at(link, now)); });
  taken = std::floor(taken);  // messages are whole bytes
  std::vector<int>& limited = limited_[as_index(transfer)];
  limited.clear();
  for_each_listed(leg.links, [&](int link, int /*times*/) {
    Bucket& bucket = buckets_[as_index(link)];
    bucket = {tokens_at(link, now) - taken, now, bucket.flows};
    if (taken == bytes.si()) return;
    ++bucket.flows;
    limited.push_back(link);
  });
  return Bytes(taken);
}

void MessageClock::Run::leave_links(int transfer) {
  for (const int link : limited_[as_index(transfer)]) {
    Bucket& bucket = buckets_[as_index(link)];
    --bucket.flows;
    bucket.moment = network_.now().si();
  }
  limited_[as_index(transfer)].clear();
}

// Long messages, which wait for their receivers, in a run of a message clock; and handshakes that queue behind data
// (Handshakes of platform/platform.hpp).
//
// There, a sender announces its message, which takes the way's latency; the receiver answers as soon as that is there
// and it has posted the receive; the data leave when the answer is back, a latency later. The answer goes behind what
// the receiver has begun to send itself: all of it, if that is for the same peer, since it shares that one's
// connection; else at most `ahead` of each message, what its kernel has taken of another connection. So two ranks that
// exchange long messages send one after the other, unless they announce them within a latency of each other.

/// A receive is posted when its rank enters the round; in a pipeline a round ahead, as Open MPI posts the next
/// segment's before it waits for the last one.
bool MessageClock::Run::is_posted(int transfer) const {
  const auto index = as_index(transfer);
  const std::size_t phase = clock_.transfers_[index].phase;
  const int repeat = completed_[index];
  const int ahead = schedule_.phases[phase].window != 0 && repeat > 0 ? 1 : 0;
  const Progress& at = progress_[as_index(clock_.placed(transfer, repeat).to)];
  return at.started && std::pair(at.phase, at.repeat) >= std::pair(phase, repeat - ahead);
}

void MessageClock::Run::start_what_waited(int rank) {
  auto& waiting = waiting_[as_index(rank)];
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
  const auto& [phase, position] = clock_.transfers_[as_index(transfer)];
  return clock_.routed_.leg(phase, position, completed_[as_index(transfer)]).between_nodes;
}

void MessageClock::Run::announce(int transfer, Bytes bytes) {
  const auto index = as_index(transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  in_flight_[index] = bytes;
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  call_at(network_.now() + clock_.routed_.leg(phase, position, completed_[index]).latency,
          2 * transfers + 2 * schedule_.ranks + transfer);
}

void MessageClock::Run::announced(int transfer) {
  const auto index = as_index(transfer);
  if (is_posted(transfer)) return answer({transfer, in_flight_[index]});
  const Transfer placed = clock_.placed(transfer, completed_[index]);
  waiting_[as_index(placed.to)].push_back({transfer, in_flight_[index]});
}

void MessageClock::Run::answer(const Waiting& message) {
  const auto index = as_index(message.transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  const Transfer placed = clock_.placed(message.transfer, completed_[index]);
  const double now = network_.now().si();
  Seconds wait;
  for (const Sending& own : sending_[as_index(placed.to)]) {
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
  sending_[as_index(placed.from)].push_back(
      {message.transfer, placed.to, message.bytes, leg.narrowest, now + wait.si()});
  start_now(message.transfer, message.bytes, wait);
}

void MessageClock::Run::has_left(int transfer) {
  const Transfer placed = clock_.placed(transfer, completed_[as_index(transfer)]);
  std::erase_if(sending_[as_index(placed.from)], [&](const Sending& sent) { return sent.transfer == transfer; });
  const auto waiting = unanswered_.extract(transfer);
  if (waiting.empty()) return;
  for (const Waiting& message : waiting.mapped()) answer(message);
}

Seconds MessageClock::Run::apart(std::size_t phase) {
  if (sending_.empty() || phase >= announces_.size() || !announces_[phase]) return Seconds(0);
  return clock_.routed_.handshakes()->skew * std::uniform_real_distribution<>(0, 1)(draws_);
}

// How a run of a message clock keeps the processors of its ranks busy (simulate/recurrence.hpp has the rule).

std::vector<MessageClock::Run::Posting> MessageClock::Run::posted(const std::vector<int>& sends, Progress& at) const {
  const Phase& phase = schedule_.phases[at.phase];
  std::vector<Posting> postings;
  for (const int transfer : sends) {
    if (!takes_part(phase, clock_.pattern(transfer), at.repeat)) continue;
    postings.push_back({transfer, at.reduced});
    if (occupied_) at.reduced += kept(transfer, at.repeat).send;
  }
  return postings;
}

MessageClock::Run::Kept MessageClock::Run::kept(int transfer, int repeat) const {
  const auto& [number, position] = clock_.transfers_[as_index(transfer)];
  const Phase& phase = schedule_.phases[number];
  const auto& first = clock_.routed_.legs(number)[position];
  const bool moves = repeat > 0 && receivers_move(phase);
  const Occupancy each = moves ? clock_.routed_.leg(number, position, repeat).occupancy : first.occupancy;
  const Transfer placed = clock_.placed(transfer, repeat);
  const Bytes bytes = chunks_.of(schedule_, phase, placed);
  double messages = bytes > Bytes(0) ? 1 : 0;
  if (phase.one_by_one) messages = static_cast<double>(chunks_.messages(schedule_, phase, placed).size());
  const Seconds copying = messages > 0 ? clock_.routed_.message_cost().copying(bytes / messages) : Seconds(0);
  const double receive = messages * (each.receive + copying).si();
  return {messages * (each.send + copying).si(), receive, (first.alike - 1) * receive};
}

void MessageClock::Run::receive(Progress& at, int transfer, int repeat) {
  const double now = network_.now().si();
  if (occupied_) {
    const Kept own = kept(transfer, repeat);
    at.reduced = std::max(at.reduced + own.receive, now) + own.behind;
  }
  at.reduced = std::max(at.reduced, now) + time_to_reduce(transfer, repeat).si();
}

}}  // namespace farandole::simulate
