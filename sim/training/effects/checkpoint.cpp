#include "training/effects/failures.hpp"

namespace farandole { inline namespace training {

Seconds Checkpoint::writing() const {
  return latency + size / std::min({rate * writers, node_bandwidth * nodes, storage_bandwidth});
}

double Checkpoint::per_iteration(Seconds iteration) const {
  return iteration / interval(iteration);
}

Seconds Checkpoint::interval(Seconds iteration) const {
  return every ? *every : iteration * every_steps.value_or(1);
}

}}  // namespace farandole::training
