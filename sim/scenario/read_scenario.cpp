#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "platform/launch_line.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/library_choice.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/scenario.hpp"
#include "training/pasted/pasted.hpp"
#include "units/format.hpp"

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
  const Bytes gradients =
      static_cast<double>(workload.model.trainable_parameters()) * element_size(workload.gradient_type);
  // What is gathered and scattered in groups of neighbours does not leave them.
  const int shards = scenario.strategy.sharding_stage == 3 ? scenario.strategy.shards : 0;
  std::vector<int> members(static_cast<std::size_t>(shards > 1 && shards < spec.ranks ? shards : 0));
  std::iota(members.begin(), members.end(), 0);
  const Placement group = members.empty() ? spec.placement : placement_of(spec.platform, spec.placement, members);
  const LibraryJob job{spec.platform, group, operation, 0, device, spec.scale};
  return library->planner(job).plan(gradients).choice.channels;
}

/// What a running collective takes of the devices that compute, where a scenario does not say it itself: from 0 to
/// below 1, of a scenario that is read up to its effects. Charged by engine/device_share.hpp. It follows from the
/// device, and from who carries the gradients' collective out:
///
///   NCCL  a channel is one block of threads, for which a multiprocessor is kept: its kernels are compiled for one
///         block on each (__launch_bounds__(NCCL_MAX_NTHREADS, 1), src/device/common.h) and spin while they wait. So
///         channels / multiprocessors, with the channels of all gradients at once: twice those that its search finds
///         (src/graph/connect.cc: ncclTopoPostset); before 2.4 one for each NIC, or two on Kepler (src/misc/rings.cu).
///         A topology may state its "channels". Several streams (HOROVOD_NUM_NCCL_STREAMS) take as much each.
///   MPI on processors  the thread that calls it polls on a core: 1 / cores. Horovod's and Gloo's have their own.
///   MPI with GPUs  nothing: the host's cores move and add up what the devices do not wait for.
///
/// Nothing where the topology has neither library nor channels or the device no parts, with servers, and for one rank.
double share_of_collectives(const Scenario& scenario) {
  const PlatformSpec& spec = scenario.platform;
  const int parts = spec.device.multiprocessors;
  if (scenario.strategy.servers || scenario.strategy.by_gloo || spec.ranks == 1 || parts == 0) return 0;
  const int taken = spec.device.asynchronous ? channels_on_device(scenario, carrier_of(scenario.strategy)) : 1;
  return taken < parts ? static_cast<double>(taken) / parts : 0;
}

/// What a run was asked to start: a number of ranks, or a launch line.
struct Launch {
  int ranks = 1;
  std::optional<LaunchLine> line;
};

Launch read_launch(Section& section, const TextReader& read_file) {
  const auto ranks = section.maybe("ranks");
  const auto text = section.maybe("launch");
  if (!text) return {ranks ? read_at_least(*ranks, 1) : 1, {}};
  LaunchLine line = parse_launch_line(read<std::string>(*text), *text, read_file);
  for (const auto& option : line.job) {
    if (option.first.starts_with('-')) line.ignored.push_back(text_of(option));
  }
  if (ranks && read_at_least(*ranks, 1) != line.ranks) {
    ranks->fail(fmt::format("{} as the launch line says, or no \"ranks\"", line.ranks));
  }
  return {line.ranks, std::move(line)};
}

/// A set of measurements is a device's own, so an override that changes the device changes the set too.
void refuse_foreign_set(const PlatformSpec& spec, const Value& where) {
  const std::string& set = spec.platform.measurements;
  const auto is_of_it = [&](const Measurement& row) { return row.set == set; };
  if (set.empty() || std::ranges::any_of(spec.device.measurements, is_of_it)) return;
  where.fail("a \"/node/measurements\" of " + spec.device.name + ", or \"\" for its first of the model", quoted(set));
}

