// Source: github.com/uxlfoundation/oneCCL at 9ac28472b13e (CMakeLists.txt: 2021.16.0). Where the limits come from:
// src/common/env/env.cpp; what goes between nodes: allreduce_auto_select_tune_attr, reduce_scatter_auto_... and
// allgatherv_auto_... of src/coll/algorithms/utils/sycl_selection.cpp; what goes to the older path by Level Zero:
// can_use_sycl_kernels, there, and do_fallback_to_scheduler of
// src/coll/algorithms/{allreduce,reduce_scatter,broadcast}/ sycl/*_sycl.cpp. Of Level Zero's path:
// ccl_can_use_topo_algo, the scale-out and the fallback tables of src/coll/selection/, which are not stored for that
// commit and taken from copies: selection.cpp, selector_allreduce.cpp and selector_reduce.cpp of
// github.com/unisa-hpc/oneCCL at 4fbd360d47b9 (2021.17), selector_allgather.cpp of github.com/oneapi-src/oneCCL at
// 0eb5987ab930, whose doc/rst/source/env-variables.rst names the same defaults. The transport is MPI
// (CCL_ATL_TRANSPORT's default).
#include "simulate/library/oneccl_decision.hpp"

#include <cmath>

#include "simulate/invariant.hpp"
#include "simulate/library/mpi_decision.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr Bytes line{128};             // sycl_kernels_line_size: what parts of an allreduce are multiples of
constexpr Bytes most_of_sycl = 4_GiB;  // sycl_{allreduce,reduce_scatter,broadcast}_scaleout_threshold

struct Job {
  Operation operation;
  int nodes;
  int per_node;
  int ranks;
  Bytes size;

  [[nodiscard]] Bytes block() const { return size / ranks; }
  [[nodiscard]] bool is_one_node() const { return nodes == 1; }
};

/// "odd node_comm_size is not supported": fallback_table of the selectors then, whose `tree` is a binomial one, and
/// whose `flat` and `naive` send everything at once.
OneCclWay fallen_back(Operation operation) {
  switch (operation) {
    case Operation::allreduce:
    case Operation::reduce_scatter:
      return {"ring"};
    case Operation::reduce:
      return {"binomial"};
    default:
      return {"direct"};
  }
}

OneCclWay by_level_zero(const Job& job, const char* between_nodes) {
  if (job.per_node % 2 != 0) return fallen_back(job.operation);
  return {between_nodes, true};
}

std::string between_nodes_of_allreduce(int nodes, Bytes part) {
  const bool is_by_mpi = part <= 4_MiB || nodes > 64;
  if (!is_by_mpi && is_power_of_two(nodes)) return "doubling_halving";
  if (!is_by_mpi && nodes <= 16) return "ring";
  return mpich_choice(Operation::allreduce, nodes, part);
}

/// Small ones in a node: up to `sec_2` of allreduce_small_sycl_impl.hpp, and between two ranks all that are small
/// (sycl_allreduce_small_threshold).
OneCclWay oneccl_allreduce(const Job& job) {
  const bool is_read_by_all = job.size <= 32_KiB || (job.ranks == 2 && job.size <= 512_KiB);
  if (job.is_one_node()) return {is_read_by_all ? "one_shot" : "direct"};
  if (job.size > most_of_sycl) return by_level_zero(job, "ring");
  const Bytes part = line * std::floor(std::floor(job.size / line) / job.per_node);
  if (part == Bytes(0)) return {mpich_choice(job.operation, job.ranks, job.size)};
  return {between_nodes_of_allreduce(job.nodes, part), true};
}

/// With one rank on a node the whole array is held against the limit, otherwise one rank's block.
OneCclWay reduce_scatter_choice(const Job& job) {
  if (job.block() > most_of_sycl) return by_level_zero(job, "ring");
  const Bytes counted = job.per_node == 1 ? job.size : job.block();
  if (counted > 1_MiB && job.nodes <= 16) return {"ring", true};
  return {mpich_choice(job.operation, job.nodes, job.size / job.per_node), true};
}

OneCclWay oneccl_allgather(const Job& job) {
  const Bytes of_counterparts = job.block() * job.nodes;
  if (job.nodes > 8 || of_counterparts > 1_GiB) return by_level_zero(job, "ring");
  const bool is_by_mpi = job.block() < 128_KiB || (job.nodes <= 4 && job.block() < 256_KiB);
  return {is_by_mpi ? mpich_choice(job.operation, job.nodes, of_counterparts) : "ring", true};
}

OneCclWay oneccl_broadcast(const Job& job) {
  if (job.size > most_of_sycl) return fallen_back(job.operation);
  return {mpich_choice(job.operation, job.nodes, job.size), true};
}

/// There is no newer path for it.
OneCclWay reduce_choice(const Job& job) {
  if (job.size / mpi_element < job.ranks) return fallen_back(job.operation);
  return by_level_zero(job, "double_tree");
}

}  // namespace

OneCclWay oneccl_choice(Operation operation, int nodes, int per_node, int ranks, Bytes size) {
  const Job job{operation, nodes, per_node, ranks, size};
  if (per_node == 0 || operation == Operation::alltoall) return fallen_back(operation);
  if (operation == Operation::allreduce) return oneccl_allreduce(job);
  if (operation == Operation::reduce) return reduce_choice(job);
  if (job.is_one_node()) return {"direct"};
  switch (operation) {
    case Operation::reduce_scatter:
      return reduce_scatter_choice(job);
    case Operation::allgather:
      return oneccl_allgather(job);
    case Operation::broadcast:
      return oneccl_broadcast(job);
    default:
      throw InvariantError("oneCCL was asked to choose for an operation that its row does not list");
  }
}

/// Without GPUs main tables name `direct` for all that MPI has; of an alltoall up to a limit
/// (CCL_ALLTOALL_MEDIUM_MSG_SIZE, selection.hpp), and beyond it `scatter`, which sends everything at once.
std::string oneccl_choice_of_processors(Operation operation, int ranks, Bytes size) {
  if (operation == Operation::alltoall && size / ranks > 1_MiB) return "direct";
  return mpich_choice(operation, ranks, size);
}

}}  // namespace farandole::simulate
