#include "scenario/collective_run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/ranges.h>

#include "collective/bus_factor.hpp"
#include "collective/chunk_sizes.hpp"
#include "collective/specification.hpp"
#include "scenario/effective_settings.hpp"
#include "scenario/unused_nics.hpp"
#include "simulate/fluid_network.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// The part of all data that the busiest parameter server has.
double largest_share(const ServerRequest& request, int servers) {
  double largest = 0;
  double all = 0;
  for (const std::vector<double>& shard : request.shards) {
    const double bytes = std::accumulate(shard.begin(), shard.end(), 0.0);
    largest = std::max(largest, bytes);
    all += bytes;
  }
  return all > 0 ? largest / all : 1.0 / servers;
}

/// As many as make keys of at most the size that is asked for, or that the algorithm has.
int keys_of(const CollectiveRequest& request, Bytes size) {
  const ServerRequest& wanted = request.parameter_server;
  const Bytes key = wanted.key > Bytes(0) ? wanted.key : request.algorithm.key;
  if (request.segments > 0 || key == Bytes(0)) return request.segments;
  Shape shape(request.ranks);
  shape.servers = wanted.servers;
  return keys_in(size * largest_share(wanted, request.algorithm.build(shape).servers), key);
}

CollectivePoint point(const CollectiveRequest& request, const Schedule& schedule, Fidelity fidelity, Bytes size,
                      Seconds time, bool folded) {
  const BytesPerSecond bandwidth = time > Seconds(0) ? size / time : BytesPerSecond(0);
  return {name(request.algorithm.operation),
          request.algorithm.name,
          request.ranks,
          size,
          time,
          bandwidth,
          bandwidth * bus_factor(schedule, largest_share(request.parameter_server, schedule.servers)),
          name(fidelity),
          folded,
          request.root,
          schedule.servers,
          {},
          {},
          {},
          request.type,
          number_types().at(request.type)};
}

/// The clock of one schedule, until another number of keys makes another schedule of it.
class ClockOfSize {
 public:
  ClockOfSize(const CollectiveRequest& request, const Topology& topology, const Platform& platform,
              const Placement& placement, Fidelity fidelity, const Value& where)
      : request_(request),
        topology_(topology),
        platform_(platform),
        placement_(placement),
        fidelity_(fidelity),
        where_(where) {}

  CollectivePoint run(Bytes size) {
    prepare(shape_of(request_, topology_, placement_, size));
    const Seconds launch = request_.ranks > 1 ? platform_.transport.launch : Seconds(0);
    const Answer answer = clock_->answer(size, all_at(request_.ranks, Seconds(0)));
    provenance_.include(answer.provenance);
    return point(request_, schedule_, fidelity_, size, latest(answer.ends) + launch, answer.provenance.folded);
  }

  /// Of all sizes.
  [[nodiscard]] const Provenance& provenance() const { return provenance_; }

 private:
  void prepare(const Shape& shape) {
    if (clock_ != nullptr && shape.segments == segments_) return;
    segments_ = shape.segments;
    Schedule whole = request_.algorithm.build(shape);
    require_within(request_.budget, cost_of(whole, request_.sizes, workings(whole)), where_.place());
    std::vector<Phase> phases = std::exchange(whole.phases, {});
    schedule_ = whole;  // without what only the clock needs, and may be large
    whole.phases = std::move(phases);
    clock_.reset();  // before the next one: only one may use SimGrid
    clock_ = make_collective_clock(fidelity_, RoutedSchedule(std::move(whole), platform_, placement_),
                                   {request_.folding, request_.network});
  }

  [[nodiscard]] Workings workings(const Schedule& schedule) const {
    Workings workings{fidelity_, request_.folding != FoldingPolicy::never, false};
    const bool moves = std::ranges::any_of(schedule.phases, receivers_move);
    const bool to_many = std::ranges::any_of(schedule.phases, [](const Phase& phase) { return phase.fan > 1; });
    if (!workings.folds || !(moves || to_many)) return workings;
    const std::vector<int>& devices = placement_.device_of_rank;
    if (!moves) workings.coloured = platform_.route(devices.front(), devices.back()).links.size();
    workings.alike = are_alike({schedule, platform_, placement_, RoutedSchedule::Routing::when_asked}, fidelity_);
    return workings;
  }

