#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"

namespace farandole { inline namespace collective {

Schedule dissemination_barrier(const Shape& shape) {
  Schedule schedule = blank(Operation::barrier, "dissemination", shape, 1);
  for (int distance = 1; distance < shape.ranks; distance *= 2) {
    Phase phase{"tell", {}};
    for (int rank = 0; rank < shape.ranks; ++rank) {
      phase.transfers.push_back({rank, (rank + distance) % shape.ranks, 0, Action::reduce});
    }
    schedule.phases.push_back(std::move(phase));
  }
  return schedule;
}

}}  // namespace farandole::collective
