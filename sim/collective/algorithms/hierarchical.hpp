// Hierarchical allreduce: within the node, between the nodes, within the node, as HOROVOD_HIERARCHICAL_ALLREDUCE does.
//
// Nodes of equal size: reduce-scatter within each node, an allreduce (here: a ring) between the ranks of equal local
// rank, allgather within each node. Otherwise: a reduce to the first rank of each node, a ring between those, and a
// broadcast within each node (both binomial here). Source: NCCLHierarchicalAllreduce::Execute,
// horovod/common/ops/nccl_operations.cc of github.com/horovod/horovod, which tells the two cases apart as
// `is_homogeneous`.
//
// Hierarchical allgather, as HOROVOD_HIERARCHICAL_ALLGATHER does (MPIHierarchicalAllgather::Execute, mpi_operations.cc
// there). Nodes of equal size: every local rank gathers the blocks of its like on all nodes, then those of its node;
// Horovod's node has them in shared memory, here they go around a ring within the node. Otherwise leaders gather for
// their nodes.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule hierarchical_allreduce(const Shape& shape);
Schedule hierarchical_allgather(const Shape& shape);

}  // namespace farandole
