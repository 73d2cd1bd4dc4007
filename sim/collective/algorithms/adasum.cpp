#include <algorithm>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/folded_ranks.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Ranks as a grid: lines are nodes, columns local ranks. A column holds `folded.members()` chunks of each row.
struct Columns {
  int width;
  FoldedRanks folded;  // of the lines
  [[nodiscard]] int rank(int x, int line) const { return line * width + x; }
  [[nodiscard]] int blocks() const { return folded.members(); }
};

/// Whole rows between the lines that are beyond a power of two and their neighbours.
void fold(const Columns& grid, std::vector<Phase>& phases, bool back) {
  if (grid.folded.extra() == 0) return;
  Phase phase{back ? "unfold" : "fold", {}};
  for (int pair = 0; pair < grid.folded.extra(); ++pair) {
    for (int x = 0; x < grid.width; ++x) {
      const int lower = grid.rank(x, 2 * pair);
      const int upper = grid.rank(x, 2 * pair + 1);
      phase.transfers.push_back({back ? upper : lower, back ? lower : upper, Chunk(x) * grid.blocks(),
                                 back ? Action::copy : Action::reduce, grid.blocks()});
    }
  }
  phases.push_back(std::move(phase));
}

/// Members `distance` apart send each other the half of what they both hold that is the other's, or give theirs back.
Phase exchange(const Columns& grid, int distance, Action action) {
  Phase phase{action == Action::reduce ? "halving" : "doubling", {}};
  for (int member = 0; member < grid.blocks(); ++member) {
    const int partner = member ^ distance;
    const FoldedRanks::Window part = grid.folded.window(action == Action::reduce ? partner : member, 2 * distance);
    for (int x = 0; x < grid.width; ++x) {
      phase.transfers.push_back({grid.rank(x, grid.folded.rank_of(member)), grid.rank(x, grid.folded.rank_of(partner)),
                                 Chunk(x) * grid.blocks() + part.first, action, part.count});
    }
  }
  return phase;
}

Schedule adasum(const std::string& name, const Shape& shape, int width) {
  const Columns grid{width, FoldedRanks(shape.ranks / width)};
  Schedule schedule = blank(Operation::allreduce, name, shape, Chunk(width) * grid.blocks(), width);
  const bool within = width > 1;
  if (within) schedule.phases.push_back(line_phase(shape, width, grid.blocks(), Action::reduce));
  fold(grid, schedule.phases, false);
  for (int distance = 1; distance < grid.blocks(); distance *= 2) {
    schedule.phases.push_back(exchange(grid, distance, Action::reduce));
  }
  for (int distance = grid.blocks() / 2; distance >= 1; distance /= 2) {
    schedule.phases.push_back(exchange(grid, distance, Action::copy));
  }
  fold(grid, schedule.phases, true);
  if (within) schedule.phases.push_back(line_phase(shape, width, grid.blocks(), Action::copy));
  return schedule;
}

}  // namespace

Schedule adasum_allreduce(const Shape& shape) {
  return adasum("adasum", shape, 1);
}

Schedule hierarchical_adasum_allreduce(const Shape& shape) {
  const int per_node = std::clamp(shape.ranks_per_node, 1, shape.ranks);
  return adasum("hierarchical_adasum", shape, shape.ranks % per_node == 0 ? per_node : 1);
}

}}  // namespace farandole::collective