PlatformSpec read_platform(const Value& where, const Catalogue& catalogue, const Platform* built, Launch& launch,
                           Topology& topology) {
  Section section(where);
  const Value name = section.child("topology");
  const auto override = section.maybe("override");
  topology = catalogue.topology(read<std::string>(name), name, override);
  if (const auto condition = section.maybe("condition")) topology.condition.add(read_condition(*condition));
  if (const auto traffic = section.maybe("traffic")) add_constant_traffic(*traffic, topology);
  launch = read_launch(section, catalogue.reader());
  const auto placement = section.maybe("placement");
  const PlacementRule rule = placement ? read_placement_rule(*placement) : PlacementRule{};
  PlatformSpec spec;
  if (const auto scale = section.maybe("scale")) spec.scale = read_network_scale(*scale);
  section.finish();
  spec.ranks = launch.ranks;
  spec.placement = launch.line ? place(*launch.line, rule, layout_of(topology), where)
                               : place(rule, launch.ranks, {}, layout_of(topology), where);
  const int nodes = layout_of(topology).nodes_for(spec.placement.nodes_needed(topology.devices_per_node));
  const bool is_built = built != nullptr && built->nodes == nodes;
  spec.platform = is_built ? *built : build_for(topology, spec.scale, spec.placement, where);
  spec.condition = topology.condition;
  spec.calibration = topology.calibration;
  spec.device = catalogue.device(spec.platform.device, override.value_or(name));
  refuse_foreign_set(spec, override.value_or(name));
  if (topology.host_memory) spec.device.host_memory_bandwidth = *topology.host_memory;
  return spec;
}

/// Servers that do not share the workers' nodes need nodes of their own.
void reserve_server_nodes(StrategyChoice& strategy, const Topology& topology, const Value& where, PlatformSpec& spec) {
  if (!strategy.servers) return;
  if (strategy.servers->servers == 0) strategy.servers->servers = spec.placement.nodes_used;  // one per node
  constexpr int most_connections = 1 << 24;
  require_at_most(Count(spec.ranks) * strategy.servers->servers, most_connections,
                  "connections between ranks and servers", where);
  if (strategy.servers->colocated) return;
  const int free = spec.platform.nodes - spec.placement.nodes_used;
  const int servers = strategy.servers->servers;
  if (free >= servers) return;
  if (topology.nodes) {
    where.fail(fmt::format("a topology with {} nodes left for servers", servers), fmt::format("{} left", free),
               "; \"colocated\": true puts them on the workers' nodes");
  }
  spec.platform = build(topology, spec.scale, spec.placement.nodes_needed(topology.devices_per_node) + servers, where);
}

/// Adasum on GPUs sums up within a node first. Between those it combines, Horovod wants a power of two.
void choose_adasum(Scenario& scenario, const Value& where) {
  auto& algorithms = scenario.strategy.algorithms;
  const auto chosen = algorithms.find(Operation::allreduce);
  if (chosen == algorithms.end() || chosen->second != "adasum") return;
  const PlatformSpec& spec = scenario.platform;
  const int per_node = spec.placement.ranks_per_node(spec.platform.devices_per_node);
  const bool sums_first = spec.device.asynchronous && spec.ranks % per_node == 0;
  if (sums_first) chosen->second = "hierarchical_adasum";
  const int combiners = sums_first ? spec.ranks / per_node : spec.ranks;
  if (std::has_single_bit(static_cast<unsigned>(combiners))) return;
  where.fail(fmt::format("a power of two of {} for Adasum, which Horovod has no other way to combine",
                         sums_first ? "nodes" : "ranks"),
             fmt::format("{}", combiners));
}

/// Horovod has its hierarchies, its torus and several streams for NCCL only, and the first two between nodes only.
void choose_levels(Scenario& scenario, const Value& where) {
  StrategyChoice& strategy = scenario.strategy;
  const PlatformSpec& spec = scenario.platform;
  if (strategy.kind != "horovod") return;
  if (!spec.device.asynchronous) strategy.streams = 1;
  const int per_node = spec.placement.ranks_per_node(spec.platform.devices_per_node);
  const bool has_levels = spec.device.asynchronous && spec.placement.nodes_used > 1;
  const auto chosen = strategy.algorithms.find(Operation::allreduce);
  const bool is_asked = chosen != strategy.algorithms.end() && chosen->second == "hierarchical";
  if (is_asked && !has_levels) {
    strategy.algorithms.erase(chosen);
    strategy.ignored.push_back(spec.device.asynchronous ? "levels of an allreduce (there is one node)"
                                                        : "levels of an allreduce (Horovod has them for NCCL only)");
  }
  strategy.reduces_through_hosts = strategy.reduces_through_hosts && has_levels;
  if (is_asked && strategy.reduces_through_hosts && per_node == 1 && spec.placement.nodes_used < spec.ranks) {
    where.fail("ranks that fill one node after the other for HOROVOD_HIERARCHICAL_ALLREDUCE",
               "nodes that ranks go to in turn");
  }
}

