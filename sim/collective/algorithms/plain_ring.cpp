#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {

Schedule plain_ring_allreduce(const Shape& shape) {
  Schedule schedule = blank(Operation::allreduce, "plain_ring", shape, 2);
  schedule.copies = 2;
  if (shape.ranks == 1) return schedule;
  Phase phase{"pass_on", {}, shape.ranks - 1};
  for (int rank = 0; rank < shape.ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + 1) % shape.ranks, 1, Action::relay});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

}}  // namespace farandole::collective
