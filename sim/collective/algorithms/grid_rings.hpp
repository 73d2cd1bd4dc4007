// Rings along the two sides of a grid of ranks: what the hierarchical ring and the torus share.
//
// Rank y * width + x sits in column x of line y. The data is cut into `width` rows of `lines` chunks. Reduce-scatter
// along each line leaves row x with column x; an allreduce of that row around each column's ring; allgather along each
// line. Each rank sends 2 (n-1)/n of the data, as in one ring, in 2 (width + lines - 2) rounds instead of 2 (n-1).
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

/// `width` must divide the number of ranks.
Schedule grid_rings(const std::string& algorithm, const Shape& shape, int width);

/// The rings along the lines alone, over rows of `columns` chunks: reduced, so that the rank in column x has row x
/// summed up, or copied on from there.
Phase line_phase(const Shape& shape, int width, int columns, Action action);

}  // namespace farandole