  const CollectiveRequest& request_;
  const Topology& topology_;
  const Platform& platform_;
  const Placement& placement_;
  Fidelity fidelity_;
  Value where_;
  int segments_ = 0;
  Provenance provenance_{.folded = true};
  Schedule schedule_;
  std::unique_ptr<CollectiveClock> clock_;
};

/// An alltoall, whose messages are as many as pairs of ranks, before they are sent.
void require_alltoall_within(const CollectiveRequest& request, Fidelity fidelity, const LibraryJob& job,
                             const Place& place) {
  if (request.algorithm.operation != Operation::alltoall || !request.budget.is_limited() || request.ranks < 2) return;
  const LibraryPlanner planner = request.library.library->planner(job);
  std::map<std::string, std::vector<Bytes>> sizes;  // by what their messages have in common
  for (const Bytes size : request.sizes) sizes[planner.plan(size).choice.algorithm].push_back(size);
  for (const auto& [algorithm, alike] : sizes) {
    const RoutedSchedule routed = planner.plan(alike.back()).route();
    if (!routed.is_routed_when_asked()) continue;  // few, or folded as they are
    const bool folds = request.folding != FoldingPolicy::never;
    const Workings workings{fidelity, folds, folds && are_alike(routed, fidelity), true};
    require_within(request.budget, cost_of(routed.schedule(), alike, workings), place);
  }
}

/// All sizes at one fidelity, each as the library picks.
void run_library(const CollectiveRequest& request, Fidelity fidelity, const Platform& platform,
                 const Placement& placement, const Place& place, std::vector<CollectivePoint>& points,
                 Provenance& provenance) {
  const LibraryJob job = library_job(request, platform, placement);
  const bool drives = request.library.library->needs != DeviceStack::none;
  const Seconds launch = drives ? launching(request.devices_per_process) : Seconds(0);
  require_alltoall_within(request, fidelity, job, place);
  const auto clock = make_library_clock(*request.library.library, job, fidelity, {request.folding, request.network});
  Schedule any;  // what the bus bandwidth needs to know, which no algorithm changes
  any.operation = request.algorithm.operation;
  any.ranks = request.ranks;
  for (const Bytes size : request.sizes) {
    const Answer answer = clock->answer(size, all_at(request.ranks, Seconds(0)));
    points.push_back(point(request, any, fidelity, size, latest(answer.ends) + launch, answer.provenance.folded));
    points.back().choice = clock->choice(size);
    provenance.include(answer.provenance);
  }
}

}  // namespace

const std::map<std::string, int>& number_types() {
  static const std::map<std::string, int> sizes{{"int8", 1},  {"uint8", 1},    {"f8e4m3", 1}, {"f8e5m2", 1},
                                                {"half", 2},  {"bfloat16", 2}, {"int32", 4},  {"uint32", 4},
                                                {"float", 4}, {"int64", 8},    {"uint64", 8}, {"double", 8}};
  return sizes;
}

LibraryJob library_job(const CollectiveRequest& request, const Platform& platform, const Placement& placement) {
  LibraryJob job{platform, placement, request.algorithm.operation, request.root, request.library.device};
  job.in_place = request.in_place;
  job.devices_per_process = request.devices_per_process;
  job.switches_add = number_types().at(request.type) > 1;
  return job;
}

Shape shape_of(const CollectiveRequest& request, const Topology& topology, const Placement& placement, Bytes size) {
  Shape shape(request.ranks, request.root);
  shape.ranks_per_node = placement.ranks_per_node(topology.devices_per_node);
  shape.segments = keys_of(request, size);
  shape.weights = request.contributions;
  shape.servers = request.parameter_server.servers;
  shape.shards = request.parameter_server.shards;
  shape.message_per_tensor = request.parameter_server.message_per_tensor;
  return shape;
}

std::vector<Bytes> size_range(Bytes least, Bytes most, int factor) {
  std::vector<Bytes> sizes;
  for (Bytes size = least; size <= most; size *= factor) {
    sizes.push_back(size);
    if (factor < 2 || size == Bytes(0)) break;
  }
  return sizes;
}

