#include "collective/algorithms.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/rings.hpp"
#include "collective/algorithms/trees.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace collective {
namespace {

using enum Operation;

std::vector<Algorithm> allreduces_and_reduce_scatters() {
  return {
      {allreduce, "ring", "reduce-scatter, then allgather, both around one ring; bandwidth-optimal", ring_allreduce},
      {allreduce, "segmented_ring", "the ring, its reduce-scatter segment by segment", segmented_ring_allreduce},
      {allreduce, "hierarchical", "within the node, a ring between nodes, within the node", hierarchical_allreduce},
      {allreduce, "recursive_doubling", "all data exchanged at distance 1, 2, 4, ...", recursive_doubling_allreduce},
      {allreduce, "halving_doubling", "halves at distance n/2, n/4, ..., 1, and back (Rabenseifner)",
       halving_doubling_allreduce},
      {allreduce, "doubling_halving", "halves at distance 1, 2, 4, ..., and back (Rabenseifner in MPICH and Open MPI)",
       doubling_halving_allreduce},
      {allreduce, "doubling_halving_split", "the same; beyond a power of two, pairs fold by halves (Open MPI)",
       doubling_halving_split_allreduce},
      {allreduce, "double_tree", "half of the data up and down each of two binary trees (NCCL)", double_tree_allreduce},
      {allreduce, "node_tree", "a chain in every node, double binary trees between nodes (NCCL)", node_tree_allreduce},
      {allreduce, "torus", "rings along the lines and columns of a grid of ranks", torus_allreduce},
      {allreduce, "direct", "everybody sends everybody his block, then his sum", direct_allreduce},
      {allreduce, "reduce_broadcast", "a binomial reduce to one rank, then a broadcast", reduce_broadcast_allreduce},
      {allreduce, "reduce_binary", "a binomial reduce, then down a binary tree (Open MPI)", reduce_binary_allreduce},
      {allreduce, "reduce_direct", "a binomial reduce, then to everybody at once (Open MPI)", reduce_direct_allreduce},
      {allreduce, "reduce_knomial", "a binomial reduce, then down a 4-nomial tree (Open MPI)",
       reduce_knomial_allreduce},
      {allreduce, "plain_ring", "whole arrays passed on around a ring; every rank adds what comes by",
       plain_ring_allreduce},
      {allreduce, "adasum", "halves at distance 1, 2, 4, ..., combined by Adasum, and back (Horovod on CPUs)",
       adasum_allreduce},
      {allreduce, "hierarchical_adasum", "sums within the node, Adasum between nodes (Horovod on GPUs)",
       hierarchical_adasum_allreduce},
      {reduce_scatter, "ring", "once around one ring; bandwidth-optimal", ring_reduce_scatter},
      {reduce_scatter, "recursive_halving", "half of the rest at distance n/2, n/4, ...",
       recursive_halving_reduce_scatter},
      {reduce_scatter, "butterfly", "halves at distance 1, 2, 4, ..., then each block to its rank (Open MPI)",
       butterfly_reduce_scatter},
      {reduce_scatter, "direct", "everybody sends everybody his block at once", direct_reduce_scatter},
      {reduce_scatter, "pairwise", "in round i to the rank i + 1 ahead", pairwise_reduce_scatter},
      {reduce_scatter, "reduce_then_scatter", "a binomial reduce, then a binomial scatter", reduce_then_scatter},
  };
}

std::vector<Algorithm> all_others() {
  return {
      {allgather, "ring", "once around one ring", ring_allgather},
      {allgather, "recursive_doubling", "all that is held at distance 1, 2, 4, ...", recursive_doubling_allgather},
      {allgather, "bruck", "log2 n rounds for any number of ranks", bruck_allgather},
      {allgather, "direct", "everybody sends everybody its block at once", direct_allgather},
      {allgather, "neighbor_exchange", "two blocks to the neighbour on either side in turn",
       neighbor_exchange_allgather},
      {allgather, "hierarchical", "between nodes among equal local ranks, then within the node",
       hierarchical_allgather},
      {broadcast, "binomial", "the number of ranks that have it doubles; the farthest first (MPICH)",
       binomial_broadcast},
      {broadcast, "binomial_nearest_first", "the number of ranks that have it doubles; the nearest first (Open MPI)",
       nearest_first_broadcast},
      {broadcast, "chain", "segment after segment from rank to rank", chain_broadcast},
      {broadcast, "scatter_allgather", "a binomial scatter, then a ring (van de Geijn)", scatter_allgather_broadcast},
      {broadcast, "scatter_doubling", "a binomial scatter, then recursive doubling", scatter_doubling_broadcast},
      {broadcast, "direct", "the root sends to everybody at once", direct_broadcast},
      {broadcast, "binary", "down a binary tree", binary_broadcast},
      {broadcast, "split_binary", "half down either side of a binary tree, then exchanged (Open MPI)",
       split_binary_broadcast},
      {broadcast, "knomial", "down a 4-nomial tree", knomial_broadcast},
      {broadcast, "double_tree", "half of the data down each of two binary trees", double_tree_broadcast},
      {alltoall, "pairwise", "in round i to the rank i + 1 ahead", pairwise_alltoall},
      {alltoall, "direct", "everybody sends to everybody at once", direct_alltoall},
      {alltoall, "bruck", "log2 n rounds, half of the data in each", bruck_alltoall},
      {reduce, "binomial", "sums meet on the way to the root; the nearest first (MPICH, Open MPI)", binomial_reduce},
      {reduce, "binomial_farthest_first", "sums meet on the way to the root; the farthest first",
       farthest_first_reduce},
      {reduce, "chain", "the whole sum from rank to rank, once around to the root", chain_reduce},
      {reduce, "direct", "everybody sends to the root at once", direct_reduce},
      {reduce, "binary", "up a binary tree", binary_reduce},
      {reduce, "scatter_gather", "recursive halving, then a binomial gather (Rabenseifner)", scatter_gather_reduce},
      {reduce, "doubling_gather", "halves at distance 1, 2, 4, ..., then a binomial gather (Rabenseifner in MPICH)",
       doubling_gather_reduce},
      {gather, "binomial", "blocks meet on the way to the root", binomial_gather},
      {scatter, "binomial", "blocks part on the way from the root", binomial_scatter},
      {barrier, "dissemination", "tells the rank 1, 2, 4, ... ahead", dissemination_barrier},
      {parameter_server, "dedicated", "ranks 0 .. servers-1 only serve, the rest work; a message per shard",
       dedicated_parameter_servers},
      {parameter_server, "dedicated_keys", "the same in keys of 256 KiB, pulled as soon as they are summed (PS-Lite)",
       keyed_parameter_servers, 256_KiB},
      {parameter_server, "colocated", "every rank works, and ranks 0 .. servers-1 serve too",
       colocated_parameter_servers},
  };
}

std::vector<Algorithm> joined(std::vector<Algorithm> rows, const std::vector<Algorithm>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> rows = joined(allreduces_and_reduce_scatters(), all_others());
  return rows;
}

const Algorithm* find_algorithm(Operation operation, const std::string& name) {
  for (const Algorithm& row : algorithms()) {
    if (row.operation == operation && row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> algorithm_names(Operation operation) {
  return mapped(those_of(algorithms(), [&](const Algorithm& row) { return row.operation == operation; }),
                &Algorithm::name);
}

}}  // namespace farandole::collective
