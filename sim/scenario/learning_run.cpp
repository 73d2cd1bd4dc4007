#include "scenario/learning_run.hpp"

#include <fmt/format.h>

#include "learning/learn.hpp"
#include "scenario/parts.hpp"
#include "scenario/train.hpp"

namespace farandole {
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
          std::move(exchange)};
}

void expect_affordable(Training& training, int updates) {
  constexpr double most_messages = 1e8;  // some tens of nanoseconds each
  const double messages = training.exchange.messages() * updates;
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
  expect_affordable(training, updates);
  const LearningRuleRow& row = *find_learning_rule(scenario.strategy.kind, scenario.strategy.mode);
  Learning learning = row.rule(training, time_updates(scenario, updates));
  learning.problem = scenario.learning->kind;
  return learning;
}

}  // namespace farandole
