#include <fmt/format.h>

#include "learning/learn.hpp"
#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/train.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// How many neighbouring ranks are summed up before Adasum combines; 0 without it.
int adasum_group(const Scenario& scenario) {
  const auto& algorithms = scenario.strategy.algorithms;
  const auto found = algorithms.find(Operation::allreduce);
  if (found == algorithms.end()) return 0;
  const PlatformSpec& spec = scenario.platform;
  if (found->second == "hierarchical_adasum") return spec.placement.ranks_per_node(spec.platform.devices_per_node);
  return found->second == "adasum" ? 1 : 0;
}

/// As settings call it; parameters of ZeRO travel in what they are trained in, 16 bits.
GradientType type_of(const Settings& settings, const char* key, GradientType usual) {
  const auto found = settings.find(key);
  if (found == settings.end()) return usual;
  if (found->second == "fp32") return GradientType::fp32;
  return found->second == "fp16" ? GradientType::fp16 : GradientType::bf16;
}

/// Of strategies whose ranks keep parts of the weights.
WeightSharding sharding_of(const Scenario& scenario) {
  const StrategyChoice& strategy = scenario.strategy;
  const int ranks = scenario.platform.ranks;
  const auto schedule = [&](Operation operation, Group group) -> std::optional<Schedule> {
    const std::vector<int> members = members_of(scenario, group, scenario.platform.placement).front();
    if (members.size() == 1) return std::nullopt;
    const Placement own = placement_of(scenario.platform.platform, scenario.platform.placement, members);
    return build_schedule(scenario, own, operation);
  };
  WeightSharding sharding;
  sharding.shards = strategy.shards == 0 ? ranks : strategy.shards;
  sharding.gather = schedule(Operation::allgather, Group::shards);
  sharding.scatter = schedule(Operation::reduce_scatter, Group::shards);
  sharding.replicate = schedule(Operation::allreduce, Group::replicas);
  const bool is_zero = strategy.kind == "zero";
  sharding.parameters = type_of(strategy.settings, "param_dtype", GradientType::bf16);
  sharding.gradients =
      type_of(strategy.settings, is_zero ? "communication_data_type" : "reduce_dtype", GradientType::fp32);
  return sharding;
}

Training training_of(const Scenario& scenario) {
  const LearningSpec& spec = *scenario.learning;
  const StrategyChoice& strategy = scenario.strategy;
  Carrier carrier([&scenario](Operation operation) { return schedule_of(scenario, operation); });
  Exchange exchange(std::move(carrier), carrier_of(strategy), strategy.compression, spec.problem.matrix);
  if (strategy.kind != "local_sgd") exchange.use_gradient_type(scenario.workload.gradient_type);  // else parameters
  if (const int group = adasum_group(scenario); group > 0) exchange.use_adasum(group);
  return {spec.problem,
          spec.learning_rate,
          spec.epochs,
          scenario.platform.ranks,
          scenario.workload.batch_per_rank,
          strategy.accumulation,
          strategy.period,
          std::move(exchange),
          is_sharded(strategy) ? sharding_of(scenario) : WeightSharding{}};
}

void expect_affordable(Training& training, bool sharded, int updates) {
  constexpr double most_messages = 1e8;  // some tens of nanoseconds each
  const double messages =
      (sharded ? training.sharding.messages(training.workers) : training.exchange.messages()) * updates;
  if (messages <= most_messages) return;
  throw InputError(
      fmt::format("/learning: expected at most {:.0e} messages to carry out on numbers, got {:.1e}: {} updates of "
                  "{} ranks; take fewer epochs, a larger batch or fewer ranks",
                  most_messages, messages, updates, training.workers));
}

}  // namespace

Learning learn(const Scenario& scenario) {
  Training training = training_of(scenario);
  const int updates = training.updates_per_epoch() * training.epochs;
  expect_affordable(training, is_sharded(scenario.strategy), updates);
  const LearningRule rule = find_learning_rule(scenario.strategy.kind, scenario.strategy.mode);
  Learning learning = rule(training, time_updates(scenario, updates));
  learning.problem = scenario.learning->kind;
  return learning;
}

}}  // namespace farandole::scenario
