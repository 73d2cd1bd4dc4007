#include "simulate/routed_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace farandole {
namespace {

BytesPerSecond reduce_rate(const Platform& platform, const Transfer& transfer) {
  return transfer.action == Action::copy ? BytesPerSecond::infinity() : platform.transport.reduce_rate;
}

/// Whether every transfer of the phase is between the ranks of its like in the phase before, as in a ring's halves.
bool goes_the_same_ways(const Schedule& schedule, std::size_t phase) {
  if (phase == 0) return false;
  const Phase& before = schedule.phases[phase - 1];
  const Phase& here = schedule.phases[phase];
  if (before.fan != 1 || here.fan != 1) return false;
  return std::ranges::equal(before.transfers, here.transfers, [](const Transfer& one, const Transfer& other) {
    return one.from == other.from && one.to == other.to;
  });
}

}  // namespace

RoutedSchedule::RoutedSchedule(Schedule schedule, const Platform& platform, const Placement& placement)
    : schedule_(std::move(schedule)), eager_sends_(platform.transport.eager_sends) {
  capacities_.reserve(platform.links.size());
  for (const Link& link : platform.links) capacities_.push_back(link.capacity);
  legs_.reserve(schedule_.phases.size());
  message_cost_ = platform.transport.message;
  for (const Phase& phase : schedule_.phases) {
    auto& legs = legs_.emplace_back();
    legs.reserve(transfers_per_round(phase));
    if (goes_the_same_ways(schedule_, legs_.size() - 1)) {
      legs = legs_[legs_.size() - 2];
      for (std::size_t t = 0; t < legs.size(); ++t) {
        legs[t].reduce_rate = reduce_rate(platform, phase.transfers[t]);
      }
      continue;
    }
    for (const Transfer& transfer : phase.transfers) {
      for (int lane = 0; lane < phase.fan; ++lane) {
        legs.push_back(between(platform, placement, in_repeat(schedule_, phase, transfer, transfer.start, lane)));
      }
    }
  }
  if (std::ranges::any_of(schedule_.phases, [](const Phase& phase) { return phase.peer_step != 0; })) {
    where_ = std::make_shared<std::pair<Platform, Placement>>(platform, placement);
  }
}

RoutedSchedule::Leg RoutedSchedule::between(const Platform& platform, const Placement& placement,
                                            const Transfer& transfer) const {
  Route route = platform.route(placement.device_of_rank[static_cast<std::size_t>(transfer.from)],
                               placement.device_of_rank[static_cast<std::size_t>(transfer.to)]);
  BytesPerSecond narrowest = BytesPerSecond::infinity();
  for (const int link : route.links) {
    const auto share = static_cast<double>(std::ranges::count(route.links, link)) / route.paths;
    narrowest = std::min(narrowest, capacities_[static_cast<std::size_t>(link)] / share);
  }
  return {std::move(route.links), route.latency, narrowest, route.paths, reduce_rate(platform, transfer)};
}

RoutedSchedule::Leg RoutedSchedule::leg(std::size_t phase, std::size_t index, int repeat) const {
  const Phase& pattern = schedule_.phases[phase];
  if (repeat == 0 || !receivers_move(pattern)) return legs_[phase][index];
  if (later_) return later_(phase, index, repeat);
  const auto fan = static_cast<std::size_t>(pattern.fan);
  const Transfer& transfer = pattern.transfers[index / fan];
  return between(where_->first, where_->second,
                 in_repeat(schedule_, pattern, transfer, repeat, static_cast<int>(index % fan)));
}

int RoutedSchedule::parts() const {
  int parts = 1;
  for (std::size_t phase = 0; phase < legs_.size(); ++phase) {
    const Phase& pattern = schedule_.phases[phase];
    const int repeats = receivers_move(pattern) ? pattern.repeats : 1;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t index = 0; index < legs_[phase].size(); ++index) {
        parts = std::lcm(parts, repeat == 0 ? legs_[phase][index].paths : leg(phase, index, repeat).paths);
      }
    }
  }
  return parts;
}

bool receivers_move(const Phase& phase) {
  return phase.peer_step != 0 && phase.repeats > 1;
}

}  // namespace farandole