PastedInto pasted_into(const Scenario& scenario) {
  const PlatformSpec& spec = scenario.platform;
  const WorkloadSpec& workload = scenario.workload;
  PastedInto into;
  into.ranks = spec.ranks;
  into.nodes = spec.placement.nodes_used;
  into.ranks_per_node = spec.placement.ranks_per_node(spec.platform.devices_per_node);
  into.global_batch = workload.global_batch;
  into.batch_per_rank = workload.global_batch > 0 ? 0 : workload.batch_per_rank;
  into.precision = name(workload.precision);
  into.optimizer = workload.optimizer.name;
  into.recomputes = workload.recompute != Recompute::none;
  return into;
}

}  // namespace

Node unpasted_strategy(const Value& strategy, const Scenario& scenario, const Catalogue& catalogue) {
  return unpaste(strategy, pasted_into(scenario), catalogue.reader()).strategy;
}

namespace {

StrategyChoice read_strategy_of(const Value& where, const Launch& launch, const Scenario& scenario,
                                const Catalogue& catalogue) {
  const Pasted pasted = unpaste(where, pasted_into(scenario), catalogue.reader());
  StrategyChoice choice =
      read_strategy(Value(pasted.strategy, where.pointer()),
                    launch.line ? launch.line->environment : std::map<std::string, std::string>{}, launch.ranks,
                    scenario.platform.placement.ranks_per_node(scenario.platform.platform.devices_per_node));
  std::ranges::copy(pasted.ignored, std::back_inserter(choice.ignored));
  return choice;
}

/// More than anyone waits for, point by point.
constexpr int most_steps = 1'000'000;
constexpr int most_seeds = 100'000;

void read_measure(const std::optional<Value>& where, Scenario& scenario) {
  // Horovod's cycles take what is ready, by chance more or less of it.
  if (!only_jitters(scenario) || scenario.strategy.kind == "horovod") scenario.measure = {100, 10};
  if (!where) return;
  Section section(*where);
  if (const auto iterations = section.maybe("iterations"))
    scenario.measure.iterations = read_between(*iterations, 1, most_steps);
  if (const auto warmup = section.maybe("warmup")) scenario.measure.warmup = read_between(*warmup, 0, most_steps);
  if (const auto seed = section.maybe("seed")) scenario.seed = static_cast<std::uint64_t>(read_at_least(*seed, 0));
  if (const auto seeds = section.maybe("seeds")) scenario.seeds = read_between(*seeds, 1, most_seeds);
  scenario.explain = section.optional("explain", false);
  scenario.bands = section.optional("bands", true);
  if (const auto fidelity = section.maybe("fidelity")) {
    scenario.fidelity = read_named(*fidelity, "a fidelity", fidelities(), &FidelityRow::name).fidelity;
  }
  section.finish();
}

/// Unless a size is given: what is trained and what the optimizer keeps, in single precision, as frameworks save them.
void size_checkpoints(Scenario& scenario) {
  auto& checkpoint = scenario.effects.checkpoint;
  if (!checkpoint || checkpoint->size > 0_B) return;
  const auto saved =
      static_cast<double>((1 + scenario.workload.optimizer.slots) * scenario.workload.model.trainable_parameters());
  checkpoint->size = saved * element_size(Precision::fp32);
}

/// Who writes, and where "every" is "best", how often: as failures make it the best.
void plan_checkpoints(Scenario& scenario, const std::optional<Value>& effects, const std::optional<Value>& run) {
  auto& checkpoint = scenario.effects.checkpoint;
  const FailureSpec* failures = scenario.run && scenario.run->failures ? &*scenario.run->failures : nullptr;
  if (failures != nullptr && failures->reloads && !checkpoint) {
    Section(Section(*run).child("failures")).child("reload").fail("a \"checkpoint\" of \"effects\" to read");
  }
  if (!checkpoint) return;
  const PlatformSpec& platform = scenario.platform;
  checkpoint->writers = checkpoint->sharded ? platform.ranks : 1;
  checkpoint->nodes = checkpoint->sharded ? platform.placement.nodes_used : 1;
  const BytesPerSecond nics = rate_of_nics(platform.platform);
  if (checkpoint->over_network && checkpoint->rate_of_node() >= nics) {
    Section(Section(*effects).child("checkpoint"))
        .child("over_network")
        .fail(fmt::format("writing that leaves training something of a node's {}", format(nics)),
              fmt::format("{} of a node", format(checkpoint->rate_of_node())), "; \"node_bandwidth\" bounds it");
  }
  if (!checkpoint->every_best) return;
  const Value where = Section(Section(*effects).child("checkpoint")).child("every");
  if (failures == nullptr || failures->elastic) {
    where.fail("a time; \"best\" follows from \"failures\" of the \"run\" that the job restarts after");
  }
  RestartPlan plan;
  plan.checkpoint = checkpoint->pause();
  plan.background = checkpoint->background();
  plan.mtbf = failures->mtbf(platform.placement.nodes_used, platform.ranks);
  checkpoint->every = best_interval(plan);
  if (*checkpoint->every == 0_s) where.fail("a time, because checkpoints that take no time are best always");
}

}  // namespace

