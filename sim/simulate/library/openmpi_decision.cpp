// Source: ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of github.com/open-mpi/ompi, as from 4.1 on, for commutative
// operations. The first column of a row is the number of ranks it ends before, each pair the size (bytes) that its
// algorithm ends before. Written in names of our algorithms; README.md has a table of the functions they stand for.
// Where one stands for several of theirs: segmented_ring without segments is a ring; linear, and linear_sync, which
// limits no requests by default: direct; two_proc: pairwise, or ring of an allgather; pipeline and chain, without
// segments and of fan-out 1: chain; in-order_binary: binary.
#include <bit>
#include <limits>
#include <vector>

#include "simulate/invariant.hpp"
#include "simulate/library/mpi_decision.hpp"

namespace farandole { inline namespace simulate {
namespace {
/// Where these names of algorithms, short for the tables, stay.
namespace openmpi {

struct Switch {
  int below;  // bytes
  const char* algorithm;
};
struct ForRanks {
  int below;
  std::vector<Switch> switches;
};
using Decisions = std::vector<ForRanks>;

constexpr int no_end = std::numeric_limits<int>::max();
constexpr const char* binary = "binary";
constexpr const char* binomial = "binomial";
constexpr const char* binomial_nearest_first = "binomial_nearest_first";
constexpr const char* bruck = "bruck";
constexpr const char* butterfly = "butterfly";
constexpr const char* chain = "chain";
constexpr const char* direct = "direct";
constexpr const char* doubling_gather = "doubling_gather";
constexpr const char* doubling_halving = "doubling_halving";
constexpr const char* knomial = "knomial";
constexpr const char* neighbor_exchange = "neighbor_exchange";
constexpr const char* pairwise = "pairwise";
constexpr const char* recursive_doubling = "recursive_doubling";
constexpr const char* recursive_halving = "recursive_halving";
constexpr const char* nonoverlapping = "reduce_broadcast";  // completed by handed_on
constexpr const char* reduce_then_scatter = "reduce_then_scatter";
constexpr const char* ring = "ring";
constexpr const char* scatter_doubling = "scatter_doubling";
constexpr const char* split_binary = "split_binary";

const Decisions& for_allreduce() {
  static const Decisions rows{
      {4,
       {{8, ring},
        {4096, recursive_doubling},
        {8192, ring},
        {16384, recursive_doubling},
        {262144, ring},
        {no_end, doubling_halving}}},
      {8, {{16, ring}, {8192, recursive_doubling}, {no_end, doubling_halving}}},
      {16, {{8192, recursive_doubling}, {no_end, doubling_halving}}},
      {32, {{64, ring}, {4096, recursive_doubling}, {no_end, doubling_halving}}},
      {64, {{128, ring}, {no_end, doubling_halving}}},
      {128, {{262144, recursive_doubling}, {no_end, doubling_halving}}},
      {256, {{131072, nonoverlapping}, {262144, recursive_doubling}, {no_end, doubling_halving}}},
      {512, {{4096, nonoverlapping}, {no_end, doubling_halving}}},
      {2048, {{2048, nonoverlapping}, {16384, recursive_doubling}, {no_end, doubling_halving}}},
      {4096, {{2048, nonoverlapping}, {4096, ring}, {16384, recursive_doubling}, {no_end, doubling_halving}}},
      {no_end, {{2048, nonoverlapping}, {16384, ring}, {32768, recursive_doubling}, {no_end, doubling_halving}}},
  };
  return rows;
}

const Decisions& for_alltoall() {
  static const Decisions rows{
      {3, {{32768, pairwise}, {262144, direct}, {no_end, pairwise}}},
      {8, {{524288, direct}, {1048576, pairwise}, {no_end, direct}}},
      {16, {{no_end, direct}}},
      {32, {{4, direct}, {512, bruck}, {no_end, direct}}},
      {64, {{512, bruck}, {no_end, direct}}},
      {128, {{1024, bruck}, {262144, direct}, {no_end, pairwise}}},
      {256, {{1024, bruck}, {262144, direct}, {no_end, pairwise}}},
      {512, {{1024, bruck}, {32768, direct}, {no_end, pairwise}}},
      {1024, {{512, bruck}, {262144, direct}, {no_end, pairwise}}},
      {2048, {{512, bruck}, {no_end, direct}}},
      {4096, {{1024, bruck}, {no_end, direct}}},
      {no_end, {{2048, bruck}, {no_end, direct}}},
  };
  return rows;
}

const Decisions& for_allgather() {
  static const Decisions rows{
      {3, {{no_end, ring}}},
      {32, {{no_end, recursive_doubling}}},
      {64, {{1024, recursive_doubling}, {65536, neighbor_exchange}, {no_end, ring}}},
      {128, {{512, recursive_doubling}, {65536, neighbor_exchange}, {no_end, ring}}},
      {256,
       {{512, recursive_doubling},
        {131072, neighbor_exchange},
        {524288, ring},
        {1048576, neighbor_exchange},
        {no_end, ring}}},
      {512,
       {{32, recursive_doubling},
        {128, bruck},
        {1024, recursive_doubling},
        {131072, neighbor_exchange},
        {524288, ring},
        {1048576, neighbor_exchange},
        {no_end, ring}}},
      {1024, {{64, recursive_doubling}, {256, bruck}, {2048, recursive_doubling}, {no_end, neighbor_exchange}}},
      {2048,
       {{4, recursive_doubling},
        {8, bruck},
        {16, recursive_doubling},
        {32, bruck},
        {256, recursive_doubling},
        {512, bruck},
        {4096, recursive_doubling},
        {no_end, neighbor_exchange}}},
      {4096,
       {{32, bruck}, {128, recursive_doubling}, {512, bruck}, {4096, recursive_doubling}, {no_end, neighbor_exchange}}},
      {no_end,
       {{2, recursive_doubling},
        {8, bruck},
        {16, recursive_doubling},
        {512, bruck},
        {4096, recursive_doubling},
        {no_end, neighbor_exchange}}},
  };
  return rows;
}

const Decisions& for_broadcast() {
  static const Decisions rows{
      {4,
       {{32, chain},
        {256, binary},
        {512, chain},
        {1024, knomial},
        {32768, direct},
        {131072, binary},
        {262144, chain},
        {524288, direct},
        {1048576, binomial_nearest_first},
        {no_end, binary}}},
      {8,
       {{64, binary},
        {128, binomial_nearest_first},
        {2048, binary},
        {8192, binomial_nearest_first},
        {1048576, direct},
        {no_end, chain}}},
      {16,
       {{8, knomial},
        {64, binary},
        {4096, knomial},
        {16384, binary},
        {32768, binomial_nearest_first},
        {no_end, direct}}},
      {32, {{4096, knomial}, {1048576, binomial_nearest_first}, {no_end, scatter_doubling}}},
      {64, {{2048, binomial_nearest_first}, {no_end, knomial}}},
      {128, {{no_end, knomial}}},
      {256, {{2, binomial_nearest_first}, {16384, binary}, {32768, direct}, {65536, binary}, {no_end, knomial}}},
      {1024, {{16384, knomial}, {32768, split_binary}, {no_end, knomial}}},
      {2048, {{524288, knomial}, {no_end, scatter_doubling}}},
      {4096, {{262144, knomial}, {no_end, scatter_doubling}}},
      {no_end, {{8192, knomial}, {16384, binary}, {262144, knomial}, {no_end, scatter_doubling}}},
  };
  return rows;
}

const Decisions& for_reduce() {
  static const Decisions rows{
      {4, {{8, doubling_gather}, {16, binary}, {32, chain}, {262144, direct}, {no_end, chain}}},
      {8,
       {{4096, binary}, {65536, chain}, {262144, binomial}, {524288, direct}, {1048576, binomial}, {no_end, direct}}},
      {16, {{8192, binary}, {no_end, binomial}}},
      {32, {{4096, binary}, {no_end, binomial}}},
      {256, {{no_end, binomial}}},
      {512, {{8192, binomial}, {16384, binary}, {no_end, binomial}}},
      {2048, {{no_end, binomial}}},
      {4096, {{512, binomial}, {1024, binary}, {8192, binomial}, {16384, binary}, {no_end, binomial}}},
      {no_end,
       {{16, binomial},
        {32, binary},
        {1024, binomial},
        {2048, binary},
        {8192, binomial},
        {16384, binary},
        {no_end, binomial}}},
  };
  return rows;
}

const Decisions& for_reduce_scatter() {
  static const Decisions rows{
      {4, {{65536, ring}, {131072, butterfly}, {no_end, ring}}},
      {8, {{8, reduce_then_scatter}, {262144, recursive_halving}, {no_end, ring}}},
      {32, {{262144, recursive_halving}, {no_end, ring}}},
      {64, {{64, reduce_then_scatter}, {2048, recursive_halving}, {524288, butterfly}, {no_end, ring}}},
      {128,
       {{256, reduce_then_scatter},
        {512, recursive_halving},
        {2048, butterfly},
        {4096, recursive_halving},
        {no_end, butterfly}}},
      {256, {{256, reduce_then_scatter}, {512, recursive_halving}, {no_end, butterfly}}},
      {512, {{256, reduce_then_scatter}, {1024, recursive_halving}, {no_end, butterfly}}},
      {1024,
       {{512, reduce_then_scatter},
        {2048, recursive_halving},
        {8192, butterfly},
        {16384, recursive_halving},
        {no_end, butterfly}}},
      {2048,
       {{512, reduce_then_scatter},
        {4096, recursive_halving},
        {16384, butterfly},
        {32768, recursive_halving},
        {no_end, butterfly}}},
      {4096, {{512, reduce_then_scatter}, {4096, recursive_halving}, {no_end, butterfly}}},
      {no_end, {{1024, reduce_then_scatter}, {8192, recursive_halving}, {no_end, butterfly}}},
  };
  return rows;
}

template <class Rows>
const auto& row_for(const Rows& rows, double value) {
  for (const auto& row : rows) {
    if (value < row.below || row.below == no_end) return row;
  }
  throw InvariantError("a table of decisions without an end");
}

const Decisions& decisions_for(Operation operation) {
  switch (operation) {
    case Operation::allreduce:
      return for_allreduce();
    case Operation::alltoall:
      return for_alltoall();
    case Operation::allgather:
      return for_allgather();
    case Operation::broadcast:
      return for_broadcast();
    case Operation::reduce:
      return for_reduce();
    case Operation::reduce_scatter:
      return for_reduce_scatter();
    default:
      throw InvariantError("Open MPI was asked to choose for an operation that its row does not list");
  }
}

std::string chosen(Operation operation, int ranks, Bytes counted) {
  return row_for(row_for(decisions_for(operation), ranks).switches, counted.si()).algorithm;
}

/// A reduce and a broadcast, each as the library does them: its own choice of the broadcast.
std::string in_two(int ranks, Bytes size) {
  const std::string second = chosen(Operation::broadcast, ranks, size);
  return second == binary || second == direct || second == knomial ? "reduce_" + second : nonoverlapping;
}

/// What its algorithms hand on to others where they cannot work, or how they work there
/// (ompi/mca/coll/base/coll_base_{allreduce,reduce,allgather}.c): a ring with less than an element for each rank,
/// halving with less than one for each that it pairs, doubling of an allgather for other numbers of ranks than powers
/// of two.
std::string handed_on(Operation operation, const std::string& algorithm, int ranks, Bytes size) {
  const double elements = size / Bytes(4);
  const auto paired = std::bit_floor(static_cast<unsigned>(ranks));
  const bool is_uneven = paired != static_cast<unsigned>(ranks);
  if (algorithm == ring && operation == Operation::allreduce && elements < ranks) return recursive_doubling;
  if (algorithm == doubling_halving && elements < paired) return recursive_doubling;
  if (algorithm == doubling_halving && is_uneven) return "doubling_halving_split";
  if (algorithm == doubling_gather && elements < paired) return direct;
  if (algorithm == nonoverlapping && operation == Operation::allreduce) return in_two(ranks, size);
  if (algorithm == recursive_doubling && operation == Operation::allgather && is_uneven) return bruck;
  return algorithm;
}

}  // namespace openmpi
}  // namespace

std::string openmpi_choice(Operation operation, int ranks, Bytes size) {
  const bool counts_a_block = operation == Operation::allgather || operation == Operation::alltoall;
  const Bytes counted = counts_a_block ? size / ranks : size;
  return openmpi::handed_on(operation, openmpi::chosen(operation, ranks, counted), ranks, size);
}

}}  // namespace farandole::simulate
