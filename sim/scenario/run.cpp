#include "scenario/run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/anchor.hpp"
#include "scenario/effective_settings.hpp"
#include "scenario/explain.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/train.hpp"
#include "scenario/unsettled_numbers.hpp"
#include "simulate/invariant.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // events; about 15 MB of JSON, which browsers still open
constexpr double long_for_stages = .05;             // of an iteration, that stages wait
/// F(2x2, 3x3) of Lavin and Gray (CVPR 2016), by which cuDNN does convolutions, multiplies so many times less.
constexpr double less_by_winograd = 2.25;

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

/// One rank by itself has the whole batch where that is given, of which every replica has its share.
Scenario with_the_global_batch(Scenario scenario) {
  if (scenario.workload.global_batch == 0) return scenario;
  scenario.workload.batch_per_rank = scenario.workload.global_batch;
  scenario.strategy.accumulation = 1;
  return scenario;
}

/// On what figures that look right would hide.
void add_notes_on_use(TrainedPoint& point) {
  const Utilisation& use = point.utilisation;
  const double of_peak = use.mfu_causal.value_or(use.mfu.value_or(0));
  if (of_peak > (use.sequence_length > 0 ? 1 : less_by_winograd))
    point.notes.push_back(
        fmt::format("the model's FLOP alone take {:.3g} times as long at the device's peak: is what "
                    "was measured of this model, batch, precision and number of ranks?",
                    of_peak));
  const Seconds stages = point.exposed ? point.exposed->pipeline.value_or(Seconds(0)) : Seconds(0);
  if (stages >= long_for_stages * point.iteration)
    point.notes.push_back(
        fmt::format("stages wait for one another, and for what they send, for {:.0f} % of an "
                    "iteration; so does the same pipeline by itself, which efficiency is relative to",
                    stages / point.iteration * 100));
}

double share_of_a_replica(const Scenario& scenario) {
  return scenario.workload.global_batch == 0 ? 1 : 1.0 / scenario.replicas();
}

}  // namespace

Seconds single_rank_share(const Scenario& scenario) {
  return train_alone(with_the_global_batch(scenario)).iteration * share_of_a_replica(scenario);
}

Breakdown single_rank_parts(const Scenario& scenario) {
  return train_alone(with_the_global_batch(scenario)).breakdown * share_of_a_replica(scenario);
}

double scaling_efficiency(const Scenario& scenario, const TrainingPoint& point) {
  if (scenario.strategy.servers && scenario.workload.global_batch == 0) return point.scaling_efficiency;
  const double lost = std::max(scenario.workload.beside(point.ranks), 1.0);  // to scaling, too
  const double efficiency = single_rank_share(scenario) / lost / point.iteration;
  if (efficiency <= 1 || may_scale_beyond_its_ranks(scenario)) return efficiency;
  // A draw in which devices are faster than the median one: n ranks do no more than n times one of themselves.
  const TrainingRun of_the_job = train_alone(scenario, Alone::on_its_own_devices);
  return std::min(efficiency, of_the_job.iteration / lost / point.iteration);
}

