#include "simulate/message_clock.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/fluid_network.hpp"
#include "simulate/invariant.hpp"

namespace farandole {

MessageClock::MessageClock(RoutedSchedule routed, Repeats repeats) : routed_(std::move(routed)), repeats_(repeats) {
  const Schedule& schedule = routed_.schedule();
  for (std::size_t phase = 0; phase < schedule.phases.size(); ++phase) {
    OfPhase& own = phases_.emplace_back();
    auto& ranks = own.ranks;
    ranks.resize(static_cast<std::size_t>(schedule.ranks));
    own.first = static_cast<int>(transfers_.size());
    const auto& pattern = schedule.phases[phase].transfers;
    for (std::size_t position = 0; position < pattern.size(); ++position) {
      const auto number = static_cast<int>(transfers_.size());
      transfers_.push_back({phase, position});
      ranks[static_cast<std::size_t>(pattern[position].from)].sends.push_back(number);
      ranks[static_cast<std::size_t>(pattern[position].from)].all.push_back(number);
      ranks[static_cast<std::size_t>(pattern[position].to)].all.push_back(number);
    }
    own.participants = static_cast<int>(std::ranges::count_if(ranks, [](const OfRank& r) { return !r.all.empty(); }));
  }
}

MessageClock::~MessageClock() = default;

void MessageClock::build_network() {
  std::vector<FluidLink> links;
  for (const BytesPerSecond capacity : routed_.capacities()) links.push_back({capacity});
  network_ = std::make_unique<FluidNetwork>(links);
  for (const auto& [phase, position] : transfers_) {
    routes_.push_back(network_->add_route(routed_.legs(phase)[position].links));
  }
}

/// One collective under way.
class MessageClock::Run {
 public:
  Run(const MessageClock& clock, Bytes size, const RankTimes& start);
  RankTimes simulate();

 private:
  struct Progress {
    std::size_t phase = 0;
    int repeat = 0;
    int missing = 0;  // own transfers of this round that are not done
    bool finished = false;
  };
  /// Ranks that entered the repeat at the very same moment.
  struct Lockstep {
    std::size_t phase = 0;
    int repeat = -1;
    double moment = 0;
    int entered = 0;
    bool complete = false;  // all that take part in the phase, and nothing is under way but what they sent then
    bool follows = false;   // on a lockstep that was complete
    double period = 0;      // seconds since then
  };

  [[nodiscard]] const Phase& phase_of(int transfer) const {
    return schedule_.phases[clock_.transfers_[static_cast<std::size_t>(transfer)].phase];
  }
  void enter_round(int rank);
  void leave_round(int rank);
  void send(int transfer);
  void done(int transfer);
  void count_for(int rank, int transfer, int repeat);
  void drain();
  void note_entry(const Progress& at);
  void look_for_lockstep();
  void multiply();
  void check() const;

  const MessageClock& clock_;
  const Schedule& schedule_;
  ChunkSizes chunks_;
  FluidNetwork& network_;
  RankTimes start_;
  RankTimes end_;
  std::vector<int> completed_;  // per transfer: repeats done
  std::vector<Bytes> in_flight_;
  std::vector<Progress> progress_;
  std::vector<int> ready_;  // ranks whose round is complete, to be taken on without recursion
  Bytes sent_;
  Bytes received_;
  Lockstep lockstep_;
  int started_ = 0;     // ranks
  int flows_ = 0;       // under way
  double skipped_ = 0;  // seconds that were multiplied, not simulated
};

MessageClock::Run::Run(const MessageClock& clock, Bytes size, const RankTimes& start)
    : clock_(clock),
      schedule_(clock.routed_.schedule()),
      chunks_(size, schedule_.chunks),
      network_(*clock.network_),
      start_(start),
      end_(start),
      completed_(clock.transfers_.size(), 0),
      in_flight_(clock.transfers_.size()),
      progress_(static_cast<std::size_t>(schedule_.ranks)) {}

RankTimes MessageClock::Run::simulate() {
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  // The network's clock knows nothing of the run's: the first rank starts now.
  const double origin = start_.minCoeff() - network_.now().si();
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    network_.call_at(std::max(network_.now(), Seconds(start_[rank] - origin)), transfers + rank);
  }
  network_.run([&](int tag) {
    if (tag >= transfers) {
      ++started_;
      enter_round(tag - transfers);
    } else {
      --flows_;
      received_ += in_flight_[static_cast<std::size_t>(tag)];
      done(tag);
    }
    drain();
  });
  check();
  return end_ + origin;
}

void MessageClock::Run::enter_round(int rank) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  if (at.phase == schedule_.phases.size()) {
    at.finished = true;
    end_[rank] = network_.now().si() + skipped_;
    return;
  }
  const OfRank& own = clock_.phases_[at.phase].ranks[static_cast<std::size_t>(rank)];
  at.missing = 0;
  for (const int transfer : own.all) at.missing += completed_[static_cast<std::size_t>(transfer)] <= at.repeat ? 1 : 0;
  if (at.missing == 0) ready_.push_back(rank);
  for (const int transfer : own.sends) send(transfer);
  if (clock_.repeats_ == Repeats::until_steady && !own.all.empty()) note_entry(at);
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

void MessageClock::Run::send(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  const auto& [phase, position] = clock_.transfers_[index];
  const Phase& pattern = schedule_.phases[phase];
  const int chunk = chunk_in_repeat(schedule_, pattern, pattern.transfers[position], completed_[index]);
  in_flight_[index] = chunks_[chunk];
  if (in_flight_[index] == Bytes(0)) {
    done(transfer);
    return;
  }
  sent_ += in_flight_[index];
  ++flows_;
  network_.start(clock_.routes_[index], clock_.routed_.legs(phase)[position].latency, in_flight_[index], transfer);
}

void MessageClock::Run::done(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  const int repeat = completed_[index]++;
  const Transfer& ends = phase_of(transfer).transfers[clock_.transfers_[index].position];
  count_for(ends.from, transfer, repeat);
  count_for(ends.to, transfer, repeat);
}

void MessageClock::Run::count_for(int rank, int transfer, int repeat) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  const bool in_this_round =
      at.phase == clock_.transfers_[static_cast<std::size_t>(transfer)].phase && at.repeat == repeat;
  // A rank that has not started yet has nothing missing; it looks at what is completed when it enters.
  if (in_this_round && at.missing > 0 && --at.missing == 0) ready_.push_back(rank);
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

void MessageClock::Run::check() const {
  for (std::size_t rank = 0; rank < progress_.size(); ++rank) {
    if (!progress_[rank].finished)
      throw InvariantError(fmt::format("rank {} never finished {}", rank, schedule_.algorithm));
  }
  Bytes due;
  for (const Phase& phase : schedule_.phases) {
    if (chunks_.equal()) {
      due += chunks_.largest() * static_cast<double>(phase.transfers.size()) * phase.repeats;
      continue;
    }
    for (const Transfer& transfer : phase.transfers) {
      for (int repeat = 0; repeat < phase.repeats; ++repeat) {
        due += chunks_[chunk_in_repeat(schedule_, phase, transfer, repeat)];
      }
    }
  }
  if (sent_ != due || received_ != due) {
    throw InvariantError(fmt::format("{} of {} bytes sent, {} received", sent_.si(), due.si(), received_.si()));
  }
}

RankTimes MessageClock::finish(Bytes size, const RankTimes& start) {
  if (network_ == nullptr) build_network();
  return Run(*this, size, start).simulate();
}

}  // namespace farandole
