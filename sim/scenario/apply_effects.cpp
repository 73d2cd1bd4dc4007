#include "scenario/apply_effects.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {
namespace {

int device_of(const Scenario& scenario, int rank) {
  return scenario.platform.placement.device_of_rank[static_cast<std::size_t>(rank)];
}

bool contains(const std::vector<int>& values, int value) {
  return std::ranges::find(values, value) != values.end();
}

Seconds compute_on(const Scenario& scenario, const Device& device) {
  const WorkloadSpec& workload = scenario.workload;
  return compute_times(workload.model, device,
                       {workload.precision,
                        workload.batch_per_rank,
                        "",
                        workload.host_dispatch,
                        {},
                        workload.recompute,
                        workload.normalisation,
                        workload.compiled})
      .total();
}

void apply_other_device(Variability& variability, const Scenario& scenario, const OtherDevice& other, Seconds nominal) {
  const double relative = other.device ? compute_on(scenario, *other.device) / nominal : 1 / other.speed;
  const Platform& platform = scenario.platform.platform;
  for (int rank = 0; rank < scenario.platform.ranks; ++rank) {
    if (contains(other.ranks, rank) || contains(other.nodes, platform.node_of(device_of(scenario, rank)))) {
      variability.slow_down(rank, relative - 1);
    }
  }
}

/// Two ranks share a board when they sit on the same node and their slots fall into the same block of so many.
void apply_shared_boards(Variability& variability, const Scenario& scenario) {
  if (scenario.effects.board_slowdown == 0) return;
  const Platform& platform = scenario.platform.platform;
  std::map<std::pair<int, int>, std::vector<int>> boards;
  for (int rank = 0; rank < scenario.platform.ranks; ++rank) {
    const int device = device_of(scenario, rank);
    const int board = device % platform.devices_per_node / scenario.platform.device.board.devices;
    boards[{platform.node_of(device), board}].push_back(rank);
  }
  for (const auto& [board, ranks] : boards) {
    if (ranks.size() < 2) continue;
    for (const int rank : ranks) variability.slow_down(rank, scenario.effects.board_slowdown);
  }
}

bool is_slow(const SlowLink& slow, const std::string& link) {
  if (!slow.links.empty()) return link.starts_with(slow.links);
  return std::ranges::any_of(slow.nodes, [&](int node) { return link.starts_with(fmt::format("node{}/nic", node)); });
}

RankTimes batch_times_of(const Scenario& scenario, const Placement& placement) {
  const auto node_of = [&](int device) { return scenario.platform.platform.node_of(device); };
  const Count samples = Count(scenario.workload.batch_per_rank) * scenario.strategy.accumulation;
  return batch_times(*scenario.effects.input, samples, mapped(placement.device_of_rank, node_of));
}

std::optional<InputPipeline> pipeline(const Scenario& scenario, RankTimes batch_time) {
  if ((batch_time == 0).all()) return std::nullopt;
  const InputSupply& supply = *scenario.effects.input;
  return InputPipeline(std::move(batch_time), supply.prefetch, supply.variation, scenario.seed);
}

/// Of an iteration; where there are servers, these update.
Seconds computed_by_a_rank(const Scenario& scenario, const ComputeTimes& times) {
  const Seconds passes = times.total() - times.update;
  return (scenario.strategy.servers ? passes : times.total()) * scenario.strategy.accumulation;
}

void change(Link& link, const Scenario& scenario) {
  for (const SlowLink& slow : scenario.effects.slow_links) {
    if (!is_slow(slow, link.name)) continue;
    link.capacity *= slow.rate;
    link.latency += slow.added_latency;
  }
  link.capacity *= scenario.mechanisms.network_rate;
  link.latency *= scenario.mechanisms.latency;
}

void change(Transport& transport, const Mechanisms& mechanisms) {
  transport.intra_node_latency *= mechanisms.latency;
  transport.inter_node_latency *= mechanisms.latency;
  transport.launch *= mechanisms.latency;
  transport.message.rendezvous *= mechanisms.latency;
  transport.occupancy.send *= mechanisms.latency;
  transport.occupancy.receive *= mechanisms.latency;
  transport.message.eager_rate *= mechanisms.network_rate;
  transport.reduce_rate *= mechanisms.network_rate;
}

}  // namespace

