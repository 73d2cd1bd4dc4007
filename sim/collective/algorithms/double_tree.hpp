// Double binary tree: two trees, each for half of the data, pipelined in segments.
//
// Allreduce: each half is summed up its tree and broadcast down it; a segment is on its way down while later ones still
// come up. The roots are rank 0 and its counterpart. Broadcast: the trees span all ranks but the root, which feeds
// both. `segments` is per tree (8 by default). The trees and their sources: algorithms/tree.hpp.
#pragma once

#include "collective/algorithms.hpp"
#include "collective/algorithms/tree.hpp"

namespace farandole {

Schedule double_tree_allreduce(const Shape& shape);
Schedule double_tree_broadcast(const Shape& shape);

/// The allreduce along any two trees of all ranks.
Schedule two_tree_allreduce(const std::string& algorithm, const Shape& shape, const Tree& first, const Tree& second);

}  // namespace farandole
