#include "simulate/routed_schedule.hpp"

#include <algorithm>
#include <utility>

namespace farandole {

RoutedSchedule::RoutedSchedule(Schedule schedule, const Platform& platform, const Placement& placement)
    : schedule_(std::move(schedule)) {
  for (const Link& link : platform.links) capacities_.push_back(link.capacity);
  for (const Phase& phase : schedule_.phases) {
    auto& legs = legs_.emplace_back();
    legs.reserve(phase.transfers.size());
    for (const Transfer& transfer : phase.transfers) {
      Route route = platform.route(placement.device_of_rank[static_cast<std::size_t>(transfer.from)],
                                   placement.device_of_rank[static_cast<std::size_t>(transfer.to)]);
      BytesPerSecond narrowest = BytesPerSecond::infinity();
      for (const int link : route.links) {
        narrowest = std::min(narrowest, capacities_[static_cast<std::size_t>(link)]);
      }
      legs.push_back({std::move(route.links), route.latency, narrowest});
    }
  }
}

}  // namespace farandole
