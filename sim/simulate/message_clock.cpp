#include "simulate/message_clock.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "collective/chunk_sizes.hpp"
#include "simulate/fluid_network.hpp"
#include "simulate/invariant.hpp"

namespace farandole {

MessageClock::MessageClock(RoutedSchedule routed) : routed_(std::move(routed)) {
  const Schedule& schedule = routed_.schedule();
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    auto& ranks = of_rank_.emplace_back(static_cast<std::size_t>(schedule.ranks));
    for (std::size_t index = 0; index < transfers_per_round(phase); ++index) {
      const auto number = static_cast<int>(transfers_.size());
      transfers_.push_back({p, index});
      const Transfer first = placed(number, pattern(number).start);
      ranks[static_cast<std::size_t>(first.from)].sends.push_back(number);
      ranks[static_cast<std::size_t>(first.to)].receives.push_back(number);
    }
  }
}

const Transfer& MessageClock::pattern(int number) const {
  const auto& [p, index] = transfers_[static_cast<std::size_t>(number)];
  const Phase& phase = routed_.schedule().phases[p];
  return phase.transfers[index / static_cast<std::size_t>(phase.fan)];
}

Transfer MessageClock::placed(int number, int repeat) const {
  const auto& [p, index] = transfers_[static_cast<std::size_t>(number)];
  const Phase& phase = routed_.schedule().phases[p];
  const auto lane = static_cast<int>(index % static_cast<std::size_t>(phase.fan));
  return in_repeat(routed_.schedule(), phase, pattern(number), repeat, lane);
}

/// All receivers move on together, so what a rank receives is what the rank so far behind it received at first.
const std::vector<int>& MessageClock::receives(std::size_t phase, int repeat, int rank) const {
  const Phase& pattern = routed_.schedule().phases[phase];
  const std::int64_t ranks = routed_.schedule().ranks;
  const std::int64_t shift = static_cast<std::int64_t>(repeat) * pattern.fan * pattern.peer_step % ranks;
  return of_rank_[phase][static_cast<std::size_t>((rank - shift + ranks) % ranks)].receives;
}

MessageClock::~MessageClock() = default;

void MessageClock::build_network() {
  std::vector<FluidLink> links;
  for (const BytesPerSecond capacity : routed_.capacities()) links.push_back({capacity});
  network_ = std::make_unique<FluidNetwork>(links);
  for (const auto& [phase, index] : transfers_)
    routes_.push_back(network_->add_route(routed_.legs(phase)[index].links));
}

int MessageClock::route_of(int number, int repeat) {
  const auto& [phase, index] = transfers_[static_cast<std::size_t>(number)];
  if (repeat == 0 || !receivers_move(routed_.schedule().phases[phase]))
    return routes_[static_cast<std::size_t>(number)];
  const Transfer transfer = placed(number, repeat);
  const auto [place, is_new] = moved_routes_.emplace(std::pair(transfer.from, transfer.to), 0);
  if (is_new) place->second = network_->add_route(routed_.leg(phase, index, repeat).links);
  return place->second;
}

/// One collective under way.
class MessageClock::Run {
 public:
  Run(MessageClock& clock, Bytes size, const RankTimes& start);
  RankTimes simulate();

 private:
  struct Progress {
    std::size_t phase = 0;
    int repeat = 0;
    int missing = 0;  // own transfers of this round that are not done
    bool finished = false;
  };

  void enter_round(int rank);
  void leave_round(int rank);
  void send(int transfer);
  void done(int transfer);
  void count_for(int rank, int transfer, int repeat);
  void drain();
  void check() const;
  [[nodiscard]] Bytes bytes_due() const;

  MessageClock& clock_;
  const Schedule& schedule_;
  ChunkSizes chunks_;
  FluidNetwork& network_;
  RankTimes start_;
  RankTimes end_;
  std::vector<int> completed_;  // per transfer: the first repeat that is not done
  std::vector<Bytes> in_flight_;
  std::vector<Progress> progress_;
  std::vector<int> ready_;  // ranks whose round is complete, to be taken on without recursion
  Bytes sent_;
  Bytes received_;
};

MessageClock::Run::Run(MessageClock& clock, Bytes size, const RankTimes& start)
    : clock_(clock),
      schedule_(clock.routed_.schedule()),
      chunks_(size, schedule_),
      network_(*clock.network_),
      start_(start),
      end_(start),
      completed_(clock.transfers_.size()),
      in_flight_(clock.transfers_.size()),
      progress_(static_cast<std::size_t>(schedule_.ranks)) {
  for (std::size_t number = 0; number < completed_.size(); ++number) {
    completed_[number] = clock.pattern(static_cast<int>(number)).start;
  }
}

RankTimes MessageClock::Run::simulate() {
  const auto transfers = static_cast<int>(clock_.transfers_.size());
  // The network's clock knows nothing of the run's: the first rank starts now.
  const double origin = start_.minCoeff() - network_.now().si();
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    network_.call_at(std::max(network_.now(), Seconds(start_[rank] - origin)), transfers + rank);
  }
  network_.run([&](int tag) {
    if (tag >= transfers) {
      enter_round(tag - transfers);
    } else {
      received_ += in_flight_[static_cast<std::size_t>(tag)];
      done(tag);
    }
    drain();
  });
  check();
  // A rank that finds all done when it joins must not end before, by a rounding of the way there and back.
  return (end_ + origin).max(start_);
}

void MessageClock::Run::enter_round(int rank) {
  Progress& at = progress_[static_cast<std::size_t>(rank)];
  if (at.phase == schedule_.phases.size()) {
    at.finished = true;
    end_[rank] = network_.now().si();
    return;
  }
  const Phase& phase = schedule_.phases[at.phase];
  const auto is_due = [&](int transfer) { return takes_part(phase, clock_.pattern(transfer), at.repeat); };
  const auto is_missing = [&](int transfer) {
    return is_due(transfer) && completed_[static_cast<std::size_t>(transfer)] <= at.repeat;
  };
  const auto& sends = clock_.of_rank_[at.phase][static_cast<std::size_t>(rank)].sends;
  const auto& receives = clock_.receives(at.phase, at.repeat, rank);
  at.missing = static_cast<int>(std::ranges::count_if(sends, is_missing) + std::ranges::count_if(receives, is_missing));
  if (at.missing == 0) ready_.push_back(rank);
  for (const int transfer : sends) {
    if (is_due(transfer)) send(transfer);
  }
}

void MessageClock::Run::send(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  const int repeat = completed_[index];
  const std::size_t phase = clock_.transfers_[index].phase;
  in_flight_[index] = chunks_.of(schedule_, schedule_.phases[phase], clock_.placed(transfer, repeat));
  if (in_flight_[index] == Bytes(0)) {
    done(transfer);
    return;
  }
  sent_ += in_flight_[index];
  const Seconds latency = clock_.routed_.leg(phase, clock_.transfers_[index].index, repeat).latency;
  network_.start(clock_.route_of(transfer, repeat), latency, in_flight_[index], transfer);
}

void MessageClock::Run::done(int transfer) {
  const auto index = static_cast<std::size_t>(transfer);
  const int repeat = completed_[index]++;
  const Transfer ends = clock_.placed(transfer, repeat);
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

RankTimes MessageClock::finish(Bytes size, const RankTimes& start) {
  if (network_ == nullptr) build_network();
  return Run(*this, size, start).simulate();
}

}  // namespace farandole
