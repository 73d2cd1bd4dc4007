#include "scenario/fit_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "training/memory.hpp"
#include "units/format.hpp"

namespace farandole {

MemoryUse memory_of(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const Bytes gradients = static_cast<double>(workload.model.parameters()) * element_size(workload.precision);
  const Bytes buffers = scenario.platform.ranks > 1 ? scenario.strategy.buffers : 0_B;
  return memory_use(workload.model, scenario.platform.device,
                    {workload.precision, workload.batch_per_rank, workload.optimizer,
                     buffers == Bytes::infinity() ? gradients : buffers, 0_B});
}

void refuse_what_does_not_fit(const Scenario& scenario, const Value& workload) {
  const Device& device = scenario.platform.device;
  const MemoryUse use = memory_of(scenario);
  if (!device.asynchronous || use.total() <= use.device) return;
  const int batch = scenario.workload.batch_per_rank;
  workload.fail(fmt::format("a job that fits into the {} of a {}", decimal(device.memory), device.name), describe(use),
                fmt::format("; ways out: {}", fmt::join(ways_to_fit(use, batch, scenario.platform.ranks), "; ")));
}

}  // namespace farandole
