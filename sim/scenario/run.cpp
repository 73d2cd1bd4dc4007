#include "scenario/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "scenario/explain.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/train.hpp"
#include "simulate/invariant.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // events; about 15 MB of JSON, which browsers still open

/// Where workers exchange beside their next step, none waits for the others as measuring begins: a straggler of the
/// warm-up begins late and may be level with the rest at the end. What is gained is less, the longer is measured.
bool begins_measuring_apart(const Scenario& scenario) {
  const auto overlap = scenario.strategy.settings.find("overlap_steps");
  const bool waits = overlap == scenario.strategy.settings.end() || overlap->second == "0";
  return !waits && (scenario.effects.step_jitter.varies() || scenario.effects.os_noise);
}

/// Faster devices, data that fits into many nodes' memory, and other batches may lift n ranks above n times one.
bool may_scale_beyond_its_ranks(const Scenario& scenario) {
  return scenario.effects.input || !scenario.effects.other_devices.empty() || scenario.workload.global_batch > 0 ||
         begins_measuring_apart(scenario);
}

Scenario with_the_global_batch(const Scenario& scenario) {
  Scenario whole = scenario;
  whole.workload.batch_per_rank = scenario.workload.global_batch;
  whole.strategy.accumulation = 1;
  return whole;
}

}  // namespace

Seconds single_rank_share(const Scenario& scenario) {
  if (scenario.workload.global_batch == 0) return train_one_rank(scenario);
  return train_one_rank(with_the_global_batch(scenario)) / scenario.replicas();
}

Breakdown single_rank_parts(const Scenario& scenario) {
  if (scenario.workload.global_batch == 0) return parts_of_one_rank(scenario);
  return parts_of_one_rank(with_the_global_batch(scenario)) * (1.0 / scenario.replicas());
}

double scaling_efficiency(const Scenario& scenario, const TrainingPoint& point) {
  if (scenario.strategy.servers && scenario.workload.global_batch == 0) return point.scaling_efficiency;
  const double efficiency = single_rank_share(scenario) / point.iteration;
  if (efficiency <= 1 || may_scale_beyond_its_ranks(scenario)) return efficiency;
  // A draw in which devices are faster than the median one: n ranks do no more than n times one of themselves.
  return std::min(efficiency, train_one_of_the_ranks(scenario) / point.iteration);
}

TrainingPoint run_point(const PlannedPoint& planned, const Catalogue& catalogue, Timeline* timeline) {
  const Scenario& scenario = planned.scenario;
  TrainingPoint point = train(scenario, timeline);
  point.swept = planned.swept;
  if (scenario.learning) point.learning = learn(scenario);
  point.scaling_efficiency = scaling_efficiency(scenario, point);
  // One worker by itself is timed on another network than many that go their own pace
  // (training/servers/server_run.hpp).
  const double rounding = scenario.strategy.servers ? 1e-5 : 1e-9;
  if (!may_scale_beyond_its_ranks(scenario) && point.scaling_efficiency > 1 + rounding) {
    throw InvariantError(fmt::format("{} ranks scale with an efficiency of {}", point.ranks, point.scaling_efficiency));
  }
  if (const auto note = beyond_linear_note(scenario, point)) point.notes.push_back(*note);
  if (scenario.run) point.run = whole_run(scenario, point);
  if (scenario.economics) point.cost = cost_of(planned.document, catalogue, scenario, point);
  if (scenario.bands) add_bands(point, planned.document, catalogue, scenario);
  if (scenario.explain) {
    point.explanation = explain({{planned.document, planned.pointers, catalogue}, scenario, point});
    point.explanation->critical_path = point.critical_path;
  }
  return point;
}

std::unique_ptr<Timeline> new_timeline() {
  return std::make_unique<Timeline>(timeline_capacity);
}

RunResult run_document(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  const RunPlan plan = plan_run(document, catalogue, options);
  RunResult result{plan.scenario, plan.settings, {}, plan.ignored, nullptr};
  if (options.record_timeline) result.timeline = new_timeline();
  for (const RunPlan::Point& planned : plan.points) {
    if (options.progress)
      options.progress(static_cast<int>(result.points.size()), static_cast<int>(plan.points.size()));
    const bool last = &planned == &plan.points.back();
    result.points.push_back(run_point(planned, catalogue, last ? result.timeline.get() : nullptr));
  }
  return result;
}

}}  // namespace farandole::scenario
