#include "simulate/concurrent_clock.hpp"

#include <stdexcept>
#include <utility>

#include "simulate/concurrent_messages.hpp"
#include "simulate/concurrent_phases.hpp"

namespace farandole {

std::unique_ptr<ConcurrentClock> make_concurrent_clock(Fidelity fidelity, std::vector<RoutedSchedule> schedules) {
  if (schedules.empty()) throw std::invalid_argument("a concurrent clock of no schedule");
  if (fidelity == Fidelity::message) return std::make_unique<ConcurrentMessages>(schedules);
  return std::make_unique<ConcurrentPhases>(fidelity, std::move(schedules));
}

}  // namespace farandole
