// Schedules of nodes with several devices each, as oneCCL runs them on GPUs: everybody with everybody inside a node,
// and between nodes any algorithm, which each device runs with its counterparts on the other nodes.
//
//   allreduce        reduce-scatter inside, an allreduce of each device's part between nodes, allgather inside
//   reduce_scatter   reduce-scatter inside, then between nodes
//   allgather        between nodes, then inside
//   broadcast        from the root to its counterparts, then from each of them to its node
//   reduce           reduce-scatter inside, a reduce to the root's node, from whose devices the root gathers
//
// Inside, all messages of a step are sent at once. On one node that is the whole schedule. Source: allreduce_sycl.cpp,
// reduce_scatter_sycl.cpp, allgatherv_sycl.cpp and broadcast_sycl.cpp, src/coll/algorithms/*/sycl/ of
// github.com/uxlfoundation/oneCCL (2021.16); the reduce: ccl_coll_build_topo_reduce_fill, reduce.cpp of
// github.com/oneapi-src/oneCCL at 67e8291c80b9.
//
// Places. What blocks a rank has after a reduce-scatter or before an allgather goes by its number. A device's part is
// neighbouring chunks where its counterparts have neighbouring numbers; but receivers that move on from round to round
// (pairwise) count through all ranks, which takes numbers node by node.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole { inline namespace collective {

enum class Places : std::uint8_t {
  device_by_device,  // `across` must not move receivers
  node_by_node       // transfers of `across` must carry single chunks
};

/// `across` is what devices run between nodes: of one row, with the nodes for ranks and the root's node for its root.
/// `root_device`: the root's number in its node. Throws std::invalid_argument for what cannot be run so.
Schedule scaled_out(const Schedule& across, int devices, Places places, int root_device = 0);

/// Every rank sends all it has to everybody at once: one round, n-1 times the array from each. What oneCCL's kernel for
/// small allreduces in a node reads (`reduce_sum` of allreduce_small_sycl_impl.hpp, there).
Schedule one_shot_allreduce(const Shape& shape);

/// A reduce up two binary trees, half of the data on each, in one piece: `double_tree_broadcast` backwards.
Schedule double_tree_reduce(const Shape& shape);

}}  // namespace farandole::collective
