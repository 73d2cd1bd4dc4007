#include "collective/algorithms/reduce_broadcast.hpp"

#include "collective/algorithms/binomial.hpp"
#include "collective/algorithms/blank.hpp"

namespace farandole {

Schedule reduce_broadcast_allreduce(const Shape& shape) {
  Schedule schedule = blank(Operation::allreduce, "reduce_broadcast", shape, 1);
  schedule.phases = binomial_reduce_phases(shape);
  for (Phase& phase : binomial_broadcast_phases(shape)) schedule.phases.push_back(std::move(phase));
  return schedule;
}

}  // namespace farandole
