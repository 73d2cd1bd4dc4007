#include <algorithm>
#include <iterator>
#include <utility>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/rings.hpp"
#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

void append_phases(Schedule& schedule, std::vector<Phase> phases) {
  std::ranges::move(phases, std::back_inserter(schedule.phases));
}

}  // namespace

Schedule scatter_doubling_broadcast(const Shape& shape) {
  Schedule schedule = blank(Operation::broadcast, "scatter_doubling", shape, shape.ranks);
  if (shape.ranks == 1) return schedule;
  append_phases(schedule, binomial_scatter_phases(shape));
  append_phases(schedule, recursive_doubling_allgather(Shape(shape.ranks)).phases);
  return schedule;
}

Schedule scatter_gather_reduce(const Shape& shape) {
  Schedule schedule = blank(Operation::reduce, "scatter_gather", shape, shape.ranks);
  if (shape.ranks == 1) return schedule;
  append_phases(schedule, recursive_halving_reduce_scatter(Shape(shape.ranks)).phases);
  append_phases(schedule, binomial_gather(Shape(shape.ranks, shape.root)).phases);
  return schedule;
}

Schedule reduce_then_scatter(const Shape& shape) {
  Schedule schedule = blank(Operation::reduce_scatter, "reduce_then_scatter", shape, shape.ranks);
  const Shape rooted(shape.ranks);
  append_phases(schedule, binomial_reduce_phases(rooted));
  for (Phase& phase : schedule.phases) {
    for (Transfer& transfer : phase.transfers) transfer.count = shape.ranks;
  }
  append_phases(schedule, binomial_scatter_phases(rooted));
  return schedule;
}

Schedule scatter_allgather_broadcast(const Shape& shape) {
  Schedule schedule = blank(Operation::broadcast, "scatter_allgather", shape, shape.ranks);
  if (shape.ranks == 1) return schedule;
  schedule.phases = binomial_scatter_phases(shape);
  schedule.phases.push_back(ring_allgather_phase(shape.ranks));
  return schedule;
}

namespace {

Schedule reduced_then(const char* algorithm, const Shape& shape, std::vector<Phase> broadcast) {
  Schedule schedule = blank(Operation::allreduce, algorithm, shape, 1);
  schedule.phases = binomial_reduce_phases(shape);
  append_phases(schedule, std::move(broadcast));
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
