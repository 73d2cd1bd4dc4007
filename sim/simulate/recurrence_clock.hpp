// The clocks of `analytic` and `flow`: a cost per round and transfer, carried through the rounds by the recurrence.
//
// Rates are worked out once, for a network on which all ranks take part at once; but for phases whose repeats cost
// differently: those are worked out as they are carried, so that nothing is held per repeat.
#pragma once

#include "simulate/collective_clock.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole {

class RecurrenceClock final : public CollectiveClock {
 public:
  using RateModel = TransferRates (*)(const RoutedSchedule&, std::size_t phase, int repeat);

  RecurrenceClock(RoutedSchedule routed, RateModel rate_model);

  RankTimes finish(Bytes size, const RankTimes& start) override;

 private:
  RoutedSchedule routed_;
  RateModel rate_model_;
  std::vector<TransferRates> rates_;  // per phase; empty where costs vary
};

}  // namespace farandole
