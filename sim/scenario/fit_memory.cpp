#include "scenario/fit_memory.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/parts.hpp"
#include "scenario/pipeline.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
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

MemoryUse memory_of_a_rank(const Scenario& scenario, int in_flight) {
  const WorkloadSpec& workload = scenario.workload;
  const Bytes gradients =
      static_cast<double>(workload.of_rank().trainable_parameters()) * element_size(workload.gradient_type);
  const Bytes buffers = scenario.replicas() > 1 ? scenario.strategy.buffers : 0_B;
  MemoryUse use = memory_use(
      workload.of_rank(), scenario.platform.device,
      {workload.precision,
       workload.batch_per_rank,
       workload.optimizer,
       buffers == Bytes::infinity() ? gradients : buffers,
       0_B,
       workload.gradient_type,
       workload.parameter_type,
       workload.optimizer_state_type,
       workload.recompute,
       {scenario.strategy.sharding_stage, scenario.strategy.shards_of(scenario.platform.ranks), scenario.strategy.kept},
       scenario.strategy.blocks_per_unit,
       in_flight,
       scenario.strategy.no_sync && scenario.strategy.accumulation > 1,
       workload.loss       ? workload.loss
       : workload.compiled ? std::optional(Loss::fused)
                           : std::nullopt});
  if (scenario.strategy.offloads_optimizer) use.optimizer_state = 0_B;
  if (scenario.strategy.servers) {
    use.optimizer_state = 0_B;
    use.server_shard = server_shard(scenario);
  }
  return use;
}

}  // namespace

/// Of a pipeline, of the stage that needs most.
MemoryUse memory_of(const Scenario& scenario) {
  const int stages = scenario.strategy.pipeline;
  if (stages == 1) return memory_of_a_rank(scenario, 1);
  MemoryUse most;
  for (int stage = 0; stage < stages; ++stage) {
    const int in_flight = StagePlace{stage, stages}.in_flight(scenario.strategy.accumulation);
    const MemoryUse use = memory_of_a_rank(stage_of(scenario, scenario.platform.placement, stage), in_flight);
    if (use.total() > most.total()) most = use;
  }
  return most;
}

