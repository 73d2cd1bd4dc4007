// A schedule laid onto a platform: every transfer with the links it crosses and the latency it pays.
//
// All fidelities time this value. Building is O(transfers of all phases x links per route); nothing is held per repeat.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "collective/schedule.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"

namespace farandole {

class RoutedSchedule {
 public:
  RoutedSchedule(Schedule schedule, const Platform& platform, const Placement& placement);

  struct Leg {
    std::vector<int> links;
    Seconds latency;
    BytesPerSecond narrowest;  // smallest capacity on the way
  };

  /// From its parts: legs per phase and transfer, and the capacities of the links they name.
  RoutedSchedule(Schedule schedule, std::vector<std::vector<Leg>> legs, std::vector<BytesPerSecond> capacities)
      : schedule_(std::move(schedule)), legs_(std::move(legs)), capacities_(std::move(capacities)) {}

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// One leg per transfer of the phase, in the same order.
  [[nodiscard]] const std::vector<Leg>& legs(std::size_t phase) const { return legs_[phase]; }
  [[nodiscard]] std::span<const BytesPerSecond> capacities() const { return capacities_; }

 private:
  Schedule schedule_;
  std::vector<std::vector<Leg>> legs_;
  std::vector<BytesPerSecond> capacities_;  // per link of the platform
};

}  // namespace farandole
