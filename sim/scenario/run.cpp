#include "scenario/run.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/anchor.hpp"
#include "scenario/effective_settings.hpp"
#include "scenario/explain.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/sweep.hpp"
#include "scenario/train.hpp"
#include "scenario/unsettled_numbers.hpp"
#include "simulate/invariant.hpp"

namespace farandole::inline scenario {
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

void add(RunPlan& plan, const Configuration& configuration, const Scenario& scenario, std::string name,
         const Catalogue& catalogue) {
  Settings settings = effective_settings(scenario);
  if (scenario.bands && scenario.platform.ranks > 1) {
    const std::string unsettled = unsettled_in(configuration.document, catalogue);
    if (!unsettled.empty()) settings["unsettled"] = unsettled;
  }
  merge_settings(plan.settings, settings);
  for (const std::string& ignored : scenario.ignored) add_once(plan.ignored, ignored);
  if (const auto note = settings.find("note"); note != settings.end()) add_once(plan.notes, note->second);
  plan.timeline_file = scenario.strategy.timeline_file;
  plan.tuning_log = scenario.strategy.tuning_log;
  plan.points.push_back(
      {std::move(name), configuration.document, scenario, configuration.swept, configuration.pointers});
}

std::string with_fidelity(const std::string& name, Fidelity fidelity) {
  return name + (name.empty() ? "" : ", ") + farandole::name(fidelity);
}

void add_at_fidelities(RunPlan& plan, const Configuration& configuration, Scenario scenario, const RunOptions& options,
                       const Catalogue& catalogue) {
  scenario.folding = options.folding;
  scenario.network = options.network;
  scenario.bands = scenario.bands && options.bands;
  scenario.busiest_links = options.links;
  if (!options.no_library.empty()) leave_default_libraries(scenario, options.no_library);
  if (options.fidelities.empty()) return add(plan, configuration, scenario, configuration.name, catalogue);
  for (const Fidelity fidelity : options.fidelities) {
    scenario.fidelity = fidelity;
    const bool several = options.fidelities.size() > 1;
    add(plan, configuration, scenario, several ? with_fidelity(configuration.name, fidelity) : configuration.name,
        catalogue);
  }
}

/// Of the point at every fidelity that it is run at.
void add_expenses(Expenses& expenses, Scenario scenario, const Document& document, const RunOptions& options) {
  if (options.fidelities.empty()) return expenses.add(scenario, document);
  for (const Fidelity fidelity : options.fidelities) {
    scenario.fidelity = fidelity;
    expenses.add(scenario, document);
  }
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
  Expenses expenses(options.budget, options.evaluations);
  expenses.expect_points(written, count_configurations(written));
  expenses.expect_ranks(written);
  const Document document = anchored(written, catalogue);
  const bool is_anchored = document.find("/workload/anchored_on").has_value();
  std::vector<Configuration> configurations = expand_sweep(document);
  refuse_swept_fidelity(configurations.front(), options);
  result.question = read_question(document, configurations);
  std::optional<Scenario> base;
  if (is_anchored) base = read_scenario(document.without("sweep").root(), catalogue);
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    try {
      expenses.expect_ranks(configurations[i].document);
      Scenario scenario = read_scenario(configurations[i].root(), catalogue);
      scenario.explain = scenario.explain || options.explain;
      add_expenses(expenses, scenario, configurations[i].document, options);
      if (base) drop_foreign_anchor(scenario, configurations[i].document, *base);
      add_at_fidelities(result, configurations[i], std::move(scenario), options, catalogue);
    } catch (const DoesNotFit&) {
      const bool is_last = i + 1 == configurations.size();
      if (left_out != nullptr) left_out->push_back(i);
      if (left_out == nullptr || (is_last && result.points.empty())) throw;
    }
  }
  result.scenario = result.points.front().scenario.name;
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

Seconds single_rank_share(const Scenario& scenario) {
  if (scenario.workload.global_batch == 0) return train_one_rank(scenario);
  Scenario whole = scenario;
  whole.workload.batch_per_rank = scenario.workload.global_batch;
  whole.strategy.accumulation = 1;
  return train_one_rank(whole) / scenario.replicas();
}

double scaling_efficiency(const Scenario& scenario, const TrainingPoint& point) {
  if (scenario.strategy.servers && scenario.workload.global_batch == 0) return point.scaling_efficiency;
  return single_rank_share(scenario) / point.iteration;
}

TrainingPoint run_point(const RunPlan::Point& planned, const Catalogue& catalogue, Timeline* timeline) {
  const Scenario& scenario = planned.scenario;
  TrainingPoint point = train(scenario, timeline);
  point.swept = planned.swept;
  if (scenario.learning) point.learning = learn(scenario);
  point.scaling_efficiency = scaling_efficiency(scenario, point);
  const double perfect = 1 + update_elsewhere(scenario) / point.iteration;
  // One worker by itself is timed on another network than many that go their own pace
  // (training/servers/server_run.hpp).
  const double rounding = scenario.strategy.servers ? 1e-5 : 1e-9;
  if (!may_scale_beyond_its_ranks(scenario) && point.scaling_efficiency > perfect + rounding) {
    throw InvariantError(fmt::format("{} ranks scale with an efficiency of {}", point.ranks, point.scaling_efficiency));
  }
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
  RunResult result{plan.scenario, plan.settings, {}, plan.ignored, plan.timeline_file, nullptr};
  if (options.record_timeline || plan.timeline_file) result.timeline = new_timeline();
  for (const RunPlan::Point& planned : plan.points) {
    if (options.progress)
      options.progress(static_cast<int>(result.points.size()), static_cast<int>(plan.points.size()));
    const bool last = &planned == &plan.points.back();
    result.points.push_back(run_point(planned, catalogue, last ? result.timeline.get() : nullptr));
  }
  return result;
}

}  // namespace farandole::inline scenario
