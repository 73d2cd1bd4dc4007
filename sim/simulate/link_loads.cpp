#include "simulate/link_loads.hpp"

#include <algorithm>
#include <utility>

#include "collective/chunk_sizes.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Above so many transfers, repeats that differ by no more than a byte are counted as one.
constexpr std::size_t most_counted = 1 << 22;

class Counter {
 public:
  Counter(const RoutedSchedule& routed, Bytes size)
      : routed_(routed), sizes_(size, routed.schedule()), bytes_(routed.capacities().size()) {}

  std::vector<Bytes> count() {
    for (std::size_t phase = 0; phase < routed_.schedule().phases.size(); ++phase) count_phase(phase);
    return std::move(bytes_);
  }

 private:
  void count_phase(std::size_t number) {
    const Schedule& schedule = routed_.schedule();
    const Phase& phase = schedule.phases[number];
    const bool moves = receivers_move(phase);
    const bool alike = !moves && !sizes_.weighted() && phase.bundle.empty() && phase.window == 0;
    const bool many = transfers_per_round(phase) * static_cast<std::size_t>(phase.repeats) > most_counted;
    const int rounds = alike && (sizes_.equal() || many) ? std::min(phase.repeats, 1) : phase.repeats;
    const double times = rounds > 0 ? static_cast<double>(phase.repeats) / rounds : 0;
    Participants participants(phase);
    for (int repeat = 0; repeat < rounds; ++repeat) {
      const std::span<const std::size_t> indices = participants.in(repeat);
      for_each_transfer(schedule, phase, repeat, indices, [&](const Transfer& transfer, std::size_t place) {
        const Bytes bytes = sizes_.of(schedule, phase, transfer) * times;
        moves ? add(routed_.leg(number, indices[place], repeat), bytes)
              : add(routed_.legs(number)[indices[place]], bytes);
      });
    }
  }

  void add(const RoutedSchedule::Leg& leg, Bytes bytes) {
    for (const int link : leg.links) bytes_[static_cast<std::size_t>(link)] += bytes / leg.paths;
  }

  const RoutedSchedule& routed_;
  ChunkSizes sizes_;
  std::vector<Bytes> bytes_;
};

}  // namespace

std::vector<Bytes> link_bytes(const RoutedSchedule& routed, Bytes size) {
  return Counter(routed, size).count();
}

}}  // namespace farandole::simulate
