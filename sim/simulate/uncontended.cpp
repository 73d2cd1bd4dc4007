#include "simulate/uncontended.hpp"

#include <algorithm>
#include <map>

namespace farandole { inline namespace simulate {
namespace {

/// A link that a leg crosses twice, on two of its paths, stays one link.
RoutedSchedule::Leg moved_to_own_links(RoutedSchedule::Leg leg, std::span<const BytesPerSecond> capacities,
                                       std::vector<BytesPerSecond>& own) {
  std::map<int, int> renamed;
  for (int& link : leg.links) {
    const auto [place, added] = renamed.try_emplace(link, static_cast<int>(own.size()));
    if (added) own.push_back(capacities[static_cast<std::size_t>(link)]);
    link = place->second;
  }
  return leg;
}

}  // namespace

std::optional<RoutedSchedule> uncontended(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  if (std::ranges::any_of(schedule.phases, receivers_move)) return std::nullopt;
  std::vector<BytesPerSecond> own;
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t phase = 0; phase < schedule.phases.size(); ++phase) {
    auto& moved = legs.emplace_back();
    for (const RoutedSchedule::Leg& leg : routed.legs(phase)) {
      moved.push_back(moved_to_own_links(leg, routed.capacities(), own));
    }
  }
  return RoutedSchedule(schedule, std::move(legs), std::move(own));
}

}}  // namespace farandole::simulate
