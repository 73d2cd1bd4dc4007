// Where every algorithm begins: a schedule without phases, and modular arithmetic on ranks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "collective/algorithms.hpp"
#include "units/count.hpp"

namespace farandole { inline namespace collective {

/// Takes ranks, root and weights from the shape. Throws std::invalid_argument for weights that are not one for each
/// chunk, or on an operation whose ranks all contribute alike.
Schedule blank(Operation operation, const std::string& algorithm, const Shape& shape, Chunk chunks, int rows = 1);

/// As many chunks as ranks, in these phases; of one rank none.
inline Schedule by_ranks(Operation operation, const std::string& algorithm, const Shape& shape,
                         std::vector<Phase> phases) {
  Schedule schedule = blank(operation, algorithm, shape, shape.ranks);
  if (shape.ranks > 1) schedule.phases = std::move(phases);
  return schedule;
}

/// value mod ranks, from 0 to ranks - 1 for negative values too.
inline int wrap(int value, int ranks) {
  return ((value % ranks) + ranks) % ranks;
}

/// The count as a number of repeats; std::invalid_argument where it is none that a phase can have.
int repeats_of(Count count);

}}  // namespace farandole::collective
