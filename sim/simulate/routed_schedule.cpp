#include "simulate/routed_schedule.hpp"

#include <algorithm>

namespace farandole {

RoutedSchedule::RoutedSchedule(Schedule schedule, const Platform& platform, const Placement& placement)
    : schedule_(std::move(schedule)), where_(std::make_shared<std::pair<Platform, Placement>>(platform, placement)) {
  for (const Link& link : platform.links) capacities_.push_back(link.capacity);
  for (const Phase& phase : schedule_.phases) {
    auto& legs = legs_.emplace_back();
    legs.reserve(transfers_per_round(phase));
    for (const Transfer& transfer : phase.transfers) {
      for (int lane = 0; lane < phase.fan; ++lane) {
        legs.push_back(between(transfer.from, in_repeat(schedule_, phase, transfer, transfer.start, lane).to));
      }
    }
  }
  if (std::ranges::none_of(schedule_.phases, receivers_move)) where_.reset();
}

RoutedSchedule::Leg RoutedSchedule::between(int from, int to) const {
  const auto& [platform, placement] = *where_;
  Route route = platform.route(placement.device_of_rank[static_cast<std::size_t>(from)],
                               placement.device_of_rank[static_cast<std::size_t>(to)]);
  BytesPerSecond narrowest = BytesPerSecond::infinity();
  for (const int link : route.links) narrowest = std::min(narrowest, capacities_[static_cast<std::size_t>(link)]);
  return {std::move(route.links), route.latency, narrowest};
}

RoutedSchedule::Leg RoutedSchedule::leg(std::size_t phase, std::size_t index, int repeat) const {
  const Phase& pattern = schedule_.phases[phase];
  if (repeat == 0 || !receivers_move(pattern)) return legs_[phase][index];
  const auto fan = static_cast<std::size_t>(pattern.fan);
  const Transfer& transfer = pattern.transfers[index / fan];
  return between(transfer.from, in_repeat(schedule_, pattern, transfer, repeat, static_cast<int>(index % fan)).to);
}

bool receivers_move(const Phase& phase) {
  return phase.peer_step != 0 && phase.repeats > 1;
}

}  // namespace farandole
