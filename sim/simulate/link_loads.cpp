#include "simulate/link_loads.hpp"

#include <algorithm>
#include <utility>

#include "collective/chunk_sizes.hpp"

namespace farandole { inline namespace simulate {
std::vector<Bytes> link_bytes(const RoutedSchedule& routed, Bytes size) {
  constexpr std::size_t most_counted = 1 << 22;  // above, repeats that differ by no more than a byte count as one
  const Schedule& schedule = routed.schedule();
  const ChunkSizes sizes(size, schedule);
  std::vector<Bytes> all(routed.capacities().size());
  const auto add = [&](const RoutedSchedule::Leg& leg, Bytes bytes) {
    for (const int link : leg.links) all[static_cast<std::size_t>(link)] += bytes / leg.paths;
  };
  for (std::size_t number = 0; number < schedule.phases.size(); ++number) {
    const Phase& phase = schedule.phases[number];
    const bool moves = receivers_move(phase);
    const bool alike = !moves && !sizes.weighted() && phase.bundle.empty() && phase.window == 0;
    const bool many = transfers_per_round(phase) * static_cast<std::size_t>(phase.repeats) > most_counted;
    const int rounds = alike && (sizes.equal() || many) ? std::min(phase.repeats, 1) : phase.repeats;
    const double times = rounds > 0 ? static_cast<double>(phase.repeats) / rounds : 0;
    Participants participants(phase);
    for (int repeat = 0; repeat < rounds; ++repeat) {
      const std::span<const std::size_t> indices = participants.in(repeat);
      for_each_transfer(schedule, phase, repeat, indices, [&](const Transfer& transfer, std::size_t place) {
        const Bytes bytes = sizes.of(schedule, phase, transfer) * times;
        moves ? add(routed.leg(number, indices[place], repeat), bytes)
              : add(routed.legs(number)[indices[place]], bytes);
      });
    }
  }
  const std::vector<double>* added = routed.added_in_switches();
  for (std::size_t link = 0; added != nullptr && link < added->size(); ++link)
    if ((*added)[link] > 0) all[link] /= (*added)[link];
  return all;
}

}}  // namespace farandole::simulate
