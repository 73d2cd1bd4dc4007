#include "scenario/gradient_loads.hpp"

#include "simulate/link_loads.hpp"

namespace farandole {
namespace {

/// A library may lay its ways over limits of its own, which follow behind the platform's links.
RoutedSchedule route(const Scenario& scenario, Bytes size) {
  const PlatformSpec& spec = scenario.platform;
  if (const auto found = scenario.libraries.find(Operation::allreduce); found != scenario.libraries.end()) {
    const LibraryJob job{spec.platform, spec.placement, Operation::allreduce, 0, found->second.compute_capability};
    return found->second.library->planner(job).plan(size).route();
  }
  Shape shape(spec.ranks);
  shape.ranks_per_node = spec.placement.ranks_per_node(spec.platform.devices_per_node);
  return {scenario.collectives.at(Operation::allreduce).build(shape), spec.platform, spec.placement};
}

bool reduces_gradients(const Scenario& scenario) {
  return scenario.strategy.kind == "horovod" || scenario.strategy.kind == "ddp";
}

}  // namespace

std::vector<double> gradient_loads(const Scenario& scenario, const TrainingPoint& point) {
  if (point.ranks < 2 || !reduces_gradients(scenario) || !(point.gradient_bytes > Bytes(0))) return {};
  const std::vector<Bytes> bytes = link_bytes(route(scenario, point.gradient_bytes), point.gradient_bytes);
  std::vector<double> loads;
  for (std::size_t i = 0; i < scenario.platform.platform.links.size(); ++i) {
    const BytesPerSecond capacity = scenario.platform.platform.links[i].capacity;
    loads.push_back(bytes[i] == Bytes(0) ? 0.0 : bytes[i] / (capacity * point.iteration));
  }
  return loads;
}

}  // namespace farandole