namespace {

bool would_fit(const Scenario& scenario) {
  return memory_of(scenario).fits();
}

/// That much recomputation and more, of a model that has blocks.
std::vector<Recompute> recomputations_from(const WorkloadSpec& workload) {
  std::vector<Recompute> from{workload.recompute};
  for (const Recompute more : {Recompute::attention, Recompute::selective, Recompute::full}) {
    if (has_blocks(workload.model) && more > workload.recompute) from.push_back(more);
  }
  return from;
}

/// Recomputation by which it would fit, if any, and what that saves.
std::vector<std::string> recomputations_to_fit(Scenario scenario, Bytes activations) {
  const Recompute now = scenario.workload.recompute;
  for (const Recompute more : recomputations_from(scenario.workload)) {
    scenario.workload.recompute = more;
    if (more == now || !would_fit(scenario)) continue;
    const Bytes less = activations - memory_of(scenario).activations;
    return {fmt::format("\"recompute\": \"{}\", {} less", name(more), decimal(less))};
  }
  return {};
}

/// The same of a loss that keeps less.
std::vector<std::string> losses_to_fit(Scenario scenario, Bytes activations) {
  scenario.workload.loss = Loss::fused;
  const MemoryUse use = memory_of(scenario);
  if (!use.fits() || use.activations >= activations) return {};
  return {fmt::format("\"loss\": \"fused\", {} less", decimal(activations - use.activations))};
}

/// Fewer samples a pass, whose gradients add up: whole, or where those are too much and the strategy can, as shards.
std::vector<std::string> accumulations_to_fit(Scenario scenario) {
  StrategyChoice& strategy = scenario.strategy;
  const int batch = scenario.workload.batch_per_rank;
  const int passes_now = strategy.accumulation;
  const bool may_reduce = strategy.kind == "fsdp" && strategy.pipeline == 1 && strategy.no_sync;
  for (const bool reduces : {false, true}) {
    if (reduces && !may_reduce) continue;
    if (reduces) strategy.no_sync = false;
    scenario.workload.batch_per_rank = batch;
    strategy.accumulation = 2 * passes_now;
    const int most = largest_batch(memory_of(scenario), batch);
    if (most == 0) continue;
    const int passes = (batch - 1) / most + 1;
    const int samples = (batch - 1) / passes + 1;
    strategy.accumulation = passes * passes_now;
    scenario.workload.batch_per_rank = samples;
    if (!would_fit(scenario)) continue;
    return {fmt::format("accumulation, {} passes of {} samples each{}", strategy.accumulation, samples,
                        reduces ? " with \"no_sync\": false" : "")};
  }
  return {};
}

/// fsdp, over the ranks there are and with as little recomputation as does; or how many ranks it takes.
std::vector<std::string> shardings_to_fit(Scenario scenario) {
  constexpr int most = 1 << 16;
  StrategyChoice& strategy = scenario.strategy;
  int& ranks = scenario.platform.ranks;
  const bool shares_all = strategy.sharding_stage == 3 && strategy.shards_of(ranks) == scenario.replicas();
  const std::vector<Recompute> recomputations = recomputations_from(scenario.workload);
  strategy.servers.reset();
  strategy.buffers = 0_B;
  strategy.sharding_stage = 3;
  strategy.shards = 0;
  strategy.no_sync = strategy.no_sync || strategy.kind != "fsdp";
  strategy.pipeline = 1;
  if (shares_all) ranks *= 2;
  for (; ranks <= most; ranks *= 2) {
    for (const Recompute recompute : recomputations) {
      scenario.workload.recompute = recompute;
      if (!would_fit(scenario)) continue;
      const bool is_more = recompute != recomputations.front();
      return {fmt::format("fsdp with FULL_SHARD over {} ranks{}", ranks,
                          is_more ? fmt::format(" and \"recompute\": \"{}\"", name(recompute)) : "")};
    }
  }
  return {};
}

/// Stages, of each of which as many micro-batches are in flight as there are stages behind; as few of them as do.
std::vector<std::string> pipelines_to_fit(const Scenario& scenario) {
  const StrategyChoice& now = scenario.strategy;
  const bool may_be =
      (now.kind == "ddp" || (now.kind == "zero" && now.sharding_stage == 1)) && now.pipeline_blocks.empty();
  if (!may_be || !has_blocks(scenario.workload.model)) return {};
  for (int stages = 2 * now.pipeline; stages * now.tensor_parallel <= scenario.platform.ranks; stages *= 2) {
    if (scenario.replicas() * now.pipeline % stages != 0) break;
    Scenario piped = scenario;
    piped.workload.staged = stage_model(scenario.workload.of_rank(), stages, {});
    if (!piped.workload.staged.refusal.empty()) break;
    piped.strategy.pipeline = stages;
    if (would_fit(piped)) return {fmt::format("\"pipeline\": {} with {}", stages, now.kind)};
  }
  return {};
}

/// Recomputation, which changes nothing but time, first; another parallelism, which changes most, last.
std::vector<std::string> ways_out(const Scenario& scenario, const MemoryUse& use) {
  const bool shares_state = scenario.strategy.sharding_stage > 0;
  std::vector<std::string> ways = recomputations_to_fit(scenario, use.activations);
  const auto add = [&](const std::vector<std::string>& more) { ways.insert(ways.end(), more.begin(), more.end()); };
  add(losses_to_fit(scenario, use.activations));
  const int smaller = largest_batch(use, scenario.workload.batch_per_rank);
  if (smaller > 0) ways.push_back(fmt::format("a smaller batch, at most {} per rank", smaller));
  add(accumulations_to_fit(scenario));
  std::vector<std::string> others = ways_to_fit(use, shares_state ? 1 : scenario.replicas());
  const std::string last = std::move(others.back());
  others.pop_back();
  add(others);
  add(shardings_to_fit(scenario));
  add(pipelines_to_fit(scenario));
  ways.push_back(last);
  return ways;
}

}  // namespace

std::optional<std::string> memory_note(const Scenario& scenario, const MemoryUse& use) {
  if (!scenario.platform.device.asynchronous || use.fits()) return std::nullopt;
  return fmt::format("may not fit: {} and {} outside the framework's allocator, of {}; {} at least, {}",
                     decimal(use.total()), decimal(use.outside), decimal(use.device), decimal(use.at_least()),
                     scenario.workload.precision == Precision::fp8 ? "where inputs of products are kept in fp8"
                                                                   : "where the allocator gives back what is free");
}

void refuse_what_does_not_fit(const Scenario& scenario, const Value& workload) {
  const Device& device = scenario.platform.device;
  const MemoryUse use = memory_of(scenario);
  if (!device.asynchronous || use.at_least() <= use.device) return;
  throw DoesNotFit(workload.place(),
                   fmt::format("a job that fits into the {} of a {}", decimal(device.memory), device.name),
                   describe(use), fmt::format("; ways out: {}", fmt::join(ways_out(scenario, use), "; ")));
}

}}  // namespace farandole::scenario
