#include "simulate/folding/pace.hpp"

#include <algorithm>

namespace farandole { inline namespace simulate {
namespace {

bool is_plain_schedule(const Schedule& schedule) {
  const auto plain = [](const Phase& phase) {
    return phase.row_step == 0 && phase.window == 0 && phase.peer_step == 0 && phase.fan == 1 && phase.bundle.empty() &&
           !phase.one_by_one;
  };
  return schedule.rows == 1 && schedule.weights.empty() && std::ranges::all_of(schedule.phases, plain);
}

/// Of every rank and phase one transfer sent, and one to reduce.
bool does_one_thing_at_a_time(const Schedule& schedule) {
  for (const Phase& phase : schedule.phases) {
    std::vector<bool> sends(static_cast<std::size_t>(schedule.ranks), false);
    std::vector<bool> reduces(sends);
    for (const Transfer& transfer : phase.transfers) {
      if (transfer.count != 1 || sends[static_cast<std::size_t>(transfer.from)]) return false;
      sends[static_cast<std::size_t>(transfer.from)] = true;
      if (transfer.action == Action::copy) continue;
      if (reduces[static_cast<std::size_t>(transfer.to)]) return false;
      reduces[static_cast<std::size_t>(transfer.to)] = true;
    }
  }
  return true;
}

bool legs_are_alike(const std::vector<RoutedSchedule::Leg>& legs) {
  return std::ranges::all_of(legs, [&](const RoutedSchedule::Leg& leg) {
    const RoutedSchedule::Leg& first = legs.front();
    return leg.latency == first.latency && leg.narrowest == first.narrowest && leg.reduce_rate == first.reduce_rate;
  });
}

/// Of every rank and phase one transfer received at most; `exactly`: and sent, and of all.
bool receives_one_at_a_time(const Schedule& schedule, bool exactly) {
  return std::ranges::all_of(schedule.phases, [&](const Phase& phase) {
    std::vector<bool> receives(static_cast<std::size_t>(schedule.ranks), false);
    for (const Transfer& transfer : phase.transfers) {
      if (receives[static_cast<std::size_t>(transfer.to)]) return false;
      receives[static_cast<std::size_t>(transfer.to)] = true;
    }
    return !exactly || phase.transfers.size() == receives.size();
  });
}

/// Whether processors never take longer than the longest chunk, or if they do, everywhere and always.
bool is_kept_by_processors_alike(const RoutedSchedule& routed) {
  if (!routed.has_occupancy()) return true;
  const RoutedSchedule::Leg* first = nullptr;
  bool within_latency = true;
  bool alike = true;
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    for (const RoutedSchedule::Leg& leg : routed.legs(phase)) {
      if (first == nullptr) first = &leg;
      within_latency = within_latency && leg.occupancy.send + leg.occupancy.receive <= leg.latency;
      alike = alike && leg.latency == first->latency && leg.narrowest == first->narrowest &&
              leg.occupancy.send == first->occupancy.send && leg.occupancy.receive == first->occupancy.receive;
    }
  }
  return receives_one_at_a_time(routed.schedule(), !within_latency) && (within_latency || alike);
}

/// Follows the first chunk through the rounds.
class ChunkTracker {
 public:
  explicit ChunkTracker(const Schedule& schedule)
      : schedule_(schedule), holds_(static_cast<std::size_t>(schedule.ranks), true) {}

  /// Whether it is on its way in every round of the phase.
  bool passes(const Phase& phase) {
    std::vector<const Transfer*> by_chunk;
    for (const Transfer& transfer : phase.transfers) by_chunk.push_back(&transfer);
    const auto chunk_of = [](const Transfer* transfer) { return transfer->chunk; };
    std::ranges::sort(by_chunk, {}, chunk_of);
    const Phase backwards{{}, {}, phase.repeats, -phase.chunk_step};
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      // A transfer carries chunk 0 in this repeat if it began so many steps before it.
      const Chunk begun = chunk_in_repeat(schedule_, backwards, {}, repeat);
      const auto first = std::ranges::lower_bound(by_chunk, begun, {}, chunk_of);
      const auto last = std::ranges::upper_bound(by_chunk, begun, {}, chunk_of);
      if (!moves_on({first, last})) return false;
    }
    return true;
  }

 private:
  bool moves_on(std::vector<const Transfer*> carriers) {
    std::erase_if(carriers, [this](const Transfer* t) { return !holds_[static_cast<std::size_t>(t->from)]; });
    if (first_) holds_.assign(holds_.size(), false);
    first_ = false;
    for (const int rank : holders_) holds_[static_cast<std::size_t>(rank)] = false;
    holders_.clear();
    for (const Transfer* transfer : carriers) {
      hold(transfer->to);
      if (transfer->action == Action::copy) hold(transfer->from);
    }
    return !carriers.empty();
  }

  void hold(int rank) {
    holds_[static_cast<std::size_t>(rank)] = true;
    holders_.push_back(rank);
  }

  const Schedule& schedule_;
  std::vector<bool> holds_;  // ranks that took part in the round before; at first all
  std::vector<int> holders_;
  bool first_ = true;
};

}  // namespace

bool has_a_sender_per_link(const RoutedSchedule& routed) {
  std::vector<int> sender(routed.capacities().size(), -1);
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    const auto& transfers = routed.schedule().phases[phase].transfers;
    for (std::size_t position = 0; position < transfers.size(); ++position) {
      for (const int link : routed.legs(phase)[position].links) {
        int& known = sender[static_cast<std::size_t>(link)];
        if (known >= 0 && known != transfers[position].from) return false;
        known = transfers[position].from;
      }
    }
  }
  return true;
}

bool is_paced_by_longest_chunk(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  if (!is_plain_schedule(schedule) || !does_one_thing_at_a_time(schedule) || !has_a_sender_per_link(routed))
    return false;
  if (!is_kept_by_processors_alike(routed)) return false;
  ChunkTracker tracker(schedule);
  for (std::size_t phase = 0; phase < schedule.phases.size(); ++phase) {
    if (!legs_are_alike(routed.legs(phase)) || !tracker.passes(schedule.phases[phase])) return false;
  }
  return true;
}

}}  // namespace farandole::simulate
