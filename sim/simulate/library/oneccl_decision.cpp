// Who decides where is oneCCL's code at the commit that the release's file names: what goes between nodes
// allreduce_auto_select_tune_attr, reduce_scatter_auto_... and allgatherv_auto_... of
// src/coll/algorithms/utils/sycl_selection.cpp; what goes to the older path by Level Zero can_use_sycl_kernels, there,
// and do_fallback_to_scheduler of src/coll/algorithms/{allreduce,reduce_scatter,broadcast}/sycl/*_sycl.cpp. Of Level
// Zero's path: ccl_can_use_topo_algo, the scale-out and the fallback tables of src/coll/selection/.
#include "simulate/library/oneccl_decision.hpp"

#include <cmath>

#include "simulate/invariant.hpp"
#include "simulate/library/library_file.hpp"

namespace farandole { inline namespace simulate {
namespace {

struct Job {
  const OneCclLimits& limits;
  const MpiDecisions& mpi;
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

std::string between_nodes_of_allreduce(const Job& job, Bytes part) {
  const bool is_by_mpi = part <= job.limits.allreduce_by_mpi || job.nodes > job.limits.most_nodes;
  if (!is_by_mpi && is_power_of_two(job.nodes)) return "doubling_halving";
  if (!is_by_mpi && job.nodes <= job.limits.most_in_ring) return "ring";
  return mpi_choice(job.mpi, Operation::allreduce, job.nodes, part);
}

OneCclWay oneccl_allreduce(const Job& job) {
  const bool is_read_by_all =
      job.size <= job.limits.read_by_all || (job.ranks == 2 && job.size <= job.limits.read_by_two);
  if (job.is_one_node()) return {is_read_by_all ? "one_shot" : "direct"};
  if (job.size > job.limits.most_of_sycl) return by_level_zero(job, "ring");
  const Bytes part = job.limits.line * std::floor(std::floor(job.size / job.limits.line) / job.per_node);
  if (part == Bytes(0)) return {mpi_choice(job.mpi, job.operation, job.ranks, job.size)};
  return {between_nodes_of_allreduce(job, part), true};
}

/// With one rank on a node the whole array is held against the limit, otherwise one rank's block.
OneCclWay reduce_scatter_choice(const Job& job) {
  if (job.block() > job.limits.most_of_sycl) return by_level_zero(job, "ring");
  const Bytes counted = job.per_node == 1 ? job.size : job.block();
  if (counted > job.limits.scatter_by_mpi && job.nodes <= job.limits.most_in_scatter_ring) return {"ring", true};
  return {mpi_choice(job.mpi, job.operation, job.nodes, job.size / job.per_node), true};
}

OneCclWay oneccl_allgather(const Job& job) {
  const Bytes of_counterparts = job.block() * job.nodes;
  if (job.nodes > job.limits.most_of_gather || of_counterparts > job.limits.most_gathered) {
    return by_level_zero(job, "ring");
  }
  const bool is_of_few = job.nodes <= job.limits.few_of_gather;
  const bool is_by_mpi =
      job.block() < job.limits.gather_by_mpi || (is_of_few && job.block() < job.limits.gather_by_mpi_of_few);
  return {is_by_mpi ? mpi_choice(job.mpi, job.operation, job.nodes, of_counterparts) : "ring", true};
}

OneCclWay oneccl_broadcast(const Job& job) {
  if (job.size > job.limits.most_of_sycl) return fallen_back(job.operation);
  return {mpi_choice(job.mpi, job.operation, job.nodes, job.size), true};
}

/// There is no newer path for it.
OneCclWay reduce_choice(const Job& job) {
  if (job.size / mpi_element < job.ranks) return fallen_back(job.operation);
  return by_level_zero(job, "double_tree");
}

}  // namespace

OneCclLimits read_oneccl_limits(Section& section) {
  OneCclLimits limits{};
  Section sycl = read_block(section.child("sycl"));
  limits.line = sycl.required<Bytes>("line");
  limits.most_of_sycl = sycl.required<Bytes>("most");
  sycl.finish();
  Section allreduce = read_block(section.child("allreduce"));
  limits.read_by_all = allreduce.required<Bytes>("read_by_all");
  limits.read_by_two = allreduce.required<Bytes>("read_by_two");
  limits.allreduce_by_mpi = allreduce.required<Bytes>("by_mpi_up_to");
  limits.most_nodes = read_at_least(allreduce.child("by_mpi_above_nodes"), 1);
  limits.most_in_ring = read_at_least(allreduce.child("ring_up_to_nodes"), 1);
  allreduce.finish();
  Section scatter = read_block(section.child("reduce_scatter"));
  limits.scatter_by_mpi = scatter.required<Bytes>("by_mpi_up_to");
  limits.most_in_scatter_ring = read_at_least(scatter.child("ring_up_to_nodes"), 1);
  scatter.finish();
  Section gather = read_block(section.child("allgather"));
  limits.most_of_gather = read_at_least(gather.child("most_nodes"), 1);
  limits.most_gathered = gather.required<Bytes>("most");
  limits.gather_by_mpi = gather.required<Bytes>("by_mpi_below");
  limits.few_of_gather = read_at_least(gather.child("few_nodes"), 1);
  limits.gather_by_mpi_of_few = gather.required<Bytes>("by_mpi_below_on_few");
  gather.finish();
  Section alltoall = read_block(section.child("alltoall"));
  limits.alltoall_by_mpi = alltoall.required<Bytes>("by_mpi_up_to");
  alltoall.finish();
  if (limits.line == Bytes(0)) section.child("sycl").fail("a \"line\" above zero");
  return limits;
}

OneCclWay oneccl_choice(const OneCclDecisions& by, Operation operation, int nodes, int per_node, int ranks,
                        Bytes size) {
  const Job job{by.limits, *by.mpi, operation, nodes, per_node, ranks, size};
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

/// Without GPUs main tables name `direct` for all that MPI has; of an alltoall up to a limit, and beyond it `scatter`,
/// which sends everything at once.
std::string oneccl_choice_of_processors(const OneCclDecisions& by, Operation operation, int ranks, Bytes size) {
  if (operation == Operation::alltoall && size / ranks > by.limits.alltoall_by_mpi) return "direct";
  return mpi_choice(*by.mpi, operation, ranks, size);
}

}}  // namespace farandole::simulate
