// Hierarchical allreduce: within the node, between the nodes, within the node, as HOROVOD_HIERARCHICAL_ALLREDUCE does.
//
// Nodes of equal size: reduce-scatter within each node, an allreduce (here: a ring) between the ranks of equal local
// rank, allgather within each node. Otherwise: a reduce to the first rank of each node, a ring between those, and a
// broadcast within each node (both binomial here). Source: NCCLHierarchicalAllreduce::Execute,
// horovod/common/ops/nccl_operations.cc of github.com/horovod/horovod, which tells the two cases apart as
// `is_homogeneous`.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule hierarchical_allreduce(const Shape& shape);

}  // namespace farandole
