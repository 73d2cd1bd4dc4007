#include "simulate/message_recurrence.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "simulate/recurrence.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Of runs of chunks that differ by a byte, all with as many: none of the longer ones in it, only such, some. More
/// lengths there are only where longer ones begin within several runs.
constexpr std::size_t most_lengths = 3;

/// What a phase sends, by the chunk with which it begins: which of the lengths it has, and what is next.
struct Runs {
  std::vector<Bytes> lengths;
  std::vector<std::uint8_t> length;
  std::vector<std::int32_t> next;
};

/// What each rank sends to at most one and receives from at most one; costs by the number of their length.
struct Permutation {
  template <class Value>
  using ByLength = std::array<Value, most_lengths>;
  struct Sender {
    ByLength<double> sending{};
    ByLength<int> waits_for{};  // itself where its messages are eager
    ByLength<double> busy{};    // its processor
    std::int32_t chunk = 0;     // of this repeat
  };
  struct Receiver {
    int from = -1;  // nobody
    ByLength<double> reducing{};
    ByLength<double> busy{};
  };
  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
};

/// Whether all ranks send and receive at the same cost, which is none for processors, and wait for nobody.
bool ranks_are_alike(const Permutation& permutation, std::size_t lengths) {
  const auto& sender = permutation.senders.front();
  const auto& receiver = permutation.receivers.front();
  for (std::size_t rank = 0; rank < permutation.senders.size(); ++rank) {
    const auto& own = permutation.senders[rank];
    const auto& other = permutation.receivers[rank];
    if (other.from < 0) return false;
    for (std::size_t length = 0; length < lengths; ++length) {
      if (own.waits_for[length] != static_cast<int>(rank) || own.busy[length] > 0 || other.busy[length] > 0)
        return false;
      if (own.sending[length] != sender.sending[length] || other.reducing[length] != receiver.reducing[length])
        return false;
    }
  }
  return true;
}

/// A rank and those before it in its ring, up to the one after it.
std::vector<int> ring_backwards(const Permutation& permutation, int first) {
  std::vector<int> ring;
  int rank = first;
  do {
    ring.push_back(rank);
    rank = permutation.receivers[as_index(rank)].from;
  } while (rank != first);
  return ring;
}

/// In the order of `ring_backwards`, by the chunk that a rank sends first; nothing where chunks do not travel around.
std::optional<RingSteps> steps_of(const std::vector<int>& ring, const Permutation& permutation, const Runs& runs) {
  const auto chunk = [&](int rank) { return as_index(permutation.senders[as_index(rank)].chunk); };
  const auto sending = [&](int rank) { return permutation.senders.front().sending[runs.length[chunk(rank)]]; };
  const auto n = static_cast<Eigen::Index>(ring.size());
  RingSteps steps{Eigen::ArrayXd(n), Eigen::ArrayXd(n)};
  int after = ring.back();
  for (Eigen::Index i = 0; i < n; ++i) {
    const int rank = ring[as_index(i)];
    if (runs.next[chunk(after)] != static_cast<std::int32_t>(chunk(rank))) return std::nullopt;
    const double reducing = permutation.receivers.front().reducing[runs.length[chunk(rank)]];
    steps.stay[i] = sending(rank) + reducing;
    steps.move[i] = std::max(sending(after), reducing);
    after = rank;
  }
  return steps;
}

/// Rings in which chunks cost what they cost and ranks do not matter: seen from a chunk, which a rank sends on once it
/// has it, ranks go by, and what changes from chunk to chunk stays. A moment goes on with a chunk, through sending and
/// reducing, or waits at a rank for the next one. False where chunks do not travel around.
bool carry_chunks(RankTimes& moments, const Permutation& permutation, const Runs& runs, int repeats) {
  if (!ranks_are_alike(permutation, runs.lengths.size())) return false;
  RankTimes carried(moments.size());
  std::vector<bool> seen(permutation.senders.size(), false);
  for (int first = 0; first < std::ssize(seen); ++first) {
    if (seen[as_index(first)]) continue;
    const std::vector<int> ring = ring_backwards(permutation, first);
    const std::optional<RingSteps> steps = steps_of(ring, permutation, runs);
    if (!steps) return false;
    const RankTimes ends = carry_ring(moments(ring), *steps, repeats);
    const auto n = std::ssize(ring);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const int rank = ring[as_index(i)];
      carried[rank] = ends[(i + repeats) % n];
      seen[as_index(rank)] = true;
    }
  }
  moments.swap(carried);
  return true;
}

