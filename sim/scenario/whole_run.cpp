#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "config/error.hpp"
#include "scenario/parts.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/train.hpp"
#include "timeline/quantile.hpp"
#include "training/effects/failures.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// The pieces of a run without failures.
struct Pace {
  Seconds iteration;  // without checkpoints
  Seconds training;   // of all epochs
  Seconds others;     // evaluation and metrics of all epochs
  [[nodiscard]] Seconds work() const { return training + others; }
};

Seconds evaluation_of(const Scenario& scenario, const TrainingPoint& point, std::int64_t global_batch) {
  const RunSpec& spec = *scenario.run;
  const auto batches = (spec.evaluation_samples + global_batch - 1) / global_batch;
  const double slowest = 1 + point.breakdown.straggler / point.breakdown.compute;
  const ComputeTimes times = times_of(scenario);
  const Seconds pass = std::accumulate(times.forward.begin(), times.forward.end(), Seconds(0));
  return static_cast<double>(batches) * slowest * scenario.strategy.accumulation * pass;
}

Seconds startup_of(const Scenario& scenario) {
  const RunSpec& spec = *scenario.run;
  if (!spec.initial_broadcast || scenario.platform.ranks == 1) return spec.startup;
  const Bytes parameters = static_cast<double>(scenario.workload.model.parameters()) * element_size(Precision::fp32);
  return spec.startup + collective_time(scenario, Operation::broadcast, parameters);
}

Seconds metrics_of(const Scenario& scenario) {
  if (scenario.run->metrics == 0 || scenario.platform.ranks == 1) return Seconds(0);
  return collective_time(scenario, Operation::allreduce, scenario.run->metrics * element_size(Precision::fp32));
}

/// The scenario on its first so many nodes, measured briefly.
Scenario on_nodes(Scenario scenario, int nodes) {
  const Placement& all = scenario.platform.placement;
  std::vector<int> kept;
  std::set<int> used;
  for (const int device : all.device_of_rank) {
    const int node = scenario.platform.platform.node_of(device);
    if (!used.contains(node) && static_cast<int>(used.size()) == nodes) continue;
    used.insert(node);
    kept.push_back(device);
  }
  scenario.platform.ranks = static_cast<int>(kept.size());
  scenario.platform.placement.device_of_rank = std::move(kept);
  scenario.measure = {10, 2};
  scenario.seeds = 1;
  return scenario;
}

ElasticPlan elastic_plan(const Scenario& scenario, const TrainingPoint& point, const Pace& pace) {
  const FailureSpec& failures = *scenario.run->failures;
  ElasticPlan plan;
  plan.work = pace.work();
  plan.commit_interval = pace.iteration * failures.commit_every_steps;
  plan.reset = failures.detection + failures.restart;
  plan.repair = failures.repair;
  plan.node_mtbf = failures.mtbf(point.nodes, point.ranks) * point.nodes;
  plan.nodes = point.nodes;
  plan.least_nodes = std::min(failures.least_nodes, point.nodes);
  auto rates = std::make_shared<std::map<int, double>>();
  plan.relative_rate = [&scenario, &point, rates](int nodes) {
    if (nodes == point.nodes) return 1.0;
    const auto [place, added] = rates->try_emplace(nodes, 0);
    if (added) place->second = train(on_nodes(scenario, nodes), nullptr).samples_per_second / point.samples_per_second;
    return place->second;
  };
  return plan;
}

/// What training loses while the last checkpoint is written (Checkpoint::slowed), beyond a wait for that.
Seconds lost_to_writing(const Checkpoint& checkpoint, const TrainingPoint& point, const Pace& pace) {
  const Seconds each = point.breakdown.checkpoint / checkpoint.per_iteration(pace.iteration);
  return std::max(Seconds(0), each - checkpoint.cost(pace.iteration));
}

RestartPlan restart_plan(const Scenario& scenario, const TrainingPoint& point, const Pace& pace) {
  const FailureSpec& failures = *scenario.run->failures;
  const auto& checkpoint = scenario.effects.checkpoint;
  RestartPlan plan;
  plan.work = pace.work();
  plan.interval = checkpoint ? checkpoint->interval(pace.iteration) : pace.work();
  plan.checkpoint = checkpoint ? checkpoint->pause() + lost_to_writing(*checkpoint, point, pace) : Seconds(0);
  plan.restart = failures.detection + failures.restart + (failures.reloads ? checkpoint->writing() : Seconds(0));
  plan.mtbf = failures.mtbf(point.nodes, point.ranks);
  plan.background = checkpoint ? checkpoint->background() : Seconds(0);
  plan.repair = failures.repair;
  plan.spares = failures.spare_nodes;
  return plan;
}

