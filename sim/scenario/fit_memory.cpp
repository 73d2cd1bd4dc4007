#include "scenario/fit_memory.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/parts.hpp"
#include "training/memory.hpp"
#include "units/format.hpp"

namespace farandole {

namespace {

/// On the fullest server: every variable, the sum of its gradients and what the optimizer keeps for it.
Bytes server_shard(const Scenario& scenario) {
  const ServerPlan& plan = *scenario.strategy.servers;
  const Job job = job_of(scenario, times_of(scenario));
  std::vector<Bytes> kept(static_cast<std::size_t>(plan.servers));
  for (const Shard& shard : shards_of(job, plan, scenario.platform.device.memory_bandwidth)) {
    const int copies = shard.gradient < 0 ? 1 : 2 + scenario.workload.optimizer.slots;
    kept[static_cast<std::size_t>(shard.server)] += copies * shard.kept;
  }
  return *std::ranges::max_element(kept);
}

/// Least change first; recomputation changes nothing but time.
std::vector<std::string> ways_out(const Scenario& scenario, const MemoryUse& use) {
  const WorkloadSpec& workload = scenario.workload;
  std::vector<std::string> ways = ways_to_fit(use, workload.batch_per_rank, scenario.platform.ranks);
  if (workload.recompute == Recompute::full || !has_blocks(workload.model)) return ways;
  Scenario changed = scenario;
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    if (recompute == workload.recompute) continue;
    changed.workload.recompute = recompute;
    const MemoryUse less = memory_of(changed);
    if (less.total() > less.device) continue;
    ways.insert(ways.begin(), fmt::format("\"recompute\": \"{}\", {} less", name(recompute),
                                          decimal(use.activations - less.activations)));
    break;
  }
  return ways;
}

}  // namespace

MemoryUse memory_of(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const Bytes gradients = static_cast<double>(workload.model.parameters()) * element_size(workload.gradient_type);
  const Bytes buffers = scenario.platform.ranks > 1 ? scenario.strategy.buffers : 0_B;
  MemoryUse use =
      memory_use(workload.model, scenario.platform.device,
                 {workload.precision,
                  workload.batch_per_rank,
                  workload.optimizer,
                  buffers == Bytes::infinity() ? gradients : buffers,
                  0_B,
                  workload.gradient_type,
                  workload.parameter_type,
                  workload.optimizer_state_type,
                  workload.recompute,
                  {scenario.strategy.sharding_stage, scenario.strategy.shards_of(scenario.platform.ranks)}});
  if (scenario.strategy.servers) {
    use.optimizer_state = 0_B;
    use.server_shard = server_shard(scenario);
  }
  return use;
}

void refuse_what_does_not_fit(const Scenario& scenario, const Value& workload) {
  const Device& device = scenario.platform.device;
  const MemoryUse use = memory_of(scenario);
  if (!device.asynchronous || use.total() <= use.device) return;
  workload.fail(fmt::format("a job that fits into the {} of a {}", decimal(device.memory), device.name), describe(use),
                fmt::format("; ways out: {}", fmt::join(ways_out(scenario, use), "; ")));
}

}  // namespace farandole
