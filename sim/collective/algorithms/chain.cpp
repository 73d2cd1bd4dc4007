#include "collective/algorithms/chain.hpp"

#include "collective/algorithms/blank.hpp"

namespace farandole {

Schedule chain_broadcast(const Shape& shape) {
  const int segments = shape.segments > 0 ? shape.segments : 8;
  Schedule schedule = blank(Operation::broadcast, "chain", shape, segments);
  if (shape.ranks == 1) return schedule;
  Phase phase{"chain", {}, segments + shape.ranks - 2, 1};
  phase.window = segments;
  for (int hop = 0; hop + 1 < shape.ranks; ++hop) {
    const int from = (shape.root + hop) % shape.ranks;
    phase.transfers.push_back({from, (from + 1) % shape.ranks, 0, Action::copy, 1, hop});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

}  // namespace farandole
