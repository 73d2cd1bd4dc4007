// Schedules of pairs that exchange: at doubling distances, everybody with everybody, and with servers.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole { inline namespace collective {

// Adasum's allreduce: halves exchanged at distance 1, 2, 4, ... and combined, then the way back.
//
// What is combined is not a sum. Of two gradients a and b of one tensor it makes
//
//   (1 - a.b / (2 a.a)) a  +  (1 - a.b / (2 b.b)) b
//
// the sum where they are orthogonal, the mean where they are parallel (Maleki et al., "Scaling Distributed Training
// with Adaptive Summation", MLSys 2021). That commutes but does not associate, so it is not enough that every
// contribution is in every chunk once: all chunks of all ranks must be combined by the same tree, neighbours first.
// tests/collective/adasum_test.cpp proves both. The products run over whole tensors; their allreduces, 24 bytes a
// tensor in every round, are not part of the schedule: they depend on tensors, which a schedule does not know. The
// strategy that uses it charges them (training/fusion.hpp).
//
// `adasum` is the flat one, vector halving with distance doubling, of horovod/common/ops/adasum/adasum.h
// (github.com/horovod/horovod); ranks beyond a power of two are combined with their neighbour first, which Horovod
// refuses. `hierarchical_adasum` is that of adasum_gpu_operations.cc: plain sums within a node, reduce-scatter and
// allgather, and Adasum between ranks of equal local rank. Where nodes are not of equal size it is the flat one.

Schedule adasum_allreduce(const Shape& shape);
Schedule hierarchical_adasum_allreduce(const Shape& shape);

// Bruck's algorithms: ceil(log2 n) rounds for any n, at distance 1, 2, 4, ...
//
// Allgather: rank r sends all it holds, its own block and those that follow, to rank r - distance. Alltoall: a block
// that must travel d ranks on travels distance 2^k in round k where bit k of d is set; each rank sends about half of
// its data in every round. Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", IEEE TPDS 8(11), 1997.

Schedule bruck_allgather(const Shape& shape);
Schedule bruck_alltoall(const Shape& shape);

// A reduce-scatter whose halves go to distance 1, 2, 4, ...; a last round brings the blocks to their ranks.
//
// After the halving a member holds the block whose number is its own with the bits reversed, and sends it to that
// member; where a member stands for two ranks, each gets its own. Of n ranks, a power of two: log2 n + 1 rounds,
// (n-1)/n of the data and, but for ranks that are their own mirror image, one block more. Sources:
// ompi_coll_base_reduce_scatter_intra_butterfly, ompi/mca/coll/base/coll_base_reduce_scatter.c of
// github.com/open-mpi/ompi; Traeff, "An improved algorithm for (non-commutative) reduce-scatter with an application",
// EuroPVM/MPI 2005.

Schedule butterfly_reduce_scatter(const Shape& shape);

// Operations done as two others, one after the other, as the MPI libraries do them.
//
// Broadcast: a binomial scatter, then a recursive-doubling allgather. Reduce: a recursive-halving reduce-scatter, then
// a binomial gather (Rabenseifner). Reduce-scatter: a binomial reduce, then a binomial scatter ("non-overlapping").
// Sources: Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, sections 4.2 and 4.4;
// ompi_coll_base_reduce_scatter_intra_ nonoverlapping of github.com/open-mpi/ompi.

Schedule scatter_doubling_broadcast(const Shape& shape);
Schedule scatter_gather_reduce(const Shape& shape);
Schedule reduce_then_scatter(const Shape& shape);

// Direct: everybody sends to everybody at once, in one round.
//
// Reduce-scatter: each rank sends every other its block. Allgather: each rank sends its block to every other.
// Allreduce: one after the other. Alltoall: all blocks to where they belong. Least rounds, most messages at a time.
// Source of the last: "linear", ompi_coll_base_alltoall_intra_basic_linear of github.com/open-mpi/ompi; of the first
// two: "direct" in Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
// experience", 2007.

Schedule direct_allreduce(const Shape& shape);
Schedule direct_reduce_scatter(const Shape& shape);
Schedule direct_allgather(const Shape& shape);
Schedule direct_alltoall(const Shape& shape);

// Dissemination barrier: in round k every rank tells the one 2^k ahead that it, and all it has heard of, are there.
//
// ceil(log2 n) rounds for any n. Each message carries the whole size that is asked for, a token. Source: Hensgen,
// Finkel and Manber, "Two algorithms for barrier synchronization", Int. J. of Parallel Programming 17(1), 1988.

Schedule dissemination_barrier(const Shape& shape);

// Rabenseifner's reduce in the order of the MPI libraries: halves at distance 1, 2, 4, ..., then a binomial gather to
// the root at n/2, ..., 1.
//
// Other numbers of ranks are folded onto a power of two, where the even rank of a pair stays, so that root 0 does. A
// root that does not stay gets the first member's block after the halving and gathers in its place. Where n is a power
// of two every rank sends (n-1)/n of the data to be summed and the root receives as much: 2 log2 n rounds. Source:
// MPIR_Reduce_intra_reduce_scatter_gather, src/mpi/coll/reduce/ of github.com/pmodels/mpich.

