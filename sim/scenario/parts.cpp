#include "scenario/parts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/fit_memory.hpp"
#include "training/memory.hpp"
#include "units/format.hpp"
#include "workload/kernels.hpp"

namespace farandole { inline namespace scenario {
namespace {

std::string options_of(const StrategyChoice& strategy) {
  std::vector<std::string> options;
  if (!strategy.variant.empty()) options.push_back(strategy.variant);
  if (strategy.sharding_stage > 0 && strategy.shards > 0) {
    options.push_back(fmt::format("shard group {}", strategy.shards));
  }
  if (strategy.tensor_parallel > 1) {
    options.push_back(fmt::format("tensor parallel {}{}", strategy.tensor_parallel,
                                  strategy.sequence_parallel ? ", sequence parallel" : ""));
  }
  if (strategy.expert_parallel > 1) options.push_back(fmt::format("experts over {}", strategy.expert_parallel));
  if (strategy.pipeline > 1) options.push_back(fmt::format("pipeline {}", strategy.pipeline));
  if (strategy.compression.kind != Compression::none) options.push_back(describe(strategy.compression));
  if (strategy.accumulation > 1) options.push_back(fmt::format("{} passes", strategy.accumulation));
  if (strategy.streams > 1) options.push_back(fmt::format("{} streams", strategy.streams));
  if (!strategy.overlap) options.emplace_back("no overlap");
  if (strategy.period > 1) options.push_back(fmt::format("every {} steps", strategy.period));
  if (strategy.servers && strategy.servers->placement != ServerPlan{}.placement)
    options.push_back(strategy.servers->placement);
  return fmt::format("{}", fmt::join(options, ", "));
}

std::optional<Anchoring> anchoring_of(const WorkloadSpec& workload) {
  if (workload.anchored_on.empty()) return std::nullopt;
  const auto& steps = workload.device_steps;
  Anchoring anchoring;
  for (const DeviceStep& step : steps) anchoring.steps.push_back({step.batch, step.time});
  if (steps.size() > 1) {
    anchoring.per_sample = (steps.back().time - steps.front().time) / (steps.back().batch - steps.front().batch);
    anchoring.fixed = steps.front().time - steps.front().batch * *anchoring.per_sample;
  }
  return anchoring;
}

/// What goes over the wire instead of the gradients, and what that costs the device.
std::string what_it_costs(const Scenario& scenario, const Job& job) {
  const CompressionSettings& compression = scenario.strategy.compression;
  const bool gathers = uses_allgather(compression.kind);
  const Coder coder = coder_of(scenario);
  Bytes sent;
  Seconds encode;
  Seconds decode;
  for (const Gradient& gradient : job.gradients) {
    const Coding coding = coding_of(compression, job, gradient, coder, gathers ? scenario.replicas() : 1);
    sent += compressed_size(compression, job, gradient);
    encode += coding.encode;
    decode += coding.decode;
    if (compression.kind == Compression::power_sgd && has_low_rank(compression, gradient)) {
      decode += between_factors(compression, job, gradient, coder);
    }
  }
  return fmt::format(
      "compression {}: a rank sends {} instead of {} in a step; encoding takes its device {}, all after that {}",
      describe(compression), decimal(sent), decimal(job.gradient_bytes()), decimal(encode), decimal(decode));
}

/// What a reader would otherwise take for a result.
std::vector<std::string> notes_of(const Scenario& scenario, const Job& job) {
  const CompressionSettings& compression = scenario.strategy.compression;
  if (scenario.replicas() == 1 || compression.kind == Compression::none) return {};
  if (!changes_nothing(compression, job)) return {what_it_costs(scenario, job)};
  const bool is_short = job.element < element_size(GradientType::fp32) && compression.kind != Compression::power_sgd;
  return {fmt::format("compression {} changes nothing: {}", name(compression.kind),
                      is_short ? fmt::format("gradients are {} already", name(scenario.workload.gradient_type))
                               : "no gradient would get shorter")};
}

/// Sharded strategies have no other operations.
ExposedCommunication exposed_of(const TrainingRun& run, const StrategyChoice& strategy) {
  const auto& exposed = run.exposed;
  const auto of = [&](Operation operation) {
    const auto found = exposed.find(operation);
    return found == exposed.end() ? 0_s : found->second;
  };
  return {of(Operation::allgather),
          of(Operation::reduce_scatter),
          of(Operation::allreduce),
          strategy.tensor_parallel > 1 ? std::optional(run.exposed_inside) : std::nullopt,
          strategy.expert_parallel > 1 ? std::optional(run.exposed_inside) : std::nullopt,
          strategy.pipeline > 1 ? std::optional(run.exposed_between_stages) : std::nullopt};
}

Utilisation utilisation_of(const Scenario& scenario, double samples_per_second) {
  const WorkloadSpec& workload = scenario.workload;
  Utilisation result;
  result.sequence_length = workload.model.sequence_length;
  result.tokens_per_second = workload.model.sequence_length * samples_per_second;
  result.recompute = name(workload.recompute);
  const Seconds sample(scenario.platform.ranks / samples_per_second);  // of one device
  const FlopPerSecond rate = model_flops(workload.model) / sample;
  result.tflops = rate / 1_TFLOPps;
  const auto peak = scenario.platform.device.peak.find(workload.precision);
  if (peak == scenario.platform.device.peak.end()) return result;
  result.mfu = rate / peak->second;
  result.hfu = hardware_flops(workload.model, workload.recompute) / sample / peak->second;
  return result;
}

}  // namespace

Job job_of(const Scenario& scenario, const ComputeTimes& times) {
  const WorkloadSpec& workload = scenario.workload;
  Job job = make_job(workload.of_rank(), times, workload.gradient_type, workload.host_dispatch);
  if (workload.part) {
    const ExchangeDemand demand{workload.batch_per_rank, element_size(workload.precision),
                                scenario.strategy.sequence_parallel, workload.recompute};
    if (scenario.strategy.tensor_parallel > 1) add_exchanges(job, *workload.part, demand);
    if (scenario.strategy.expert_parallel > 1) add_expert_exchanges(job, *workload.part, demand);
  }
  job = accumulated(std::move(job), scenario.strategy.accumulation);
  job.update /= scenario.strategy.shards_of(scenario.platform.ranks);
  if (scenario.strategy.offloads_optimizer) job.update = offloaded_update(scenario);
  return scenario.strategy.overlap ? job : without_overlap(std::move(job));
}

Coder coder_of(const Scenario& scenario) {
  const Device& device = scenario.platform.device;
  const double faster = scenario.mechanisms.copy_rate;
  const double share = device.kernels ? device.kernels->memory : 1;
  const Seconds launch = device.kernels ? device.kernels->launch : 0_s;
  const bool has_single = device.peak.contains(Precision::fp32);  // in which PyTorch multiplies unless it is told to
  const ProductRate products = product_rate(device, has_single ? Precision::fp32 : scenario.workload.precision);
  Coder coder{device.memory_bandwidth * (share * faster),
              std::max(launch, scenario.workload.host_dispatch.value_or(0_s)) / faster, products.most * faster,
              products.half};
  coder.multiprocessors = std::max(1, device.multiprocessors);
  coder.by_bucket = scenario.strategy.kind == "ddp";
  coder.start = launch / faster;
  return coder;
}

Job travelling_job_of(const Scenario& scenario, const ComputeTimes& times) {
  const bool travels = scenario.replicas() > 1 && !scenario.strategy.servers;
  const StrategyChoice& strategy = scenario.strategy;
  if (!travels || (strategy.compression.kind == Compression::none && !strategy.hooks)) return job_of(scenario, times);
  Scenario overlapping = scenario;
  overlapping.strategy.overlap = true;
  const Coder coder = coder_of(scenario);
  Job job = job_of(overlapping, times);
  if (strategy.hooks) job = hooked(std::move(job), *strategy.hooks, coder);
  job = encoded(std::move(job), strategy.compression, coder);
  return strategy.overlap ? job : without_overlap(std::move(job));
}

StrategySite site_of(const Scenario& scenario, const Job& job, const Placement& placement, Timeline* timeline) {
  const PlatformSpec& spec = scenario.platform;
  return {job,
          static_cast<int>(placement.device_of_rank.size()),
          placement.ranks_per_node(spec.platform.devices_per_node),
          spec.device.memory_bandwidth * scenario.mechanisms.copy_rate,
          coder_of(scenario),
          spec.platform.transport.control_latency,
          spec.device.asynchronous ? "NCCL" : "MPI",
          scenario.seed,
          timeline,
          scenario.strategy.reduces_through_hosts
              ? host_copy_rate(spec, placement, not_pinned) * scenario.mechanisms.copy_rate
              : BytesPerSecond::infinity(),
          std::min(scenario.strategy.tensor_parallel, static_cast<int>(placement.device_of_rank.size()))};
}

Measure whole_periods(Measure measure, int period) {
  const auto up = [period](int count) { return (count + period - 1) / period * period; };
  measure.iterations = up(measure.iterations);
  measure.warmup = up(measure.warmup);
  return measure;
}

const Algorithm& algorithm_of(const Scenario& scenario) {
  const auto& servers = scenario.strategy.servers;
  if (!servers) return scenario.collectives.at(carrier_of(scenario.strategy));
  return *find_algorithm(Operation::parameter_server, servers->colocated ? "colocated" : "dedicated");
}

Operation carrier_of(const StrategyChoice& strategy) {
  if (strategy.sharding_stage == 3) return Operation::allgather;
  if (strategy.sharding_stage > 0) return Operation::reduce_scatter;
  if (strategy.servers) return Operation::parameter_server;
  const bool gathers = strategy.kind == "allgather" || uses_allgather(strategy.compression.kind);
  return gathers ? Operation::allgather : Operation::allreduce;
}

TrainingPoint described(const Scenario& scenario, const Job& job, const ComputeTimes& times) {
  TrainingPoint point;
  point.model = scenario.workload.model.name;
  point.variant = scenario.workload.model.variant;
  point.ranks = scenario.platform.ranks;
  point.nodes = scenario.platform.placement.nodes_used;
  point.platform = scenario.platform.platform.name;
  point.strategy = scenario.strategy.kind;
  point.mode = scenario.strategy.mode;
  point.strategy_options = options_of(scenario.strategy);
  point.algorithm = algorithm_of(scenario).name;
  point.batch_per_rank = scenario.workload.batch_per_rank;
  point.precision = name(scenario.workload.precision);
  point.gradient_type = name(scenario.workload.gradient_type);
  point.compute_source = times.source;
  point.anchoring = anchoring_of(scenario.workload);
  point.gradient_bytes = job.gradient_bytes();
  const MemoryEstimate memory = memory_of(scenario);
  point.memory = memory;
  point.notes = notes_of(scenario, job);
  if (auto note = memory_note(scenario, memory)) point.notes.push_back(std::move(*note));
  return point;
}

void take_results(TrainingPoint& point, const TrainingRun& run, const std::vector<WeightedDuration>& durations,
                  const Scenario& scenario) {
  point.iteration = run.iteration;
  point.iteration_p50 = percentile(durations, 0.5);
  point.iteration_p95 = percentile(durations, 0.95);
  point.samples_per_second = static_cast<double>(scenario.samples_per_step()) / run.iteration.si();
  point.utilisation = utilisation_of(scenario, point.samples_per_second);
  point.breakdown = run.breakdown;
  const StrategyChoice& strategy = scenario.strategy;
  if (is_sharded(strategy) || strategy.replica() > 1 || strategy.expert_parallel > 1)
    point.exposed = exposed_of(run, strategy);
  point.collectives_per_iteration = run.collectives_per_iteration;
}

}}  // namespace farandole::scenario
