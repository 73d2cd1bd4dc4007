#include <fmt/format.h>

#include "config/limits.hpp"
#include "config/section.hpp"
#include "scenario/read_parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

void expect_samples(const Value& where, const NumericProblem& problem, int epochs, const Scenario& scenario) {
  const std::int64_t wanted =
      std::int64_t{scenario.workload.batch_per_rank} * scenario.strategy.accumulation * scenario.platform.ranks;
  if (problem.features.rows() >= wanted) {
    constexpr int most_updates = 100'000'000;
    const Count updates = Count(problem.features.rows() / wanted) * epochs * scenario.platform.ranks;
    return require_at_most(updates, most_updates, "updates of workers in all epochs", where);
  }
  where.fail(fmt::format("at least the {} samples of one update: {} ranks x {} a batch x {} passes", wanted,
                         scenario.platform.ranks, scenario.workload.batch_per_rank, scenario.strategy.accumulation),
             fmt::format("{}", problem.features.rows()));
}

void expect_rule(const Value& where, const StrategyChoice& strategy) {
  if (find_learning_rule(strategy.kind, strategy.mode) != nullptr) return;
  where.fail("a strategy that a numeric problem can follow", fmt::format("{}, {}", strategy.kind, strategy.mode));
}

/// Where a node's ranks push as one, a server that does not wait would need to know whose gradients came together.
void expect_single_workers(const Value& where, const StrategyChoice& strategy) {
  if (strategy.mode == "synchronous" || !strategy.servers || !strategy.servers->aggregate_on_node) return;
  where.fail("ranks that push on their own, to servers that do not wait", "gradients aggregated on each node");
}

}  // namespace

std::shared_ptr<const LearningSpec> read_learning(const Value& where, const Scenario& scenario) {
  Section section(where);
  LearningSpec spec;
  const Value kind = section.child("problem");
  spec.kind = read<std::string>(kind);
  spec.problem = find(problems(), spec.kind, "a numeric problem", kind).builder(section);
  spec.learning_rate = section.optional("learning_rate", spec.learning_rate);
  if (const auto rate = section.maybe("learning_rate"); rate && spec.learning_rate <= 0) rate->fail("a rate above 0");
  if (const auto epochs = section.maybe("epochs")) spec.epochs = read_at_least(*epochs, 1);
  section.finish();
  expect_rule(where, scenario.strategy);
  expect_single_workers(where, scenario.strategy);
  expect_samples(where, spec.problem, spec.epochs, scenario);
  return std::make_shared<const LearningSpec>(std::move(spec));
}

}}  // namespace farandole::scenario
