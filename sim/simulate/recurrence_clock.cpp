#include "simulate/recurrence_clock.hpp"

#include <utility>

namespace farandole {

RecurrenceClock::RecurrenceClock(RoutedSchedule routed, RateModel rate_model, FoldingPolicy policy)
    : routed_(std::move(routed)) {
  if (policy == FoldingPolicy::where_exact) {
    Folding folding = fold(routed_);
    if (folding.is_worthwhile()) folding_ = std::move(folding);
  }
  const RoutedSchedule& network = folding_ ? folding_->quotient : routed_;
  for (std::size_t phase = 0; phase < network.schedule().phases.size(); ++phase) {
    rates_.push_back(rate_model(network, phase));
  }
}

TransferCosts RecurrenceClock::costs(std::size_t phase, Bytes chunk) const {
  return rates_[phase].latency + chunk.si() * rates_[phase].inverse_rate;
}

TransferCosts RecurrenceClock::costs_of_all(std::size_t phase, Bytes chunk) const {
  TransferCosts of_classes = costs(phase, chunk);
  if (!folding_) return of_classes;
  const std::vector<int>& classes = folding_->class_of_transfer[phase];
  TransferCosts result(static_cast<Eigen::Index>(classes.size()));
  for (std::size_t t = 0; t < classes.size(); ++t) result[static_cast<Eigen::Index>(t)] = of_classes[classes[t]];
  return result;
}

RankTimes RecurrenceClock::finish(Bytes size, const RankTimes& start) {
  const Bytes chunk = ChunkSizes(size, routed_.schedule().chunks).largest();
  const bool by_class = folding_ && (start == start[0]).all();
  const Schedule& schedule = by_class ? folding_->quotient.schedule() : routed_.schedule();
  RankTimes moments = by_class ? folding_->of_classes(start) : start;
  for (std::size_t phase = 0; phase < rates_.size(); ++phase) {
    carry(moments, schedule.phases[phase], by_class ? costs(phase, chunk) : costs_of_all(phase, chunk));
  }
  return by_class ? folding_->of_ranks(moments) : moments;
}

}  // namespace farandole
