// Who decides where is oneCCL's code at the commit that the release's file names: what goes between nodes
// allreduce_auto_select_tune_attr, reduce_scatter_auto_... and allgatherv_auto_... of
// src/coll/algorithms/utils/sycl_selection.cpp; what goes to the older path by Level Zero can_use_sycl_kernels, there,
// and do_fallback_to_scheduler of src/coll/algorithms/{allreduce,reduce_scatter,broadcast}/sycl/*_sycl.cpp. Of Level
// Zero's path: ccl_can_use_topo_algo, the scale-out and the fallback tables of src/coll/selection/.
#include "simulate/library/oneccl_decision.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "collective/algorithms.hpp"
#include "collective/algorithms/scale_out.hpp"
#include "collective/specification.hpp"
#include "simulate/invariant.hpp"
#include "simulate/library/library_file.hpp"
#include "simulate/library/planners.hpp"

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

namespace {

/// Who sits where, and which rank is whose counterpart: those with the same number in their nodes.
struct Nodes {
  explicit Nodes(const LibraryJob& of) : job(of) {
    std::map<int, std::size_t> number;  // by node
    const auto& devices = of.placement.device_of_rank;
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      const auto [known, is_new] = number.try_emplace(of.platform.node_of(devices[rank]), ranks.size());
      if (is_new) ranks.emplace_back();
      if (static_cast<int>(rank) == of.root) {
        root_node = static_cast<int>(known->second);
        root_device = static_cast<int>(ranks[known->second].size());
      }
      ranks[known->second].push_back(static_cast<int>(rank));
    }
    const auto is_as_wide = [&](const std::vector<int>& node) { return node.size() == ranks.front().size(); };
    if (std::ranges::all_of(ranks, is_as_wide)) per_node = static_cast<int>(ranks.front().size());
  }

  LibraryJob job;
  std::vector<std::vector<int>> ranks;  // of each node
  int per_node = 0;                     // 0: not as many on all
  int root_node = 0;
  int root_device = 0;

  [[nodiscard]] int count() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] int all() const { return static_cast<int>(job.placement.device_of_rank.size()); }
  /// The rank at each place of schedules that go node by node, or device by device.
  [[nodiscard]] std::vector<int> order(Places places) const {
    const bool node_by_node = places == Places::node_by_node;
    std::vector<int> order;
    for (int place = 0; place < all(); ++place) {
      const int node = node_by_node ? place / per_node : place % count();
      const int device = node_by_node ? place % per_node : place / count();
      order.push_back(ranks[static_cast<std::size_t>(node)][static_cast<std::size_t>(device)]);
    }
    return order;
  }
};

Schedule build(Operation operation, const std::string& algorithm, Shape shape) {
  shape.segments = 1;  // as for the MPI libraries
  if (algorithm == "one_shot") return one_shot_allreduce(shape);
  if (operation == Operation::reduce && algorithm == "double_tree") return double_tree_reduce(shape);
  const Algorithm* found = find_algorithm(operation, algorithm);
  if (found == nullptr) throw InvariantError("oneCCL picked an algorithm that there is none of");
  return found->build(shape);
}

Places places_of(const std::string& algorithm) {
  return algorithm == "pairwise" ? Places::node_by_node : Places::device_by_device;
}

RoutedSchedule route_oneccl(const Nodes& nodes, const OneCclWay& way) {
  const LibraryJob& job = nodes.job;
  if (!way.by_nodes) return {build(job.operation, way.algorithm, {nodes.all(), job.root}), job.platform, job.placement};
  const Places places = places_of(way.algorithm);
  const Schedule across =
      build(job.operation, way.algorithm, {nodes.count(), has_root(job.operation) ? nodes.root_node : 0});
  Placement placement = job.placement;
  std::ranges::transform(nodes.order(places), placement.device_of_rank.begin(),
                         [&](int rank) { return job.placement.device_of_rank[static_cast<std::size_t>(rank)]; });
  return {scaled_out(across, nodes.per_node, places, nodes.root_device), job.platform, placement};
}

LibraryPlan oneccl_plan(const OneCclLimits& limits, const MpiDecisions& mpi, const std::shared_ptr<const Nodes>& nodes,
                        Bytes size) {
  const LibraryJob& job = nodes->job;
  const OneCclDecisions by{limits, &mpi};
  const OneCclWay way = job.device.is_processor()
                            ? OneCclWay{oneccl_choice_of_processors(by, job.operation, nodes->all(), size)}
                            : oneccl_choice(by, job.operation, nodes->count(), nodes->per_node, nodes->all(), size);
  const std::string of_several = way.by_nodes ? "topo_" + way.algorithm : way.algorithm;
  const std::string name = way.by_nodes && nodes->count() == 1 ? "topo" : of_several;
  return {{name, "", 1},
          job.platform.transport.launch,
          name,
          [=] { return route_oneccl(*nodes, way); },
          way.by_nodes ? nodes->order(places_of(way.algorithm)) : std::vector<int>{}};
}

}  // namespace

void add_oneccl(Section& section, Library& library) {
  const Value below = section.child("mpi");
  const Library* mpi = find_library(read<std::string>(below));
  if (mpi == nullptr || mpi->mpi == nullptr) below.fail_unknown("an MPI", library_names());
  library.texts.insert(mpi->texts.begin(), mpi->texts.end());
  library.generations = section.required<std::vector<std::string>>("generations");
  library.planner = [limits = read_oneccl_limits(section), decisions = mpi->mpi](const LibraryJob& job) {
    auto nodes = std::make_shared<const Nodes>(job);
    return LibraryPlanner{{}, [=](Bytes size) { return oneccl_plan(limits, *decisions, nodes, size); }};
  };
}

}}  // namespace farandole::simulate