std::vector<CollectivePoint> run_collective(const CollectiveRequest& request, const Topology& topology,
                                            const Value& where, Provenance* provenance) {
  require_ranks_within(request.budget, request.ranks, where.place());
  const Placement placement = place(request.placement, request.ranks, {}, layout_of(topology), where);
  const Platform platform = build_for(topology, placement, where);
  std::vector<CollectivePoint> points;
  Provenance of_all{.folded = true};
  for (const Fidelity fidelity : request.fidelities) {
    if (is_library(request.algorithm)) {
      run_library(request, fidelity, platform, placement, where.place(), points, of_all);
      continue;
    }
    ClockOfSize clock(request, topology, platform, placement, fidelity, where);
    for (const Bytes size : request.sizes) points.push_back(clock.run(size));
    of_all.include(clock.provenance());
  }
  if (provenance != nullptr) *provenance = of_all;
  std::ranges::stable_sort(points, {}, &CollectivePoint::bytes);
  return points;
}

void choose_by_default(CollectiveRequest& request, const Topology& topology, const Value& where) {
  const Transport& transport = topology.transport;
  if (transport.library.empty()) return;
  const auto choose = [&] {
    if (request.segments > 0) return without_library(request.algorithm, transport, "it cuts into segments by itself");
    if (!request.contributions.empty()) {
      return without_library(request.algorithm, transport, "it is simulated with equal contributions only");
    }
    return default_collective(request.algorithm, transport, Catalogue().device(topology.device, where));
  };
  DefaultCollective found = choose();
  request.algorithm = std::move(found.algorithm);
  request.library = found.library;
  request.plain_by_default = std::move(found.why_plain);
}

std::optional<std::string> note_on_nics(const CollectiveRequest& request, const Topology& topology,
                                        const Value& where) {
  if (!is_library(request.algorithm) && topology.nics_at.size() < 2) return std::nullopt;
  const Placement placement = place(request.placement, request.ranks, {}, layout_of(topology), where);
  if (is_library(request.algorithm)) {
    if (!request.library.library) return std::nullopt;  // nobody asked what it does
    return note_on_fabric(*request.library.library, build_for(topology, placement, where), placement);
  }
  const Schedule schedule = request.algorithm.build(shape_of(request, topology, placement, request.sizes.back()));
  const auto use = unused_nics(schedule, build_for(topology, placement, where), placement);
  return use ? std::optional(describe(*use, schedule, topology.transport)) : std::nullopt;
}

Settings collective_settings(const CollectiveRequest& request, const Topology& topology) {
  Settings settings{{"topology", topology.name}};
  add_transport(settings, topology.transport);
  add_condition(settings, topology.condition);
  const Library* library = request.library.library;
  if (library != nullptr) settings["library"] = library->name;
  if (library != nullptr && library->mpi != nullptr) add_mpi(settings, topology.transport, topology.mpi);
  if (!request.plain_by_default.empty()) settings["algorithm"] = request.plain_by_default;
  if (topology.calibration) {
    const int per_node = topology.devices_per_node;
    settings["calibration"] = describe_use(
        *topology.calibration, topology.transport,
        {request.algorithm.operation, library != nullptr ? library->name : request.algorithm.name, request.library,
         request.ranks, (request.ranks + per_node - 1) / per_node, has_other_messages(request.library, topology.mpi)});
  }
  if (request.in_place) settings["in_place"] = "true";
  if (request.devices_per_process > 1) settings["devices_per_process"] = std::to_string(request.devices_per_process);
  if (has_root(request.algorithm.operation)) settings["root"] = std::to_string(request.root);
  if (request.segments > 0) settings["segments"] = std::to_string(request.segments);
  if (!request.contributions.empty())
    settings["contributions"] = fmt::format("{}", fmt::join(request.contributions, ","));
  if (request.algorithm.operation == Operation::parameter_server) {
    const ServerRequest& server = request.parameter_server;
    settings["sharding"] = server.sharding;
    settings["messages"] = server.message_per_tensor ? "per_tensor" : "fused";
    if (!server.model.empty()) settings["model"] = server.model;
    if (server.key > Bytes(0)) settings["key"] = format(server.key);
  }
  if (std::ranges::any_of(request.fidelities, [](Fidelity f) { return f != Fidelity::analytic; })) {
    for (const auto& [key, value] : network_settings(request.network)) settings[key] = value;
  }
  return settings;
}

}}  // namespace farandole::scenario
