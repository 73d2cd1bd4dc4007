#include "simulate/concurrent_clock.hpp"

#include <stdexcept>
#include <utility>

#include "simulate/concurrent_messages.hpp"
#include "simulate/concurrent_phases.hpp"

namespace farandole {
namespace {

/// Each has connections of its own, which all of them know of.
void number_connections(std::vector<RoutedSchedule>& schedules) {
  std::size_t all = 0;
  BytesPerSecond rate;
  for (const RoutedSchedule& schedule : schedules) {
    all += schedule.connections();
    if (schedule.connections() > 0) rate = schedule.capacities().back();
  }
  if (all == 0) return;
  std::size_t before = 0;
  for (RoutedSchedule& schedule : schedules) {
    const std::size_t own = schedule.connections();
    schedule.lay_connections(before, all, rate);
    before += own;
  }
}

}  // namespace

std::unique_ptr<ConcurrentClock> make_concurrent_clock(Fidelity fidelity, std::vector<RoutedSchedule> schedules) {
  if (schedules.empty()) throw std::invalid_argument("a concurrent clock of no schedule");
  number_connections(schedules);
  if (fidelity == Fidelity::message) return std::make_unique<ConcurrentMessages>(schedules);
  return std::make_unique<ConcurrentPhases>(fidelity, std::move(schedules));
}

}  // namespace farandole
