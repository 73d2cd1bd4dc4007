#include "simulate/recurrence_clock.hpp"

#include <utility>

namespace farandole {

RecurrenceClock::RecurrenceClock(RoutedSchedule routed, RateModel rate_model) : routed_(std::move(routed)) {
  for (std::size_t phase = 0; phase < routed_.schedule().phases.size(); ++phase) {
    rates_.push_back(rate_model(routed_, phase));
  }
}

RankTimes RecurrenceClock::finish(Bytes size, const RankTimes& start) {
  const Bytes chunk = ChunkSizes(size, routed_.schedule().chunks).largest();
  RankTimes moments = start;
  for (std::size_t phase = 0; phase < rates_.size(); ++phase) {
    const TransferCosts costs = rates_[phase].latency + chunk.si() * rates_[phase].inverse_rate;
    carry(moments, routed_.schedule().phases[phase], costs);
  }
  return moments;
}

}  // namespace farandole
