#include "simulate/recurrence_clock.hpp"

#include <utility>

namespace farandole {

RecurrenceClock::RecurrenceClock(RoutedSchedule routed, RateModel rate_model)
    : routed_(std::move(routed)), rate_model_(rate_model) {
  for (std::size_t phase = 0; phase < routed_.schedule().phases.size(); ++phase) {
    rates_.push_back(costs_vary(routed_, phase) ? TransferRates{} : rate_model(routed_, phase, 0));
  }
}

RankTimes RecurrenceClock::finish(Bytes size, const RankTimes& start) {
  const Schedule& schedule = routed_.schedule();
  const ChunkSizes sizes(size, schedule);
  RankTimes moments = start;
  for (std::size_t p = 0; p < rates_.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    if (!costs_vary(routed_, p)) {
      carry(moments, schedule, phase, transfer_costs(routed_, p, 0, rates_[p], sizes));
      continue;
    }
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      const TransferRates rates = rate_model_(routed_, p, repeat);
      carry_once(moments, schedule, phase, repeat, transfer_costs(routed_, p, repeat, rates, sizes));
    }
  }
  return moments;
}

}  // namespace farandole
