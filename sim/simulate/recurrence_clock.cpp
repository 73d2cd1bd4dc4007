#include "simulate/recurrence_clock.hpp"

#include <algorithm>
#include <utility>

namespace farandole {

RecurrenceClock::RecurrenceClock(RoutedSchedule routed, RateModel rate_model, FoldingPolicy policy)
    : routed_(std::move(routed)), rate_model_(rate_model) {
  if (policy == FoldingPolicy::where_exact && is_foldable(routed_.schedule())) {
    Folding folding = fold(routed_);
    if (folding.is_worthwhile()) folding_ = std::move(folding);
  }
  const RoutedSchedule& network = folding_ ? folding_->quotient : routed_;
  for (std::size_t phase = 0; phase < network.schedule().phases.size(); ++phase) {
    rates_.push_back(costs_vary(network, phase) ? TransferRates{} : rate_model(network, phase, 0));
  }
}

TransferRates RecurrenceClock::rates_of_all(std::size_t phase) const {
  if (!folding_) return rates_[phase];
  const std::vector<int>& classes = folding_->class_of_transfer[phase];
  const auto transfers = static_cast<Eigen::Index>(classes.size());
  TransferRates all{Eigen::ArrayXd(transfers), Eigen::ArrayXd(transfers)};
  for (Eigen::Index t = 0; t < transfers; ++t) {
    all.latency[t] = rates_[phase].latency[classes[static_cast<std::size_t>(t)]];
    all.inverse_rate[t] = rates_[phase].inverse_rate[classes[static_cast<std::size_t>(t)]];
  }
  return all;
}

/// Whether transfers of one class cost the same: of repeated phases all chunks are counted as the longest.
bool RecurrenceClock::costs_the_same_within_classes(const ChunkSizes& sizes) const {
  const auto& phases = routed_.schedule().phases;
  return sizes.equal() || std::ranges::all_of(phases, [](const Phase& phase) { return phase.repeats > 1; });
}

RankTimes RecurrenceClock::finish(Bytes size, const RankTimes& start) {
  const ChunkSizes sizes(size, routed_.schedule());
  if (folding_ && (start == start[0]).all() && costs_the_same_within_classes(sizes))
    return finish_by_class(size, start);
  const Schedule& schedule = routed_.schedule();
  RankTimes moments = start;
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    if (!costs_vary(routed_, p)) {
      carry(moments, schedule, phase, transfer_costs(routed_, p, 0, rates_of_all(p), sizes));
      continue;
    }
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      const TransferRates rates = rate_model_(routed_, p, repeat);
      carry_once(moments, schedule, phase, repeat, transfer_costs(routed_, p, repeat, rates, sizes));
    }
  }
  return moments;
}

RankTimes RecurrenceClock::finish_by_class(Bytes size, const RankTimes& start) const {
  const RoutedSchedule& quotient = folding_->quotient;
  const ChunkSizes sizes(size, quotient.schedule());
  RankTimes moments = folding_->of_classes(start);
  for (std::size_t p = 0; p < rates_.size(); ++p) {
    const TransferCosts costs = transfer_costs(quotient, p, 0, rates_[p], sizes);
    carry(moments, quotient.schedule(), quotient.schedule().phases[p], costs);
  }
  return folding_->of_ranks(moments);
}

}  // namespace farandole