bool can_be_carried(const RoutedSchedule& routed) {
  if (routed.eager_sends() || routed.handshakes() || !routed.congestion().empty()) return false;
  return std::ranges::none_of(routed.schedule().phases,
                              [](const Phase& phase) { return receivers_move(phase) || phase.one_by_one; });
}

/// Whether every rank has at most one transfer to send, and with `receives` at most one to receive.
bool is_one_at_a_time(const Schedule& schedule, const Phase& phase, bool receives) {
  if (phase.fan != 1 || phase.window != 0) return false;
  std::vector<bool> from(as_index(schedule.ranks), false);
  std::vector<bool> to(from);
  for (const Transfer& transfer : phase.transfers) {
    if (from[as_index(transfer.from)]) return false;
    if (receives && to[as_index(transfer.to)]) return false;
    from[as_index(transfer.from)] = true;
    to[as_index(transfer.to)] = true;
  }
  return true;
}

bool is_permutation(const Schedule& schedule, const Phase& phase) {
  constexpr Chunk most_chunks = 1 << 20;  // each has its length in a table
  const auto is_as_long = [&](const Transfer& transfer) { return transfer.count == phase.transfers.front().count; };
  return schedule.chunks <= most_chunks && schedule.weights.empty() && phase.bundle.empty() &&
         std::ranges::all_of(phase.transfers, is_as_long) && is_one_at_a_time(schedule, phase, true);
}

/// Whether every link is crossed from one rank only, over all phases.
bool has_a_sender_per_link(const RoutedSchedule& routed) {
  std::vector<int> sender(routed.capacities().size(), -1);
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    const auto& transfers = routed.schedule().phases[phase].transfers;
    for (std::size_t position = 0; position < transfers.size(); ++position) {
      for (const int link : routed.legs(phase)[position].links) {
        int& known = sender[as_index(link)];
        if (known >= 0 && known != transfers[position].from) return false;
        known = transfers[position].from;
      }
    }
  }
  return true;
}

/// Every link has one sender, who sends one thing at a time.
bool can_never_meet(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  const auto sends_one = [&](const Phase& phase) { return is_one_at_a_time(schedule, phase, false); };
  return std::ranges::all_of(schedule.phases, sends_one) && has_a_sender_per_link(routed);
}

struct Cost {
  double wait = 0;  // before the first byte
  double sending = 0;
  double reducing = 0;
  bool waits = false;  // for its receiver
  double send = 0;     // of its ends' processors
  double receive = 0;
};

/// Of one message that has its links for itself; what is empty is not sent.
Cost cost_of(const RoutedSchedule& routed, const RoutedSchedule::Leg& leg, Bytes bytes) {
  if (bytes == Bytes(0)) return {};
  const Seconds wait = leg.latency + routed.message_cost().of(bytes);
  return {wait.si(),
          (wait + bytes / leg.narrowest).si(),
          (bytes / leg.reduce_rate).si(),
          !routed.message_cost().is_eager(bytes),
          (leg.occupancy.send + routed.message_cost().copying(bytes)).si(),
          (leg.occupancy.receive + routed.message_cost().copying(bytes)).si()};
}

void put(TransferCosts& costs, Eigen::Index t, const Cost& cost) {
  costs.sending[t] = cost.sending;
  costs.reducing[t] = cost.reducing;
  costs.waits[t] = cost.waits;
  if (!costs.are_occupied()) return;
  costs.send[t] = cost.send;
  costs.receive[t] = cost.receive;
  costs.alone[t] = cost.sending;
}

/// Nothing where there are too many lengths.
std::optional<Runs> runs_of(const Schedule& schedule, const Phase& phase, const ChunkSizes& chunks) {
  Runs runs;
  Transfer placed;
  placed.count = phase.transfers.front().count;
  for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) {
    placed.chunk = chunk;
    const Bytes bytes = chunks.of(schedule, phase, placed);
    const auto known = std::ranges::find(runs.lengths, bytes);
    runs.length.push_back(static_cast<std::uint8_t>(known - runs.lengths.begin()));
    if (known == runs.lengths.end()) runs.lengths.push_back(bytes);
    if (runs.lengths.size() > most_lengths) return std::nullopt;
    runs.next.push_back(static_cast<std::int32_t>(moved(schedule, chunk, phase.row_step, phase.chunk_step)));
  }
  return runs;
}

