#include "scenario/job_clocks.hpp"

#include "scenario/apply_effects.hpp"
#include "simulate/uncontended.hpp"

namespace farandole {

Schedule build_schedule(const Scenario& scenario, const Placement& placement, Operation operation, bool hierarchical) {
  Shape shape(static_cast<int>(placement.device_of_rank.size()));
  shape.ranks_per_node = placement.ranks_per_node(scenario.platform.platform.devices_per_node);
  if (hierarchical) return find_algorithm(operation, "hierarchical")->build(shape);
  const bool is_fixed = !scenario.libraries.contains(operation);
  return (is_fixed ? scenario.collectives.at(operation) : *find_algorithm(operation, "ring")).build(shape);
}

JobClocks::JobClocks(const Scenario& scenario, Placement placement)
    : scenario_(scenario), placement_(std::move(placement)), platform_(platform_of(scenario)) {}
JobClocks::~JobClocks() = default;

bool JobClocks::is_by_library(Operation operation, bool hierarchical) const {
  return !hierarchical && scenario_.libraries.contains(operation);
}

LibraryJob JobClocks::library_job(Operation operation) const {
  const Mechanisms& mechanisms = scenario_.mechanisms;
  return {platform_,
          placement_,
          operation,
          0,
          scenario_.libraries.at(operation).compute_capability,
          scenario_.platform.scale,
          {mechanisms.network_rate, mechanisms.latency},
          mechanisms.contention};
}

std::unique_ptr<CollectiveClock> JobClocks::make_clock(Operation operation, bool hierarchical) const {
  if (is_by_library(operation, hierarchical)) {
    return make_library_clock(*scenario_.libraries.at(operation).library, library_job(operation), scenario_.fidelity,
                              scenario_.folding);
  }
  RoutedSchedule routed(build_schedule(scenario_, placement_, operation, hierarchical), platform_, placement_);
  auto alone = scenario_.mechanisms.contention ? std::nullopt : uncontended(routed);
  return make_collective_clock(scenario_.fidelity, alone ? std::move(*alone) : std::move(routed), scenario_.folding);
}

CollectiveClock& JobClocks::clock_of(Operation operation, bool hierarchical) {
  auto& clock = clocks_[{operation, hierarchical}];
  if (last_ != nullptr && last_ != clock.get()) last_->rest();
  if (clock == nullptr) clock = make_clock(operation, hierarchical);
  last_ = clock.get();
  return *clock;
}

/// At `message` what a collective takes alone is no question: its messages are sent.
Carriage& JobClocks::keep(const std::string& key, const std::function<RoutedSchedule()>& route) {
  const auto [place, is_new] = carriages_.try_emplace(key);
  Carriage& carriage = place->second;
  if (!is_new) return carriage;
  carriage.routed = std::make_shared<const RoutedSchedule>(route());
  if (scenario_.fidelity != Fidelity::message) {
    carriage.alone = make_collective_clock(scenario_.fidelity, *carriage.routed, scenario_.folding);
  }
  return carriage;
}

const Carriage& JobClocks::carriage_of(const Collective& collective) {
  const Operation operation = collective.operation;
  const std::string operation_name = name(operation) + (collective.hierarchical ? " hierarchical" : "");
  if (!is_by_library(operation, collective.hierarchical)) {
    Carriage& carriage = keep(operation_name, [&] {
      return RoutedSchedule(build_schedule(scenario_, placement_, operation, collective.hierarchical), platform_,
                            placement_);
    });
    carriage.launch = platform_.transport.launch;
    return carriage;
  }
  auto planner = planners_.find(operation);
  if (planner == planners_.end()) {
    planner =
        planners_.emplace(operation, scenario_.libraries.at(operation).library->planner(library_job(operation))).first;
  }
  const LibraryPlan plan = planner->second.plan(collective.size);
  Carriage& carriage = keep(operation_name + " " + plan.key, plan.route);
  carriage.launch = plan.launch;
  carriage.order = planner->second.order;
  return carriage;
}

}  // namespace farandole