bool only_jitters(const Scenario& scenario) {
  const EffectsSpec& effects = scenario.effects;
  const bool is_alone = scenario.traffic.on_off.empty() && scenario.traffic.jobs.empty();
  const bool repeats = !scenario.strategy.servers && scenario.strategy.period == 1;
  return is_alone && repeats && !effects.os_noise && !effects.input && !effects.checkpoint;
}

Scenario read_scenario(const Value& where, const Catalogue& catalogue) {
  return read_scenario(where, catalogue, nullptr);
}

Scenario read_scenario(const Value& where, const Catalogue& catalogue, const Platform* built) {
  Section section(where);
  Scenario scenario;
  scenario.name = section.required<std::string>("name");
  // Of the whole file: what it is, and what to look for among changes of it (study/, scenario/sweep.hpp).
  (void)section.maybe_read<std::string>("summary");
  for (const char* key : {"optimise", "question"}) section.maybe(key);
  const Value workload = section.child("workload");
  Launch launch;
  Topology topology;
  const Value platform = section.child("platform");
  scenario.platform = read_platform(platform, catalogue, built, launch, topology);
  scenario.workload = read_workload(workload, catalogue, scenario.platform.device);
  Device& device = scenario.platform.device;
  device.assumed_efficiency = scenario.workload.assumed_efficiency.value_or(device.assumed_efficiency);
  if (launch.line) scenario.ignored = launch.line->ignored;
  const Value strategy = section.child("strategy");
  scenario.strategy = read_strategy_of(strategy, launch, scenario, catalogue);
  split_among_ranks(scenario, strategy, workload);
  choose_adasum(scenario, strategy);
  choose_levels(scenario, strategy);
  reserve_server_nodes(scenario.strategy, topology, platform, scenario.platform);
  share_batch(scenario, workload);
  std::ranges::copy(scenario.strategy.ignored, std::back_inserter(scenario.ignored));
  read_collectives(section.maybe("collectives"), catalogue, scenario);
  const auto effects = section.maybe("effects");
  scenario.effects = read_effects(effects, scenario, share_of_collectives(scenario), catalogue);
  if (scenario.strategy.streams > 1 && scenario.strategy.kind != "horovod") {
    leave_default_libraries(scenario, "several streams are threads of Gloo, whose algorithms are its own");
  }
  size_checkpoints(scenario);
  const auto measure = section.maybe("measure");
  const auto run = section.maybe("run");
  if (run) scenario.run = read_run(*run, scenario.samples_per_step());
  plan_checkpoints(scenario, effects, run);
  if (const auto economics = section.maybe("economics")) scenario.economics = read_economics(*economics, catalogue);
  if (const auto learning = section.maybe("learning")) scenario.learning = read_learning(*learning, scenario);
  refuse_with_replicas(scenario, effects, where);
  if (scenario.strategy.offloads_optimizer && device.host_memory_bandwidth == BytesPerSecond(0)) {
    Section(strategy)
        .child("offload_optimizer")
        .fail("false on a topology that does not say its hosts' memory bandwidth");
  }
  section.finish();
  const auto traffic = Section(platform).maybe("traffic");
  if (traffic) read_traffic(*traffic, platform, catalogue, topology, scenario);
  read_measure(measure, scenario);
  refuse_what_does_not_fit(scenario, workload);
  return scenario;
}

}}  // namespace farandole::scenario
