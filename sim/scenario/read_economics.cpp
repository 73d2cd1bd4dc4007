#include <array>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "scenario/economics_run.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/scenario.hpp"

namespace farandole { inline namespace scenario {
namespace {

ElsewhereSpec read_elsewhere(const Value& where, const Catalogue& catalogue) {
  Section section(where);
  const Value offer = section.child("offer");
  ElsewhereSpec elsewhere;
  elsewhere.offer = read<std::string>(offer);
  static_cast<void>(catalogue.offer(elsewhere.offer, offer));
  if (const auto topology = section.maybe("topology")) {
    elsewhere.topology = read<std::string>(*topology);
    static_cast<void>(catalogue.device(catalogue.topology(elsewhere.topology, *topology).device, *topology));
  }
  if (const auto ranks = section.maybe("ranks")) elsewhere.ranks = read_at_least(*ranks, 1);
  section.finish();
  return elsewhere;
}

double read_utilisation(const Value& where, const Offer& offer) {
  if (offer.is_committed()) {
    where.fail("no \"utilisation\" beside an offer that has one", "both", "; \"override\" changes the offer's");
  }
  return read_part(where);
}

}  // namespace

EconomicsSpec read_economics(const Value& where, const Catalogue& catalogue) {
  Section section(where);
  const Value offer = section.child("offer");
  EconomicsSpec spec{catalogue.offer(read<std::string>(offer), offer, section.maybe("override"))};
  if (const auto years = section.maybe("years")) spec.years = read_at_least(*years, 1);
  if (spec.years > 50) section.child("years").fail("at most 50 years");
  if (const auto share = section.maybe("utilisation")) spec.utilisation = read_utilisation(*share, spec.file.offer);
  if (const auto share = section.maybe("throughput_uncertainty")) {
    spec.throughput_uncertainty = read<Fraction>(*share).value;
    if (!(spec.throughput_uncertainty < 1)) share->fail("a share from 0 % to less than 100 %");
  }
  if (const auto elsewhere = section.maybe("compare_with")) spec.elsewhere = read_elsewhere(*elsewhere, catalogue);
  section.finish();
  return spec;
}

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

namespace {

/// ResNet-50 on ImageNet keeps its accuracy up to this global batch with linear scaling and five epochs of warm-up
/// (Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, figure 1).
constexpr int largest_known_batch = 8192;
constexpr int most_simulations = 1'000'000;
constexpr int most_spares = 1'000'000;

std::int64_t read_count(const Value& where, std::int64_t least) {
  const auto count = read<std::int64_t>(where);
  if (count < least || count > (std::int64_t{1} << 53)) where.fail(fmt::format("a count of at least {}", least));
  return count;
}

FailureSpec read_failures(const Value& where) {
  Section section(where);
  FailureSpec failures;
  failures.place = where.place();
  const auto node = section.maybe("node_mtbf");
  const auto device = section.maybe("device_mtbf");
  if (!node && !device) where.fail("a \"node_mtbf\", a \"device_mtbf\" or both");
  if (node) failures.node_mtbf = read_above_zero<Seconds>(*node);
  if (device) failures.device_mtbf = read_above_zero<Seconds>(*device);
  if (const auto recovery = section.maybe("recovery"))
    failures.elastic = read_place(*recovery, "a way to recover", std::array{"restart", "elastic"}) == 1;
  failures.detection = section.optional("detection", failures.detection);
  failures.restart = section.optional("restart", failures.restart);
  failures.reloads = section.optional("reload", false);
  failures.repair = section.optional("repair", failures.repair);
  if (const auto spares = section.maybe("spare_nodes")) {
    failures.spare_nodes = read_between(*spares, 0, most_spares);
    if (failures.elastic) spares->fail("no spare nodes where the job goes on with fewer");
  }
  if (const auto steps = section.maybe("commit_every_steps")) failures.commit_every_steps = read_at_least(*steps, 1);
  if (const auto nodes = section.maybe("least_nodes")) failures.least_nodes = read_at_least(*nodes, 1);
  if (const auto count = section.maybe("simulations")) failures.simulations = read_between(*count, 1, most_simulations);
  section.finish();
  return failures;
}

LearningRateSpec read_learning_rate(const Value& where) {
  Section section(where);
  LearningRateSpec rate;
  rate.base = section.required<double>("base");
  if (const auto batch = section.maybe("base_batch")) rate.base_batch = read_at_least(*batch, 1);
  if (const auto scaling = section.maybe("scaling"))
    rate.scaling = read_named(*scaling, "a rule of scaling", std::array{"linear", "sqrt", "none"});
  rate.warmup_epochs = section.optional("warmup_epochs", 0.0);
  rate.largest_known_batch = section.optional("largest_known_batch", largest_known_batch);
  section.finish();
  return rate;
}

}  // namespace

RunSpec read_run(const Value& where, std::int64_t global_batch) {
  Section section(where);
  RunSpec run;
  const Value samples = section.child("samples");
  run.samples = read_count(samples, 1);
  if (run.samples < global_batch) {
    samples.fail(fmt::format("at least one global batch of {} samples", global_batch));
  }
  if (const auto epochs = section.maybe("epochs")) run.epochs = read_at_least(*epochs, 1);
  if (const auto count = section.maybe("evaluation_samples")) run.evaluation_samples = read_count(*count, 0);
  if (const auto every = section.maybe("evaluate_every")) run.evaluate_every = read_at_least(*every, 1);
  run.startup = section.optional("startup", run.startup);
  run.initial_broadcast = section.optional("initial_broadcast", true);
  if (const auto metrics = section.maybe("metrics")) run.metrics = read_at_least(*metrics, 0);
  if (const auto failures = section.maybe("failures")) run.failures = read_failures(*failures);
  if (const auto rate = section.maybe("learning_rate")) run.learning_rate = read_learning_rate(*rate);
  section.finish();
  return run;
}

}}  // namespace farandole::scenario
