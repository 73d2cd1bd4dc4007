#include "collective/algorithms/grid_rings.hpp"

#include "collective/algorithms/blank.hpp"

namespace farandole {
namespace {

struct Grid {
  int width;
  int lines;
  [[nodiscard]] int rank(int x, int y) const { return (y % lines) * width + x % width; }
  [[nodiscard]] Chunk chunk(int row, int column) const { return Chunk(wrap(row, width)) * lines + wrap(column, lines); }
};

/// Whole rows of chunks travel to the next column of the line.
Phase along_lines(const Grid& grid, const char* name, int first, Action action) {
  Phase phase{name, {}, grid.width - 1};
  phase.row_step = -1;
  for (int y = 0; y < grid.lines; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      phase.transfers.push_back({grid.rank(x, y), grid.rank(x + 1, y), grid.chunk(x + first, 0), action, grid.lines});
    }
  }
  return phase;
}

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

Schedule grid_rings(const std::string& algorithm, const Shape& shape, int width) {
  const Grid grid{width, shape.ranks / width};
  Schedule schedule = blank(Operation::allreduce, algorithm, shape, shape.ranks, width);
  if (grid.width > 1) schedule.phases.push_back(along_lines(grid, "reduce_scatter_in_line", -1, Action::reduce));
  if (grid.lines > 1) {
    schedule.phases.push_back(along_columns(grid, "reduce_scatter_across", -1, Action::reduce));
    schedule.phases.push_back(along_columns(grid, "allgather_across", 0, Action::copy));
  }
  if (grid.width > 1) schedule.phases.push_back(along_lines(grid, "allgather_in_line", 0, Action::copy));
  return schedule;
}

}  // namespace farandole