/// e^10 attempts per checkpoint are no run that anyone waits for.
void refuse_hopeless(const RestartPlan& plan, const Place& place) {
  const Seconds needed = plan.segment(plan.interval) + plan.background + plan.restart;
  if (needed < 10 * plan.mtbf) return;
  throw InputError(place, "a run that ends",
                   fmt::format("a job that fails every {:.4g} s and needs {:.4g} s without a failure to make progress",
                               plan.mtbf.si(), needed.si()),
                   "; write checkpoints more often (/effects/checkpoint/every, \"best\" is one of its values)");
}

std::vector<Survival> simulated(const FailureSpec& failures, std::uint64_t seed,
                                const std::function<Survival(std::uint64_t, EventsLeft&)>& run_one) {
  std::vector<Survival> runs;
  EventsLeft events;
  for (int i = 0; i < failures.simulations; ++i) runs.push_back(run_one(seed + static_cast<std::uint64_t>(i), events));
  return runs;
}

Survival mean_of(const std::vector<Survival>& runs) {
  Survival mean;
  const auto count = static_cast<double>(runs.size());
  for (const Survival& run : runs) {
    mean.total += run.total / count;
    mean.lost += run.lost / count;
    mean.recovering += run.recovering / count;
    mean.checkpointing += run.checkpointing / count;
    mean.standby += run.standby / count;
    mean.failures += run.failures / count;
  }
  return mean;
}

/// `expected` is of the time after startup.
void take_survival(WholeRun& run, const Survival& expected) {
  run.total = run.startup + expected.total;
  run.failures = expected.failures;
  run.shares.checkpoint = expected.checkpointing / run.total;
  run.shares.lost = expected.lost / run.total;
  run.shares.restart = expected.recovering / run.total;
  run.shares.standby = expected.standby / run.total;
}

void take_quantiles(WholeRun& run, const std::vector<Survival>& runs) {
  std::vector<WeightedDuration> totals;
  for (const Survival& one : runs) totals.push_back({run.startup + one.total, 1});
  run.total_p50 = percentile(totals, 0.5);
  run.total_p95 = percentile(totals, 0.95);
}

/// The exact expectation stands by itself where seeded runs would be too long.
void leave_out_quantiles(WholeRun& run) {
  run.total_p50.reset();
  run.total_p95.reset();
  run.caveats.push_back(
      fmt::format("p50 and p95 are left out: simulated runs would have more than {} million failures and checkpoints; "
                  "the mean is the exact expectation",
                  EventsLeft::most / 1'000'000));
}

/// The best interval, and the goodput of a run with it.
void find_best_interval(WholeRun& run, RestartPlan plan, const Pace& pace) {
  plan.interval = best_interval(plan);
  if (plan.interval == Seconds(0)) return;  // checkpoints that take no time
  run.best_interval = plan.interval;
  run.best_goodput = pace.training / (run.startup + expected_run(plan).total);
}

void add_failures(WholeRun& run, const Scenario& scenario, const TrainingPoint& point, const Pace& pace) {
  const FailureSpec& failures = *scenario.run->failures;
  run.mtbf = failures.mtbf(point.nodes, point.ranks);
  if (failures.elastic) {
    const ElasticPlan plan = elastic_plan(scenario, point, pace);
    try {
      const auto runs = simulated(failures, scenario.seed, [&](std::uint64_t seed, EventsLeft& events) {
        return elastic_run(plan, seed, events);
      });
      take_quantiles(run, runs);
      return take_survival(run, mean_of(runs));
    } catch (const EventsLeft::NoneLeft&) {
      throw InputError(failures.place,
                       fmt::format("runs of at most {} million failures and returns of nodes in all \"simulations\"",
                                   EventsLeft::most / 1'000'000),
                       "more");
    }
  }
  const RestartPlan plan = restart_plan(scenario, point, pace);
  refuse_hopeless(plan, failures.place);
  try {
    take_quantiles(run, simulated(failures, scenario.seed, [&](std::uint64_t seed, EventsLeft& events) {
                     return restart_run(plan, seed, events);
                   }));
  } catch (const EventsLeft::NoneLeft&) {
    leave_out_quantiles(run);
  }
  take_survival(run, expected_run(plan));
  if (scenario.effects.checkpoint) find_best_interval(run, plan, pace);
}

