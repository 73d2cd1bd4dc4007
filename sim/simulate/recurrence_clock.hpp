// The clocks of `analytic` and `flow`: a cost per round and transfer, carried through the rounds by the recurrence.
//
// Rates are worked out once, for a network on which all ranks take part at once: folded, for one transfer of each
// class. Ranks that all start together are carried through the rounds by class too, others one by one.
#pragma once

#include <optional>
#include <vector>

#include "simulate/collective_clock.hpp"
#include "simulate/folding/fold.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole {

class RecurrenceClock final : public CollectiveClock {
 public:
  using RateModel = TransferRates (*)(const RoutedSchedule&, std::size_t phase);

  RecurrenceClock(RoutedSchedule routed, RateModel rate_model, FoldingPolicy policy);

  RankTimes finish(Bytes size, const RankTimes& start) override;
  [[nodiscard]] bool folded() const override { return folding_.has_value(); }

 private:
  [[nodiscard]] TransferCosts costs(std::size_t phase, Bytes chunk) const;
  /// The same for every transfer, where rates are known by class.
  [[nodiscard]] TransferCosts costs_of_all(std::size_t phase, Bytes chunk) const;

  RoutedSchedule routed_;
  std::optional<Folding> folding_;
  std::vector<TransferRates> rates_;  // per phase, of the quotient if there is one
};

}  // namespace farandole
