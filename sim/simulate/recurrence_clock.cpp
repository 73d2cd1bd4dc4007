#include "simulate/recurrence_clock.hpp"

namespace farandole {

const std::vector<TransferCosts>& RecurrenceClock::costs(Bytes size) {
  const auto found = known_.find(size);
  if (found != known_.end()) return found->second;
  std::vector<TransferCosts> phases;
  for (std::size_t phase = 0; phase < routed_.schedule().phases.size(); ++phase) {
    phases.push_back(cost_model_(routed_, phase, size));
  }
  return known_.emplace(size, std::move(phases)).first->second;
}

RankTimes RecurrenceClock::finish(Bytes size, const RankTimes& start) {
  RankTimes moments = start;
  const auto& phases = costs(size);
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    carry(moments, routed_.schedule().phases[phase], phases[phase]);
  }
  return moments;
}

}  // namespace farandole