Variability variability_of(const Scenario& scenario, const ComputeTimes& times) {
  const EffectsSpec& effects = scenario.effects;
  const int ranks = scenario.platform.ranks;
  Variability variability(ranks, effects.device_spread, effects.step_jitter, scenario.seed);
  for (const Straggler& straggler : effects.stragglers) {
    for (const int rank : straggler.ranks) {
      if (rank < ranks) variability.slow_down(rank, straggler.slowdown);
    }
  }
  for (const OtherDevice& other : effects.other_devices) {
    apply_other_device(variability, scenario, other, times.total());
  }
  apply_shared_boards(variability, scenario);
  if (effects.os_noise) variability.disturb(*effects.os_noise, computed_by_a_rank(scenario, times));
  return variability;
}

Variability median_variability(const Scenario& scenario, const ComputeTimes& times) {
  Variability median(scenario.strategy.replica(), 0, scenario.effects.step_jitter, scenario.seed);
  if (scenario.effects.os_noise) median.disturb(*scenario.effects.os_noise, computed_by_a_rank(scenario, times));
  return median;
}

Platform platform_of(const Scenario& scenario) {
  Platform platform = scenario.platform.platform;
  const Mechanisms& mechanisms = scenario.mechanisms;
  if (!scenario.effects.slow_links.empty() || mechanisms.network_rate != 1 || mechanisms.latency != 1) {
    for (Link& link : platform.links) change(link, scenario);
    add_up_bundles(platform);
  }
  change(platform.transport, mechanisms);
  if (platform.mpi) change(*platform.mpi, mechanisms);
  platform.flow_rate *= mechanisms.network_rate;
  return platform;
}

std::optional<InputPipeline> input_of(const Scenario& scenario, const Placement& placement) {
  if (!scenario.effects.input) return std::nullopt;
  return pipeline(scenario, batch_times_of(scenario, placement));
}

std::optional<InputPipeline> input_of_one(const Scenario& scenario) {
  if (!scenario.effects.input) return std::nullopt;
  return pipeline(scenario, all_at(1, latest(batch_times_of(scenario, scenario.platform.placement))));
}

BytesPerSecond rate_of_nics(const Platform& platform) {
  BytesPerSecond sum;
  for (const NodeTemplate::Nic& nic : platform.node.nics) {
    if (nic.up >= 0) sum += platform.node.links[static_cast<std::size_t>(nic.up)].capacity;
  }
  return sum;
}

std::optional<Scenario> while_writing(const Scenario& scenario) {
  const auto& checkpoint = scenario.effects.checkpoint;
  if (!checkpoint || !checkpoint->over_network) return std::nullopt;
  Scenario writing = scenario;
  writing.effects.checkpoint.reset();
  const PlatformSpec& spec = scenario.platform;
  SlowLink nics;
  nics.rate = 1 - checkpoint->rate_of_node() / rate_of_nics(spec.platform);
  std::set<int> nodes;
  for (const int device : spec.placement.device_of_rank) nodes.insert(spec.platform.node_of(device));
  if (!checkpoint->sharded) nodes = {spec.platform.node_of(spec.placement.device_of_rank.front())};
  nics.nodes.assign(nodes.begin(), nodes.end());
  writing.effects.slow_links.push_back(std::move(nics));
  return writing;
}

void charge_checkpoints(TrainingRun& run, std::vector<WeightedDuration>& durations, const Checkpoint& checkpoint) {
  const double often = checkpoint.per_iteration(run.iteration);
  const Seconds each = checkpoint.cost(run.iteration);
  const Seconds cost = each * often;
  run.iteration += cost;
  run.breakdown.checkpoint += cost;
  std::vector<WeightedDuration> charged;
  const double with = std::min(often, 1.0);
  for (const auto& [duration, weight] : durations) {
    charged.push_back({duration, weight * (1 - with)});
    charged.push_back({duration + each * std::max(often, 1.0), weight * with});
  }
  durations = std::move(charged);
}

}}  // namespace farandole::scenario