TrainingPoint run_point(const PlannedPoint& planned, const Catalogue& catalogue, Timeline* timeline) {
  const Scenario& scenario = planned.scenario;
  SharedClocks clocks;
  TrainedPoint point = train(scenario, timeline, &clocks);
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
  add_notes_on_use(point);
  if (scenario.run) point.run = whole_run(scenario, point);
  if (scenario.economics) point.cost = cost_of(planned.document, catalogue, scenario, point);
  if (scenario.bands) add_bands(point, planned.document, catalogue, scenario, std::move(clocks));
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

namespace {

void add_once(std::vector<std::string>& all, const std::string& text) {
  if (std::ranges::find(all, text) == all.end()) all.push_back(text);
}

/// "/node/nic/host_rate 3.14 GB/s .. 26.1 GB/s": what bands put to both ends.
std::string unsettled_in(const Document& document, const Catalogue& catalogue) {
  std::vector<std::string> texts;
  for (const UnsettledNumber& number : unsettled_numbers(document, catalogue))
    texts.push_back(fmt::format("{} {} .. {}", number.pointer, number.ends[0], number.ends[1]));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// What a point adds to what is said of all of them.
void add_point(RunPlan& plan, const PlannedPoint& planned, const Catalogue& catalogue) {
  const Scenario& scenario = planned.scenario;
  Settings settings = effective_settings(scenario);
  if (scenario.bands && scenario.platform.ranks > 1) {
    const std::string unsettled = unsettled_in(planned.document, catalogue);
    if (!unsettled.empty()) settings["unsettled"] = unsettled;
  }
  merge_settings(plan.settings, settings);
  for (const std::string& ignored : scenario.ignored) add_once(plan.ignored, ignored);
  if (const auto note = settings.find("note"); note != settings.end()) add_once(plan.notes, note->second);
  plan.scenario = plan.points.empty() ? scenario.name : plan.scenario;
}

/// As the scenario and the options of the plan have it.
PlannedPoint read_configuration(const PlanSource& source, Configuration configuration, const Catalogue& catalogue) {
  const RunOptions& options = source.options;
  PlannedPoint planned{
      std::move(configuration.document), {}, std::move(configuration.swept), std::move(configuration.pointers)};
  Scenario& scenario = planned.scenario;
  scenario = read_scenario(planned.document.root(), catalogue);
  scenario.explain = scenario.explain || options.explain;
  scenario.folding = options.folding;
  scenario.network = options.network;
  scenario.bands = scenario.bands && options.bands;
  scenario.busiest_links = options.links;
  if (!options.no_library.empty()) leave_default_libraries(scenario, options.no_library);
  return planned;
}

/// One configuration: a point at every fidelity that is asked for.
void add_configuration(RunPlan& plan, Expenses& expenses, const std::shared_ptr<const PlanSource>& source,
                       std::size_t place, const Catalogue& catalogue) {
  Configuration configuration = source->configurations[place];
  expenses.expect_ranks(configuration.document, catalogue.reader());
  const std::string name = configuration.name;
  PlannedPoint planned = read_configuration(*source, std::move(configuration), catalogue);
  const PlatformSpec& platform = planned.scenario.platform;
  RunPlan::Point point{name, source, place, {}, false, 0, platform.ranks, platform.placement.nodes_used, nullptr};
  const std::vector<Fidelity>& fidelities = source->options.fidelities;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, fidelities.size()); ++i) {
    if (!fidelities.empty()) planned.scenario.fidelity = *(point.fidelity = fidelities[i]);
    if (fidelities.size() > 1) point.name = name + (name.empty() ? "" : ", ") + farandole::name(fidelities[i]);
    expenses.add(planned.scenario, planned.document);
    add_point(plan, planned, catalogue);
    plan.points.push_back(point);
  }
  const bool is_only = source->configurations.size() == 1 && fidelities.size() <= 1;
  if (is_only) plan.points.back().as_read = std::make_shared<const PlannedPoint>(std::move(planned));
}

/// An option would win over the sweep here, and every point of that axis would be the same.
void refuse_swept_fidelity(const Configuration& configuration, const RunOptions& options) {
  const bool is_swept = std::ranges::find(configuration.pointers, "/measure/fidelity") != configuration.pointers.end();
  if (options.fidelities.empty() || !is_swept) return;
  throw InputError(Place{"--fidelity", 0, "/measure/fidelity"}, "no fidelity where the sweep gives it",
                   quoted(name(options.fidelities.front())), "; set the values of \"/sweep/~1measure~1fidelity\"");
}

/// `left_out` may be null: then what does not fit is refused.
RunPlan plan_points(const Document& written, const Catalogue& catalogue, const RunOptions& options,
                    std::vector<std::size_t>* left_out) {
  RunPlan result;
  Expenses expenses(options.budget, options.evaluations, options.shards);
  expenses.expect_points(written, count_configurations(written));
  expenses.expect_ranks(written, catalogue.reader());
  const Document document = anchored(written, catalogue);
  auto source = std::make_shared<PlanSource>(PlanSource{expand_sweep(document), options});
  source->options.progress = nullptr;
  const Configurations& configurations = source->configurations;
  refuse_swept_fidelity(configurations.front(), options);
  result.question = read_question(document, configurations);
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    try {
      add_configuration(result, expenses, source, i, catalogue);
    } catch (const DoesNotFit&) {
      const bool is_last = i + 1 == configurations.size();
      if (left_out != nullptr) left_out->push_back(i);
      if (left_out == nullptr || (is_last && result.points.empty())) throw;
    }
  }
  if (!result.ignored.empty()) result.settings["ignored"] = fmt::format("{}", fmt::join(result.ignored, "; "));
  return result;
}

}  // namespace

RunPlan plan_run(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  return plan_points(document, catalogue, options, nullptr);
}

RunPlan plan_what_fits(const Document& document, const Catalogue& catalogue, const RunOptions& options,
                       std::vector<std::size_t>& left_out) {
  return plan_points(document, catalogue, options, &left_out);
}

Document document_of(const RunPlan::Point& point) {
  return point.source->configurations[point.configuration].document;
}

PlannedPoint read_point(const RunPlan::Point& point, const Catalogue& catalogue) {
  const PlanSource& source = *point.source;
  PlannedPoint planned = point.as_read
                             ? *point.as_read
                             : read_configuration(source, source.configurations[point.configuration], catalogue);
  Scenario& scenario = planned.scenario;
  scenario.fidelity = point.fidelity.value_or(scenario.fidelity);
  scenario.explain = scenario.explain || point.explain;
  scenario.busiest_links = std::max(scenario.busiest_links, point.busiest_links);
  return planned;
}

}}  // namespace farandole::scenario
