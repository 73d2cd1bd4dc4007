#include "scenario/collective_kernels.hpp"

#include <algorithm>

#include "scenario/library_choice.hpp"
#include "scenario/parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// Who carries the gradients' operation out: who was chosen, and for a named algorithm whoever the machine has.
const Library* carrying_library(const Scenario& scenario, Operation operation) {
  const auto chosen = scenario.libraries.find(operation);
  const Library* library = chosen != scenario.libraries.end()
                               ? chosen->second.library
                               : find_library(scenario.platform.platform.transport.library);
  const bool has_it =
      library != nullptr && std::ranges::find(library->operations, operation) != library->operations.end();
  return has_it ? library : nullptr;
}

int channels_on_device(const Scenario& scenario, Operation operation) {
  const PlatformSpec& spec = scenario.platform;
  if (spec.platform.transport.channels > 0) return spec.platform.transport.channels;
  const Library* library = carrying_library(scenario, operation);
  const DeviceKind device = kind_of(spec.device);
  if (library == nullptr || library->needs == DeviceStack::none || !can_run(*library, device)) return 0;
  const WorkloadSpec& workload = scenario.workload;
  const Bytes gradients = static_cast<double>(workload.model.parameters()) * element_size(workload.gradient_type);
  const LibraryJob job{spec.platform, spec.placement, operation, 0, device, spec.scale};
  return library->planner(job).plan(gradients).choice.channels;
}

}  // namespace

double share_of_collectives(const Scenario& scenario) {
  const PlatformSpec& spec = scenario.platform;
  const int parts = spec.device.multiprocessors;
  if (scenario.strategy.servers || scenario.strategy.by_gloo || spec.ranks == 1 || parts == 0) return 0;
  const int taken = spec.device.asynchronous ? channels_on_device(scenario, carrier_of(scenario.strategy)) : 1;
  return taken < parts ? static_cast<double>(taken) / parts : 0;
}

}}  // namespace farandole::scenario
