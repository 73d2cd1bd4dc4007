#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "collective/algorithms.hpp"
#include "collective/algorithms/scale_out.hpp"
#include "collective/specification.hpp"
#include "simulate/invariant.hpp"
#include "simulate/library/library_file.hpp"
#include "simulate/library/oneccl_decision.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {
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
