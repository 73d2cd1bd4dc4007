#include "collective/algorithms/blank.hpp"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace farandole { inline namespace collective {
namespace {

bool takes_weights(Operation operation) {
  return operation == Operation::reduce_scatter || operation == Operation::allgather ||
         operation == Operation::gather || operation == Operation::scatter || operation == Operation::alltoall;
}

}  // namespace

Schedule blank(Operation operation, const std::string& algorithm, const Shape& shape, Chunk chunks, int rows) {
  Schedule schedule{operation, algorithm, shape.ranks, chunks, {}, rows, shape.root, shape.weights};
  const auto weights = static_cast<Chunk>(shape.weights.size());
  if (weights > 0 && (!takes_weights(operation) || weights != chunks)) {
    throw std::invalid_argument(fmt::format("{} {} of {} ranks takes {} weights, not {}", algorithm, name(operation),
                                            shape.ranks, takes_weights(operation) ? chunks : 0, weights));
  }
  return schedule;
}

int repeats_of(Count count) {
  if (count <= std::numeric_limits<int>::max()) return static_cast<int>(count.number());
  throw std::invalid_argument(fmt::format("{} repeats of a phase", count.number()));
}

}}  // namespace farandole::collective
