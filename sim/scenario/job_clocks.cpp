#include "scenario/job_clocks.hpp"

#include <algorithm>

#include "engine/group_clock.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/library_choice.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace scenario {

Schedule build_schedule(const Scenario& scenario, const Placement& placement, Operation operation, bool hierarchical) {
  Shape shape(static_cast<int>(placement.device_of_rank.size()));
  shape.ranks_per_node = placement.ranks_per_node(scenario.platform.platform.devices_per_node);
  if (hierarchical) return find_algorithm(operation, "hierarchical")->build(shape);
  const bool is_fixed = !scenario.libraries.contains(operation);
  return (is_fixed ? scenario.collectives.at(operation) : *find_algorithm(operation, "ring")).build(shape);
}

/// MPI out of the memory of hosts: a small message takes what one of the control plane takes, and a processor adds up,
/// which reads twice and writes, beside those of the node's other ranks. Long messages, and what all keep a processor
/// with, are MPI's where the platform tells them from its transport's.
static Platform platform_of_hosts(Platform platform, const Scenario& scenario, const Placement& placement) {
  constexpr double touches = 3;
  if (!platform.mpi) platform.transport.message = {};
  Transport& transport = platform.transport;
  transport = transport_of(mpi_of_hosts(platform), platform);
  const int ranks = placement.ranks_per_node(platform.devices_per_node);
  if (transport.control_latency > Seconds(0)) transport.inter_node_latency = transport.control_latency;
  transport.launch = Seconds(0);
  platform.mpi.reset();
  const BytesPerSecond memory = scenario.platform.device.host_memory_bandwidth;
  const double rate = scenario.mechanisms.network_rate / (touches * ranks);
  if (memory > BytesPerSecond(0)) transport.reduce_rate = memory * rate;
  return platform;
}

JobClocks::JobClocks(const Scenario& scenario, Placement placement)
    : scenario_(scenario), platform_(platform_of(scenario)) {
  std::vector<Group> groups{Group::all, Group::shards, Group::replicas};
  if (scenario.strategy.kept > 0) groups.push_back(Group::kept);
  if (scenario.strategy.tensor_parallel > 1) groups.push_back(Group::tensor);
  if (scenario.strategy.expert_parallel > 1) groups.insert(groups.end(), {Group::experts, Group::expert_replicas});
  if (scenario.strategy.pipeline > 1) groups = {Group::neighbours};  // two stages by themselves (scenario/pipeline.hpp)
  if (scenario.strategy.reduces_through_hosts) {
    groups.insert(groups.end(), {Group::node, Group::across});
    hosts_ = platform_of_hosts(platform_, scenario, placement);
  }
  for (const Group group : groups) {
    members_[group] = members_of(scenario, group, placement);
    for (const std::vector<int>& members : members_[group]) {
      placements_[group].push_back(members_[group].size() == 1 ? placement
                                                               : placement_of(platform_, placement, members));
    }
  }
}
JobClocks::~JobClocks() = default;

bool JobClocks::is_by_library(const Key& key) const {
  return !key.hierarchical && (key.group == Group::across || scenario_.libraries.contains(key.operation));
}

const Library& JobClocks::library_of(const Key& key) const {
  return key.group == Group::across ? mpi_of_hosts(platform_) : *scenario_.libraries.at(key.operation).library;
}

LibraryJob JobClocks::library_job(const Key& key, const Placement& placement) const {
  const Mechanisms& mechanisms = scenario_.mechanisms;
  const bool is_of_hosts = key.group == Group::across;
  LibraryJob job{is_of_hosts ? *hosts_ : platform_,
                 placement,
                 key.operation,
                 0,
                 is_of_hosts ? DeviceKind{} : scenario_.libraries.at(key.operation).device,
                 scenario_.platform.scale,
                 {mechanisms.network_rate, mechanisms.latency},
                 mechanisms.contention};
  // Gradients are summed up where they lie, in buckets; shards are gathered into another buffer, and reduced out of
  // one.
  job.in_place = key.operation == Operation::allreduce;
  return job;
}

const LibraryPlanner& JobClocks::planner_of(const Key& key, std::size_t group) {
  const auto found = planners_.find({key, group});
  if (found != planners_.end()) return found->second;
  const LibraryJob job = library_job(key, placements_.at(key.group)[group]);
  return planners_.emplace(std::pair{key, group}, library_of(key).planner(job)).first->second;
}

RoutedSchedule JobClocks::route(const Key& key, std::size_t group, Bytes size) {
  if (is_by_library(key)) return planner_of(key, group).plan(size).route();
  const Placement& placement = placements_.at(key.group)[group];
  return {build_schedule(scenario_, placement, key.operation, key.hierarchical), platform_, placement};
}

