// Schedules that pass chunks round rings and along chains: of all ranks, of segments, of nodes, of a grid.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole { inline namespace collective {

// Rings: n-1 rounds of reduce-scatter, n-1 rounds of allgather, or one after the other, always to the next rank.
//
// In round i of a reduce-scatter rank r sends segment (r - i - 1) mod n and the receiver adds it; in round i of an
// allgather it sends segment (r - i) mod n and the receiver takes it over. After the first rank r owns segment r. Each
// rank of an allreduce sends 2 (n-1)/n of the data, the least any can (Patarasuk and Yuan, JPDC 69(2), 2009).

Schedule ring_allreduce(const Shape& shape);
Schedule ring_reduce_scatter(const Shape& shape);
Schedule ring_allgather(const Shape& shape);

Phase ring_allgather_phase(int ranks);

// The ring that does not cut: every rank passes whole arrays on, and adds what comes by to its own.
//
// In the first round a rank sends its own array to the next one, in every later round what it has just received; after
// n-1 rounds it has seen everybody's. Each round carries all the data, n/2 times what the ring of segments sends. Every
// rank keeps two copies: chunk 0 is its sum, chunk 1 what it passes on. It is what Osipov, "Distributed Gradient
// Descent with Horovod" (github.com/osipov/smlbook), calls plain all-gather and holds the ring of segments against.

Schedule plain_ring_allreduce(const Shape& shape);

// The ring with its reduce-scatter done segment by segment, as Open MPI does it for large arrays.
//
// Every rank's block is cut into `segments` parts (4 by default). The reduce-scatter goes once around the ring for each
// part, so that the sums of one can overlap the sending of the next; the allgather sends whole blocks. Source:
// ompi_coll_base_allreduce_intra_ring_segmented, ompi/mca/coll/base/coll_base_allreduce.c of github.com/open-mpi/ompi.

Schedule segmented_ring_allreduce(const Shape& shape);

// Chains: from rank to rank in order, once around.
//
// Broadcast: the root sends segment after segment to the next rank, which passes each on; 8 segments by default.
// Source: ompi_coll_base_bcast_intra_pipeline, ompi/mca/coll/base/coll_base_bcast.c of github.com/open-mpi/ompi.
// Reduce: the rank after the root sends its array to the next one, which adds its own and passes the sum on, until it
// stands on the root; whole arrays unless segments are asked for. Source: the "all-gather" demonstration of Osipov,
// "Distributed Gradient Descent with Horovod" (github.com/osipov/smlbook), in which node 1 of 4 starts and the sum
// stands on node 0 after 3 iterations; in segments, ompi_coll_base_reduce_intra_pipeline.
// Both take segments + n - 2 rounds.

Schedule chain_broadcast(const Shape& shape);
Schedule chain_reduce(const Shape& shape);

// Neighbour-exchange allgather: pairs of ranks exchange, then each with its neighbour on the other side, and so on.
//
// For even n: one block in the first round, two in each of the n/2 - 1 that follow, always those that came last. An odd
// number of ranks makes a ring, as in Open MPI. Holds n^2 / 2 transfers. Source: Chen et al., "Performance evaluation
// of allgather algorithms on terascale Linux cluster with fast Ethernet", HPC Asia 2005;
// ompi_coll_base_allgather_intra_neighborexchange of github.com/open-mpi/ompi.

Schedule neighbor_exchange_allgather(const Shape& shape);

// Rings along the two sides of a grid of ranks: what the hierarchical ring and the torus share.
//
// Rank y * width + x sits in column x of line y. The data is cut into `width` rows of `lines` chunks. Reduce-scatter
// along each line leaves row x with column x; an allreduce of that row around each column's ring; allgather along each
// line. Each rank sends 2 (n-1)/n of the data, as in one ring, in 2 (width + lines - 2) rounds instead of 2 (n-1).

/// `width` must divide the number of ranks.
Schedule grid_rings(const std::string& algorithm, const Shape& shape, int width);

/// The rings along the lines alone, over rows of `columns` chunks: reduced, so that the rank in column x has row x
/// summed up, or copied on from there.
Phase line_phase(const Shape& shape, int width, int columns, Action action);

// Allreduce on a two-dimensional torus: rings along the lines, then around the columns, then along the lines.
//
// A line is a node's ranks where they divide the number of ranks, else the grid is as nearly square as it can be; a
// prime number of ranks makes one ring. Source: Mikami et al., "Massively distributed SGD: ImageNet/ResNet-50 training
// in a flash", arXiv:1811.05233, section 2.2.

Schedule torus_allreduce(const Shape& shape);

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

Schedule hierarchical_allreduce(const Shape& shape);
Schedule hierarchical_allgather(const Shape& shape);

}}  // namespace farandole::collective