Schedule doubling_gather_reduce(const Shape& shape);

// Recursive halving: in log2 n rounds every rank sends half of what it still holds to one at a distance that halves or
// doubles from round to round.
//
// Reduce-scatter: the halving alone. Allreduce: halving, then doubling gathers what it scattered; Rabenseifner's
// algorithm, 2 (n-1)/n of the data sent by each rank in 2 log2 n rounds. Other numbers of ranks are folded onto a power
// of two (folded_ranks.hpp). Sources: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004;
// Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.
//
// `halving_doubling` sends halves to distance n/2, n/4, ..., 1 and gathers at 1, 2, ...: the textbook's figure, and the
// order of MPICH's and Open MPI's recursive-halving reduce-scatter. `doubling_halving` sends them to distance 1, 2,
// ..., n/2 and gathers at n/2, ..., 1: what both libraries run as an allreduce. Of n ranks, k on each node, n and k
// powers of two, a node's link carries each way
//
//   halving_doubling   2 k M (1 - k/n)        doubling_halving   2 M (1 - k/n)
//
// Sources: MPIR_Allreduce_intra_reduce_scatter_allgather, src/mpi/coll/allreduce/ of github.com/pmodels/mpich ("mask =
// 0x1; while (mask < pof2)"); ompi_coll_base_allreduce_intra_redscat_allgather, ompi/mca/coll/base/ of
// github.com/open-mpi/ompi, which differs where n is no power of two: even ranks stay, and pairs fold by halves
// (`doubling_halving_split`).

Schedule halving_doubling_allreduce(const Shape& shape);
Schedule doubling_halving_allreduce(const Shape& shape);
Schedule doubling_halving_split_allreduce(const Shape& shape);
Schedule recursive_halving_reduce_scatter(const Shape& shape);

// How finely a pipelined algorithm may be cut, for readers of what users ask for.

/// Pipelines of a gigabyte in pieces of 64 KiB have as many.
inline constexpr int most_segments = 1 << 14;
/// Of a segmented ring, whose phases are as many as its segments, with a transfer from every rank in each.
inline constexpr int most_blocks = 1 << 22;

// Pairwise: in round i rank r sends rank r + i + 1 its block and receives from rank r - i - 1.
//
// n-1 rounds, one block in each; a reduce-scatter adds what comes. Sources: ompi_coll_base_alltoall_intra_pairwise of
// github.com/open-mpi/ompi; MPIR_Reduce_scatter_intra_pairwise of github.com/pmodels/mpich.

Schedule pairwise_alltoall(const Shape& shape);
Schedule pairwise_reduce_scatter(const Shape& shape);

// Parameter servers: every worker pushes what it has to the servers, which add it up; every worker pulls the sums.
//
// The array is cut into one shard per server: evenly, or into the tensors that each server was given (Shape::shards,
// collective/tensor_placement.hpp). Ranks 0 .. servers-1 serve. Dedicated: they do nothing else, and the ranks after
// them work. Colocated: all ranks work, and what a rank pushes to itself costs nothing.
//
// Messages. A shard travels in one message; with `message_per_tensor`, in one for each of its tensors, one after the
// other, as over a gRPC channel. All shards travel at once; a server sends its shard back when the last push of it is
// in (and, colocated, when its own pushes are out). With `segments` above 1 a shard is cut into so many keys, as
// PS-Lite's: key k is pulled while key k+1 is pushed.
//
// Sources: Li et al., "Scaling distributed machine learning with the parameter server", OSDI 2014; for keys
// github.com/dmlc/ps-lite; for whole tensors collective/tensor_placement.hpp.

/// Throw std::invalid_argument for more servers than there may be, shards that are not one for each server, or a
/// message per tensor together with keys. One rank sends nothing.
Schedule dedicated_parameter_servers(const Shape& shape);  // 1 server unless the shape says more
Schedule colocated_parameter_servers(const Shape& shape);  // as many as ranks unless the shape says fewer
/// As dedicated; another name, under which the command line cuts shards into keys of a fixed size.
Schedule keyed_parameter_servers(const Shape& shape);

/// How many there may be: dedicated ones leave at least one worker; one rank is its own server.
int most_servers(int ranks, bool are_dedicated);

// Recursive doubling: in log2 n rounds every rank meets the one at distance 1, 2, 4, ... and both exchange all they
// have.
//
// Allreduce: the whole array every time, for short ones. Allgather: twice as many blocks every time. Other numbers of
// ranks are folded onto a power of two (folded_ranks.hpp). Source: Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005,
// sections 4.1 and 4.5.

Schedule recursive_doubling_allreduce(const Shape& shape);
Schedule recursive_doubling_allgather(const Shape& shape);

}}  // namespace farandole::collective
