#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"
#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {

Schedule scatter_allgather_broadcast(const Shape& shape) {
  Schedule schedule = blank(Operation::broadcast, "scatter_allgather", shape, shape.ranks);
  if (shape.ranks == 1) return schedule;
  schedule.phases = binomial_scatter_phases(shape);
  schedule.phases.push_back(ring_allgather_phase(shape.ranks));
  return schedule;
}

}}  // namespace farandole::collective