/// Of an elastic run what is left is what it would have trained meanwhile with all nodes.
void share_out(WholeRun& run, const Pace& pace, bool elastic) {
  RunShares& shares = run.shares;
  run.goodput = shares.training = pace.training / run.total;
  shares.evaluation = pace.others / run.total;
  shares.startup = run.startup / run.total;
  const double known = shares.training + shares.evaluation + shares.startup + shares.lost + shares.restart;
  if (elastic) shares.standby = std::max(0.0, 1 - known);
}

void add_learning_rate(WholeRun& run, const LearningRateSpec& spec) {
  const double ratio = static_cast<double>(run.global_batch) / spec.base_batch;
  run.learning_rate = spec.base;
  if (spec.scaling == "linear") run.learning_rate *= ratio;
  if (spec.scaling == "sqrt") run.learning_rate *= std::sqrt(ratio);
  run.warmup_epochs = spec.warmup_epochs;
  if (run.global_batch > spec.largest_known_batch) {
    run.caveats.push_back(
        fmt::format("a global batch of {} is beyond {}, up to which linear scaling of the learning rate with five "
                    "epochs of warm-up is "
                    "known to keep the accuracy of ResNet-50 (Goyal et al., arXiv:1706.02677); throughput says nothing "
                    "about accuracy",
                    run.global_batch, spec.largest_known_batch));
  }
  if (ratio > 1 && (spec.scaling == "none" || spec.warmup_epochs == 0)) {
    run.caveats.push_back(
        fmt::format("the global batch is {:.4g} times the one the learning rate was chosen for; without {} "
                    "it will not converge alike",
                    ratio, spec.scaling == "none" ? "scaling" : "warm-up"));
  }
}

/// Each rank drawing at random, with replacement, leaves (1 - 1/S)^S of S samples out: about 1/e.
double distinct_share(const Scenario& scenario, std::int64_t drawn) {
  const bool random = scenario.effects.input && scenario.effects.input->access == Access::random;
  const auto samples = static_cast<double>(scenario.run->samples);
  const auto count = static_cast<double>(drawn);
  return random && scenario.platform.ranks > 1 ? -std::expm1(count * std::log1p(-1 / samples)) : count / samples;
}

}  // namespace

WholeRun whole_run(const Scenario& scenario, const TrainingPoint& point) {
  const RunSpec& spec = *scenario.run;
  WholeRun run;
  run.samples = spec.samples;
  run.epochs = spec.epochs;
  run.global_batch = scenario.samples_per_step();
  run.steps_per_epoch = spec.samples / run.global_batch;
  run.distinct_share = distinct_share(scenario, run.steps_per_epoch * run.global_batch);
  const auto& tuned = point.tuning;  // it took some time beyond its steps, which train
  const Seconds tuning = tuned ? tuned->seconds - tuned->steps * point.iteration : Seconds(0);
  run.startup = startup_of(scenario) + std::max(Seconds(0), tuning);
  run.evaluation = evaluation_of(scenario, point, run.global_batch) / spec.evaluate_every;
  const Seconds others = run.evaluation + metrics_of(scenario);
  const auto steps = static_cast<double>(run.steps_per_epoch);
  run.epoch = steps * point.iteration + others;
  run.total = run.startup + run.epoch * spec.epochs;
  run.total_p50 = run.total_p95 = run.total;
  const Seconds bare = point.iteration - point.breakdown.checkpoint;
  const Pace pace{bare, steps * bare * spec.epochs, others * spec.epochs};
  if (const auto& checkpoint = scenario.effects.checkpoint) {
    run.checkpoint_interval = checkpoint->interval(bare);
    run.shares.checkpoint = steps * spec.epochs * point.breakdown.checkpoint / run.total;
  }
  if (spec.failures) add_failures(run, scenario, point, pace);
  share_out(run, pace, spec.failures && spec.failures->elastic);
  run.samples_per_second = steps * spec.epochs * static_cast<double>(run.global_batch) / run.total.si();
  if (spec.learning_rate) add_learning_rate(run, *spec.learning_rate);
  return run;
}

}}  // namespace farandole::scenario