Permutation permutation_of(const RoutedSchedule& routed, std::size_t phase, const std::vector<Bytes>& lengths) {
  const Schedule& schedule = routed.schedule();
  Permutation result;
  result.senders.resize(as_index(schedule.ranks));
  for (int rank = 0; rank < schedule.ranks; ++rank) result.senders[as_index(rank)].waits_for.fill(rank);
  result.receivers.resize(result.senders.size());
  const auto& transfers = schedule.phases[phase].transfers;
  for (std::size_t position = 0; position < transfers.size(); ++position) {
    const Transfer& transfer = transfers[position];
    auto& sender = result.senders[as_index(transfer.from)];
    auto& receiver = result.receivers[as_index(transfer.to)];
    sender.chunk = static_cast<std::int32_t>(moved(schedule, transfer.chunk, 0, 0));
    receiver.from = transfer.from;
    for (std::size_t length = 0; length < lengths.size(); ++length) {
      const Cost cost = cost_of(routed, routed.legs(phase)[position], lengths[length]);
      sender.sending[length] = cost.sending;
      sender.waits_for[length] = cost.waits ? transfer.to : transfer.from;
      sender.busy[length] = cost.send;
      receiver.reducing[length] = cost.reducing;
      receiver.busy[length] = cost.receive;
    }
  }
  return result;
}

}  // namespace

MessageRecurrence::MessageRecurrence(const RoutedSchedule& routed)
    : routed_(routed),
      applies_(can_be_carried(routed)),
      never_meet_(applies_ && can_never_meet(routed)),
      occupied_(routed.has_occupancy()),
      taken_(routed.capacities().size()) {
  for (const Phase& phase : routed.schedule().phases) {
    permutation_.push_back(never_meet_ && is_permutation(routed.schedule(), phase));
  }
}

std::optional<RankTimes> MessageRecurrence::completion_times(Bytes size, const RankTimes& start) {
  if (!applies_) return std::nullopt;
  const double origin = start.minCoeff();
  const ChunkSizes chunks(size, routed_.schedule());
  RankTimes moments = start - origin;
  std::ranges::fill(taken_, 0.0);
  for (std::size_t phase = 0; phase < permutation_.size(); ++phase) {
    const Phase& pattern = routed_.schedule().phases[phase];
    if (permutation_[phase] && chunks.equal()) {
      const Bytes run = chunks.largest() * (pattern.transfers.empty() ? 0 : pattern.transfers.front().count);
      carry(moments, routed_.schedule(), pattern, costs_of_equal(phase, run));
    } else if (!(permutation_[phase] && carry_permutation(moments, phase, chunks)) &&
               !carry_phase(moments, phase, chunks)) {
      return std::nullopt;
    }
  }
  return (moments + origin).max(start);
}

std::optional<RankTimes> MessageRecurrence::of_pipeline(Bytes size, const RankTimes& start) {
  const double origin = start.minCoeff();
  const KnownPhase* const known = pipeline(size, ChunkSizes(size, routed_.schedule()));
  if (known == nullptr) return std::nullopt;
  RankTimes moments = start - origin;
  known->carry(moments);
  return (moments + origin).max(start);
}

/// Links that have room for all messages at once never hold one back, whenever it comes.
const KnownPhase* MessageRecurrence::pipeline(Bytes size, const ChunkSizes& chunks) {
  constexpr std::size_t most_sizes = 16;
  if (!applies_ || permutation_.size() != 1) return nullptr;
  const auto known = pipelines_.find(size);
  if (known != pipelines_.end()) return known->second ? &*known->second : nullptr;
  if (pipelines_.size() == most_sizes) pipelines_.clear();
  auto& fresh = pipelines_[size];
  if (is_unshared_pipeline(routed_, 0, Sharing::simulated, NetworkSolver::own))
    fresh.emplace(unshared_pipeline(routed_, 0, chunks));
  return fresh ? &*fresh : nullptr;
}

