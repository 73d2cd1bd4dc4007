#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
namespace {

struct Grid {
  int width;
  int lines;
  [[nodiscard]] int rank(int x, int y) const { return (y % lines) * width + x % width; }
  [[nodiscard]] Chunk chunk(int row, int column) const { return Chunk(wrap(row, width)) * lines + wrap(column, lines); }
};

/// Single chunks of the column's own row travel to the next line.
Phase along_columns(const Grid& grid, const char* name, int first, Action action) {
  Phase phase{name, {}, grid.lines - 1, -1};
  for (int y = 0; y < grid.lines; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      phase.transfers.push_back({grid.rank(x, y), grid.rank(x, y + 1), grid.chunk(x, y + first), action});
    }
  }
  return phase;
}

}  // namespace

/// Whole rows of chunks travel to the next column of the line.
Phase line_phase(const Shape& shape, int width, int columns, Action action) {
  const Grid grid{width, shape.ranks / width};
  const bool reduces = action == Action::reduce;
  Phase phase{reduces ? "reduce_scatter_in_line" : "allgather_in_line", {}, width - 1};
  phase.row_step = -1;
  for (int y = 0; y < grid.lines; ++y) {
    for (int x = 0; x < width; ++x) {
      const Chunk row = wrap(reduces ? x - 1 : x, width);
      phase.transfers.push_back({grid.rank(x, y), grid.rank(x + 1, y), row * columns, action, columns});
    }
  }
  return phase;
}

Schedule grid_rings(const std::string& algorithm, const Shape& shape, int width) {
  const Grid grid{width, shape.ranks / width};
  Schedule schedule = blank(Operation::allreduce, algorithm, shape, shape.ranks, width);
  if (grid.width > 1) schedule.phases.push_back(line_phase(shape, width, grid.lines, Action::reduce));
  if (grid.lines > 1) {
    schedule.phases.push_back(along_columns(grid, "reduce_scatter_across", -1, Action::reduce));
    schedule.phases.push_back(along_columns(grid, "allgather_across", 0, Action::copy));
  }
  if (grid.width > 1) schedule.phases.push_back(line_phase(shape, width, grid.lines, Action::copy));
  return schedule;
}

static int width_of(const Shape& shape) {
  if (shape.ranks_per_node > 1 && shape.ranks % shape.ranks_per_node == 0) return shape.ranks_per_node;
  int width = 1;
  for (int divisor = 1; divisor * divisor <= shape.ranks; ++divisor) {
    if (shape.ranks % divisor == 0) width = divisor;
  }
  return width;
}

Schedule torus_allreduce(const Shape& shape) {
  return grid_rings("torus", shape, width_of(shape));
}

}}  // namespace farandole::collective
