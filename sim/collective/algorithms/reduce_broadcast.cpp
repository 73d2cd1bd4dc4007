#include <algorithm>
#include <iterator>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

Schedule reduced_then(const char* algorithm, const Shape& shape, std::vector<Phase> broadcast) {
  Schedule schedule = blank(Operation::allreduce, algorithm, shape, 1);
  schedule.phases = binomial_reduce_phases(shape);
  std::ranges::move(broadcast, std::back_inserter(schedule.phases));
  return schedule;
}

}  // namespace

Schedule reduce_broadcast_allreduce(const Shape& shape) {
  return reduced_then("reduce_broadcast", shape, binomial_broadcast_phases(shape));
}

Schedule reduce_binary_allreduce(const Shape& shape) {
  return reduced_then("reduce_binary", shape, binary_broadcast(shape).phases);
}

Schedule reduce_direct_allreduce(const Shape& shape) {
  return reduced_then("reduce_direct", shape, direct_broadcast(shape).phases);
}

Schedule reduce_knomial_allreduce(const Shape& shape) {
  return reduced_then("reduce_knomial", shape, knomial_broadcast(shape).phases);
}

}}  // namespace farandole::collective
