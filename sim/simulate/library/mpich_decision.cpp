// Source: src/mpi/coll/coll_selection.json of github.com/pmodels/mpich at 07f13b4514708bdcf17ba18981f6efce2fe8e75b
// (4.x), for intracommunicators and built-in, commutative operations. There "avg_msg_size" of an alltoall is a pair's
// block and "total_msg_size" the whole array. README.md has a table of the functions that the names stand for. MPICH's
// "scattered" alltoall keeps 32 messages under way at a time; here all are.
//
// Until 3.x functions decided (v3.2: src/mpi/coll/allreduce.c and bcast.c, with MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE of
// 2048 and MPIR_CVAR_BCAST_SHORT_MSG_SIZE of 12288, from which on a message is no longer short), for all other
// operations as the file does now. Cray MPICH 7 was made from it.
#include <bit>

#include "simulate/invariant.hpp"
#include "simulate/library/mpi_decision.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// The elements do not reach for one each of the largest power of two of the ranks.
bool is_too_short_to_halve(int ranks, Bytes size) {
  return size / mpi_element < static_cast<double>(std::bit_floor(static_cast<unsigned>(ranks)));
}

std::string mpich_allreduce(int ranks, Bytes size, Bytes most) {
  return size <= most || is_too_short_to_halve(ranks, size) ? "recursive_doubling" : "doubling_halving";
}

std::string mpich_broadcast(int ranks, Bytes size) {
  if (ranks < 8 || size <= Bytes(12288)) return "binomial";
  return is_power_of_two(ranks) && size <= Bytes(524288) ? "scatter_doubling" : "scatter_allgather";
}

std::string mpich_allgather(int ranks, Bytes size) {
  if (is_power_of_two(ranks)) return size < Bytes(524288) ? "recursive_doubling" : "ring";
  return size < Bytes(81920) ? "bruck" : "ring";
}

std::string alltoall_choice(int ranks, Bytes block) {
  if (ranks >= 8 && block <= Bytes(256)) return "bruck";
  return block <= Bytes(32768) ? "direct" : "pairwise";
}

}  // namespace

std::string mpich_choice(Operation operation, int ranks, Bytes size) {
  switch (operation) {
    case Operation::allreduce:
      return mpich_allreduce(ranks, size, Bytes(8));
    case Operation::reduce_scatter:
      return size < Bytes(524288) ? "recursive_halving" : "pairwise";
    case Operation::allgather:
      return mpich_allgather(ranks, size);
    case Operation::broadcast:
      return mpich_broadcast(ranks, size);
    case Operation::reduce:
      return size <= Bytes(2048) || is_too_short_to_halve(ranks, size) ? "binomial" : "doubling_gather";
    case Operation::alltoall:
      return alltoall_choice(ranks, size / ranks);
    default:
      throw InvariantError("MPICH was asked to choose for an operation that its row does not list");
  }
}

std::string mpich_3_choice(Operation operation, int ranks, Bytes size) {
  if (operation == Operation::allreduce) return mpich_allreduce(ranks, size, Bytes(2048));
  if (operation == Operation::broadcast) return mpich_broadcast(ranks, size + Bytes(1));
  return mpich_choice(operation, ranks, size);
}

}}  // namespace farandole::simulate