/// At `message` in company, what a collective takes alone is no question: its messages are sent.
const Carriage& JobClocks::carriage_of(const Key& key, std::size_t group, Bytes size, Sisters sisters) {
  const auto [known, is_first] = planned_.try_emplace({key, group, size, sisters});
  if (is_first) {
    Carriage& carriage = find_carriage(key, group, size, sisters);
    known->second = {&carriage, carriage.launch};
  }
  known->second.carriage->launch = known->second.launch;
  return *known->second.carriage;
}

Carriage& JobClocks::find_carriage(const Key& key, std::size_t group, Bytes size, Sisters sisters) {
  std::string plan_key;
  Seconds launch = platform_.transport.launch;
  std::vector<int> order;
  if (is_by_library(key)) {
    const LibraryPlanner& planner = planner_of(key, group);
    const LibraryPlan plan = planner.plan(size);
    plan_key = plan.key;
    launch = plan.launch;
    order = plan.order.empty() ? planner.order : plan.order;
  }
  const auto [place, is_new] = carriages_.try_emplace({key, group, plan_key, sisters});
  Carriage& carriage = place->second;
  carriage.launch = launch;
  if (!is_new) return carriage;
  carriage.order = std::move(order);
  carriage.routed = std::make_shared<const RoutedSchedule>(route(key, group, size));
  RoutedSchedule alone = *carriage.routed;
  const bool shares = sisters == Sisters::counted && placements_.at(key.group).size() > 1;
  if (shares && scenario_.mechanisms.contention) alone.share_links(shares_of(key, group, alone, size));
  auto apart = scenario_.mechanisms.contention ? std::nullopt : uncontended(alone);
  carriage.alone = make_collective_clock(scenario_.fidelity, apart ? std::move(*apart) : std::move(alone),
                                         {scenario_.folding, scenario_.network});
  return carriage;
}

std::unique_ptr<CollectiveClock> JobClocks::make_clock(const Key& key) {
  const Placement& placement = placements_.at(key.group).front();
  if (key.group != Group::all || members_.at(key.group).size() > 1) {
    const auto alike = [this, key](Bytes size) -> const std::vector<std::size_t>& { return alike_of(key, size); };
    const auto carriage = [this, key](std::size_t group, Bytes size) -> const Carriage& {
      return carriage_of(key, group, size, Sisters::counted);
    };
    return std::make_unique<GroupClock>(members_.at(key.group), alike, carriage);
  }
  if (is_by_library(key)) {
    return make_library_clock(library_of(key), library_job(key, placement), scenario_.fidelity,
                              {scenario_.folding, scenario_.network});
  }
  RoutedSchedule routed(build_schedule(scenario_, placement, key.operation, key.hierarchical), platform_, placement);
  auto alone = scenario_.mechanisms.contention ? std::nullopt : uncontended(routed);
  return make_collective_clock(scenario_.fidelity, alone ? std::move(*alone) : std::move(routed),
                               {scenario_.folding, scenario_.network});
}

CollectiveClock& JobClocks::clock_of(const Collective& collective) {
  const Key key{collective.operation, collective.hierarchical, collective.group};
  auto& clock = clocks_[key];
  if (last_ != nullptr && last_ != clock.get()) last_->release_network();
  if (clock == nullptr) clock = make_clock(key);
  last_ = clock.get();
  return *clock;
}

RoutedSchedule JobClocks::routed_of(Operation operation, Group group, Bytes size) {
  return route({operation, false, group}, 0, size);
}

void JobClocks::release_network() {
  if (last_ != nullptr) last_->release_network();
  last_ = nullptr;
  if (last_part_ != nullptr) last_part_->release_network();
}

JobClocks& JobClocks::part(int from, int to, const std::function<std::unique_ptr<JobClocks>()>& make) {
  auto& part = parts_[{from, to}];
  if (part == nullptr) part = make();
  if (last_part_ != part.get()) release_network();
  return *(last_part_ = part.get());
}

const std::vector<GroupCarriage>& JobClocks::carriages_of(const Collective& collective) {
  const Key key{collective.operation, collective.hierarchical, collective.group};
  const auto [place, is_new] = groups_.try_emplace({key, collective.size});
  if (!is_new) return place->second;
  const auto& members = members_.at(key.group);
  for (std::size_t group = 0; group < members.size(); ++group) {
    place->second.push_back({&carriage_of(key, group, collective.size, Sisters::elsewhere),
                             members.size() == 1 ? std::vector<int>{} : members[group]});
  }
  return place->second;
}

}}  // namespace farandole::scenario
