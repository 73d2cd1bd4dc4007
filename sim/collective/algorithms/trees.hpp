// Schedules over trees: binomial ones in either order, by nodes, two at once, and what is made of a tree there and
// back.
#pragma once

#include <vector>

#include "collective/algorithms.hpp"

namespace farandole { inline namespace collective {

// The two trees of NCCL's double binary tree.
//
// The first alternates leaves and inner ranks, so that every odd rank is a leaf; the second is the first mirrored (an
// even number of ranks) or shifted by one (an odd number), so that no rank but one is an inner rank of both. Sources:
// ncclGetBtree and ncclGetDtree, src/graph/trees.cc of github.com/NVIDIA/nccl; Sanders, Speck and Traeff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009.

struct Tree {
  std::vector<int> parent;  // -1 at the root
  std::vector<int> depth;   // 0 at the root
  std::vector<int> height;  // 0 at the leaves
  int root = 0;
};

/// The tree in which every rank has that parent, and the root -1.
Tree tree_of(std::vector<int> parents);

enum class WhichTree { first, second };

Tree nccl_tree(int ranks, WhichTree which);

// Binomial trees from and to a root: in ceil(log2 n) rounds the number of ranks that take part doubles or halves.
//
// Ranks are counted from the root on. Down: at distance n/2, n/4, ..., 1 every rank that is in sends to the one that
// far ahead; up: the same backwards. Scatter and gather carry the blocks of the whole subtree. Sources: MPICH's
// src/mpi/coll/{bcast,reduce,scatter,gather}/*_intra_binomial.c; Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005.
// Open MPI's reduce, gather and scatter are the same (ompi_coll_base_topo_build_in_order_bmtree).
//
// The other order is Open MPI's broadcast, `binomial_nearest_first`: at distance 1, 2, 4, ... every rank that is in
// sends to the one that far ahead, so a rank's first child is its nearest (ompi_coll_base_topo_build_bmtree,
// ompi/mca/coll/base/coll_base_topo.c of github.com/open-mpi/ompi); and the same backwards, `binomial_farthest_first`,
// as a reduce. Of n ranks, k on each node, n and k powers of two, n/k - 1 messages cross between nodes in the first
// order and n - k in the second. Open MPI hands a rank's messages over in this order without waiting for each; here one
// follows the other, as they do through one link.

Schedule binomial_broadcast(const Shape& shape);
Schedule nearest_first_broadcast(const Shape& shape);
Schedule binomial_reduce(const Shape& shape);
Schedule farthest_first_reduce(const Shape& shape);
Schedule binomial_scatter(const Shape& shape);
Schedule binomial_gather(const Shape& shape);

/// The phases, for algorithms composed of them: of the whole array in one chunk, or of one block for each rank.
std::vector<Phase> binomial_broadcast_phases(const Shape& shape);
std::vector<Phase> binomial_reduce_phases(const Shape& shape);
std::vector<Phase> binomial_scatter_phases(const Shape& shape);

// Broadcasts and reduces along trees whose ranks pass the whole array on to all of their children at once.
//
// Direct: the root to everybody, or everybody to the root. Binary: two children each, level by level. K-nomial: a
// binomial tree of radix 4. One phase per level. Split binary: half of the array down either side of the binary tree,
// then every rank exchanges its half with one of the other side (ompi_coll_base_bcast_intra_split_bintree). Source:
// ompi_coll_base_topo_build_tree and ..._build_kmtree, ompi/mca/coll/base/coll_base_topo.c of github.com/open-mpi/ompi,
// whose knomial broadcast has radix 4.

Schedule direct_broadcast(const Shape& shape);
Schedule direct_reduce(const Shape& shape);
Schedule binary_broadcast(const Shape& shape);
Schedule binary_reduce(const Shape& shape);
Schedule split_binary_broadcast(const Shape& shape);
Schedule knomial_broadcast(const Shape& shape);

// Double binary tree: two trees, each for half of the data, pipelined in segments.
//
// Allreduce: each half is summed up its tree and broadcast down it; a segment is on its way down while later ones still
// come up. The roots are rank 0 and its counterpart. Broadcast: the trees span all ranks but the root, which feeds
// both. `segments` is per tree (8 by default). The trees and their sources: above.

Schedule double_tree_allreduce(const Shape& shape);
Schedule double_tree_broadcast(const Shape& shape);

/// The allreduce along any two trees of all ranks.
Schedule two_tree_allreduce(const std::string& algorithm, const Shape& shape, const Tree& first, const Tree& second);

// Allreduce along NCCL's trees: a chain through each node's ranks, the nodes' first ranks on a double binary tree.
//
// Two trees, each for half of the data, pipelined in segments as in the double tree; they differ between
// nodes and are one chain inside. On a single node both are that chain. `segments` is per tree (8 by default). Sources:
// connectTrees and ncclTopoPreset, src/graph/connect.cc of github.com/NVIDIA/nccl.

Schedule node_tree_allreduce(const Shape& shape);

// Allreduce as a reduce to one rank and a broadcast from it; every round carries the whole array.
//
// The reduce is along a binomial tree, and so is the broadcast of `reduce_broadcast`; of the others it is along a
// binary tree, from the root to everybody, or along a 4-nomial tree. Open MPI's "nonoverlapping"
// (ompi_coll_base_allreduce_intra_nonoverlapping) calls MPI_Reduce and MPI_Bcast, which choose by size and ranks: a
// binomial reduce, and one of the three others.

Schedule reduce_broadcast_allreduce(const Shape& shape);
Schedule reduce_binary_allreduce(const Shape& shape);
Schedule reduce_direct_allreduce(const Shape& shape);
Schedule reduce_knomial_allreduce(const Shape& shape);

// Broadcast of long arrays: a binomial scatter, then a ring allgather.
//
// Each rank sends about twice the array at most, whatever their number. Sources: Barnett et al., "Interprocessor
// collective communication library (InterCom)", SHPCC 1994 (van de Geijn's algorithm); Thakur, Rabenseifner and Gropp,
// IJHPCA 19(1), 2005, section 4.2.

Schedule scatter_allgather_broadcast(const Shape& shape);

}}  // namespace farandole::collective
