#include "learning/carrier.hpp"

namespace farandole { inline namespace learning {

const Schedule& Carrier::schedule_of(Operation operation) {
  const auto found = schedules_.find(operation);
  if (found != schedules_.end()) return found->second;
  return schedules_.emplace(operation, build_(operation)).first->second;
}

double Carrier::messages(Operation operation) {
  double sum = 0;
  for (const Phase& phase : schedule_of(operation).phases) {
    sum += static_cast<double>(transfers_per_round(phase)) * active_repeats(phase);
  }
  return sum;
}

}}  // namespace farandole::learning
