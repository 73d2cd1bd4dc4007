// The clocks of `analytic` and `flow`: costs per round and transfer, carried through the rounds by the recurrence.
//
// Costs belong to a size and to a network on which all ranks take part at once; they are worked out once per size.
#pragma once

#include <map>

#include "simulate/collective_clock.hpp"
#include "simulate/recurrence.hpp"

namespace farandole {

class RecurrenceClock final : public CollectiveClock {
 public:
  using CostModel = TransferCosts (*)(const RoutedSchedule&, std::size_t phase, Bytes size);

  RecurrenceClock(RoutedSchedule routed, CostModel cost_model) : routed_(std::move(routed)), cost_model_(cost_model) {}

  RankTimes finish(Bytes size, const RankTimes& start) override;

 private:
  const std::vector<TransferCosts>& costs(Bytes size);

  RoutedSchedule routed_;
  CostModel cost_model_;
  std::map<Bytes, std::vector<TransferCosts>> known_;  // by size, one per phase
};

}  // namespace farandole