TransferCosts MessageRecurrence::costs_of_equal(std::size_t phase, Bytes chunk) const {
  const auto& legs = routed_.legs(phase);
  const auto transfers = static_cast<Eigen::Index>(legs.size());
  TransferCosts costs = TransferCosts::of(transfers, occupied_);
  for (Eigen::Index t = 0; t < transfers; ++t) put(costs, t, cost_of(routed_, legs[as_index(t)], chunk));
  return costs;
}

bool MessageRecurrence::carry_phase(RankTimes& moments, std::size_t phase, const ChunkSizes& chunks) {
  const Schedule& schedule = routed_.schedule();
  const Phase& pattern = schedule.phases[phase];
  const auto fan = as_index(pattern.fan);
  Participants participants(pattern);
  Repeats repeats(moments, schedule, pattern);
  Posted sends(occupied_ ? moments.size() : 0);
  for (int repeat = 0; repeat < pattern.repeats; ++repeat) {
    bool free = true;
    const std::span<const std::size_t> transfers = participants.in(repeat);
    TransferCosts costs = TransferCosts::of(std::ssize(transfers), occupied_);
    if (occupied_) {
      for (const std::size_t index : transfers) sends.clear(pattern.transfers[index / fan].from);
    }
    for_each_transfer(schedule, pattern, repeat, transfers, [&](const Transfer& transfer, std::size_t place) {
      const auto& leg = routed_.legs(phase)[transfers[place]];
      const Cost cost = cost_of(routed_, leg, chunks.of(schedule, pattern, transfer));
      put(costs, static_cast<Eigen::Index>(place), cost);
      if (never_meet_ || cost.sending <= 0) return;
      double starts = moments[transfer.from];
      if (occupied_) starts += sends.before(transfer.from, cost.send);
      if (cost.waits) starts = std::max(starts, repeats.posted(transfer.to));
      free = free && occupy(leg.links, starts + cost.wait, starts + cost.sending);
    });
    if (!free) return false;
    repeats.carry_once(costs, transfers);
  }
  return true;
}

/// Messages come in the order of the rounds, not of time. That is enough: of two that overlap on a link, the one that
/// comes second begins before the latest end so far.
bool MessageRecurrence::occupy(std::span<const int> links, double begin, double end) {
  constexpr double rounding = 1e-14;
  for (std::size_t i = 0; i < links.size(); ++i) {
    double& taken = taken_[as_index(links[i])];
    const bool again = std::ranges::find(links.first(i), links[i]) != links.begin() + static_cast<std::ptrdiff_t>(i);
    if (!again && begin < taken * (1 - rounding)) return false;
    taken = std::max(taken, end);
  }
  return true;
}

bool MessageRecurrence::carry_permutation(RankTimes& moments, std::size_t phase, const ChunkSizes& chunks) const {
  const Schedule& schedule = routed_.schedule();
  const Phase& pattern = schedule.phases[phase];
  if (pattern.transfers.empty()) return true;
  const std::optional<Runs> runs = runs_of(schedule, pattern, chunks);
  if (!runs) return false;
  Permutation permutation = permutation_of(routed_, phase, runs->lengths);
  if (carry_chunks(moments, permutation, *runs, pattern.repeats)) return true;
  const Eigen::Index ranks = moments.size();
  RankTimes sent(ranks);
  std::vector<std::uint8_t> length(as_index(ranks));  // of what each rank sends in this repeat
  for (int repeat = 0; repeat < pattern.repeats; ++repeat) {
    for (Eigen::Index rank = 0; rank < ranks; ++rank) {
      auto& sender = permutation.senders[as_index(rank)];
      const std::uint8_t own = runs->length[as_index(sender.chunk)];
      length[as_index(rank)] = own;
      sent[rank] = std::max(moments[rank], moments[sender.waits_for[own]]) + sender.sending[own];
      sender.chunk = runs->next[as_index(sender.chunk)];
    }
    for (Eigen::Index rank = 0; rank < ranks; ++rank) {
      const auto& receiver = permutation.receivers[as_index(rank)];
      const std::uint8_t own = length[as_index(rank)];
      double busy = moments[rank] + permutation.senders[as_index(rank)].busy[own];
      if (receiver.from >= 0) {
        const std::uint8_t long_one = length[as_index(receiver.from)];
        busy = std::max(sent[receiver.from], busy + receiver.busy[long_one]) + receiver.reducing[long_one];
      }
      moments[rank] = std::max(sent[rank], busy);
    }
  }
  return true;
}

}}  // namespace farandole::simulate
