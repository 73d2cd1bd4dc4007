#include "scenario/parts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/section.hpp"
#include "platform/host_route.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/model_error.hpp"
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
std::string what_compression_does(const Scenario& scenario, const Job& job) {
  const CompressionSettings& compression = scenario.strategy.compression;
  if (!changes_nothing(compression, job)) return what_it_costs(scenario, job);
  const bool is_short = job.element < element_size(GradientType::fp32) && compression.kind != Compression::power_sgd;
  return fmt::format("compression {} changes nothing: {}", name(compression.kind),
                     is_short ? fmt::format("gradients are {} already", name(scenario.workload.gradient_type))
                              : "no gradient would get shorter");
}

std::vector<std::string> notes_of(const Scenario& scenario, const Job& job) {
  std::vector<std::string> notes;
  const Model& model = scenario.workload.model;
  if (!model.is_trained_whole()) {
    const double share = static_cast<double>(model.trainable_parameters()) / static_cast<double>(model.parameters());
    notes.push_back(fmt::format("{} of {} parameters are trained, {:.3g} %", counted(model.trainable_parameters()),
                                counted(model.parameters()), 100 * share));
  }
  if (scenario.replicas() > 1 && scenario.strategy.compression.kind != Compression::none)
    notes.push_back(what_compression_does(scenario, job));
  return notes;
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
  const FlopPerSecond causal = causal_flops(workload.model) / sample;
  if (causal < rate * (1 - 1e-9)) result.mfu_causal = causal / peak->second;
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
  point.memory = memory_of(scenario);
  point.notes = notes_of(scenario, job);
  if (auto note = memory_note(scenario, point.memory)) point.notes.push_back(std::move(*note));
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

// What a step of one device takes: profiled, measured or estimated.

/// Of the profiles that profiled_times chooses among, the steps that rise with the batch.
static std::vector<DeviceStep> profiled_steps(const WorkloadSpec& workload, const std::string& device) {
  std::map<int, Seconds> by_batch;
  const auto collect = [&](const std::string& owner) {
    for (const Profile& profile : workload.profiles) {
      if (profile.device != owner || profile.precision.value_or(workload.precision) != workload.precision) continue;
      by_batch.try_emplace(profile.batch, profile.total());
    }
  };
  collect(device);
  if (by_batch.empty()) collect("");
  std::vector<DeviceStep> steps;
  for (const auto& [batch, time] : by_batch) {
    if (steps.empty() || time > steps.back().time) steps.push_back({batch, time});
  }
  return steps;
}

/// At batches that nobody profiled, the step goes by the profiled ones and the kernels' estimate, as measured rows do
/// (workload/compute_time.hpp), instead of in proportion to the nearest: a small batch pays for its launches.
static void follow_estimate(ComputeTimes& times, const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const Device& device = scenario.platform.device;
  const bool can_estimate = device.assumed_efficiency > 0 || device.kernels;
  if (!can_estimate || !device.peak.contains(workload.precision)) return;
  Device unmeasured = device;
  unmeasured.measurements.clear();
  const auto estimate = [&](int batch) {
    return compute_times(
               workload.model, unmeasured,
               {workload.precision, batch, "", {}, {}, Recompute::none, workload.normalisation, workload.compiled})
        .total();
  };
  const std::vector<DeviceStep> steps = profiled_steps(workload, device.name);
  stretch(times, corrected_step(steps, workload.batch_per_rank, estimate) / times.total());
  if (!device.bands) return;
  std::vector<int> batches;
  for (const DeviceStep& step : steps) batches.push_back(step.batch);
  times.band = band_beside(batches, workload.batch_per_rank, device.bands->batch_doubled, device.bands->model);
}

ComputeTimes times_of(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const Device& device = scenario.platform.device;
  const bool known = !workload.device_steps.empty();  // by the user: better than what was profiled elsewhere
  auto profiled = known || workload.part
                      ? std::nullopt
                      : profiled_times(workload.profiles, device.name, workload.precision, workload.batch_per_rank);
  if (profiled) {
    follow_estimate(*profiled, scenario);
    add_recomputation(*profiled, workload.model, workload.recompute);
    stretch(*profiled, workload.compute_stretch);
    return *profiled;
  }
  ComputeTimes times = compute_times(
      workload.of_rank(), device,
      {workload.precision, workload.batch_per_rank, scenario.platform.platform.measurements, workload.host_dispatch,
       workload.device_steps, workload.recompute, workload.normalisation, workload.compiled});
  if (!known) times.update *= update_traffic(workload.optimizer) / update_traffic(usual_optimizer());
  if (!workload.anchored_on.empty()) times.source = "anchored: " + workload.anchored_on;
  times.band = together(times.band, workload.carried);
  stretch(times, workload.compute_stretch * workload.beside(scenario.platform.ranks));
  return times;
}

BytesPerSecond host_copy_rate(const PlatformSpec& spec, const Placement& placement, double touches) {
  const Platform& platform = spec.platform;
  const int node = platform.node_of(placement.device_of_rank.front());
  std::map<int, double> crossed;
  int ranks = 0;
  for (const int device : placement.device_of_rank) {
    if (platform.node_of(device) != node) continue;
    ++ranks;
    const Route route = route_to_host(platform, device, node);
    for (const int link : route.links) crossed[link] += 1.0 / route.paths;
  }
  const BytesPerSecond memory = spec.device.host_memory_bandwidth;
  BytesPerSecond rate = memory > BytesPerSecond(0) ? memory / (touches * ranks) : BytesPerSecond::infinity();
  for (const auto& [link, times] : crossed) {
    rate = std::min(rate, platform.links[static_cast<std::size_t>(link)].capacity / times);
  }
  return rate;
}

Seconds offloaded_update(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const PlatformSpec& spec = scenario.platform;
  const int shards = scenario.strategy.shards_of(spec.ranks);
  const double parameters = static_cast<double>(workload.of_rank().trainable_parameters()) / shards;
  const BytesPerSecond copies = host_copy_rate(spec, spec.placement, pinned) * scenario.mechanisms.copy_rate;
  const int beside = spec.placement.ranks_per_node(spec.platform.devices_per_node);
  const Bytes moved = parameters * update_traffic(workload.optimizer) * element_size(GradientType::fp32);
  const Bytes copied = parameters * (element_size(workload.gradient_type) + element_size(workload.precision));
  return copied / copies + moved / (spec.device.host_memory_bandwidth / beside);
}

}}  // namespace farandole::scenario
