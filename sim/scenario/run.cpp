#include "scenario/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "scenario/effective_settings.hpp"
#include "scenario/explain.hpp"
#include "scenario/learning_run.hpp"
#include "scenario/sweep.hpp"
#include "scenario/train.hpp"
#include "scenario/whole_run.hpp"
#include "simulate/invariant.hpp"

namespace farandole {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // events; about 15 MB of JSON, which browsers still open

/// The time in which one rank by itself would do a rank's part of a step. Where the global batch is fixed it has all of
/// it to do.
Seconds single_rank_share(const Scenario& scenario) {
  if (scenario.workload.global_batch == 0) return train_one_rank(scenario);
  Scenario whole = scenario;
  whole.workload.batch_per_rank = scenario.workload.global_batch;
  whole.strategy.accumulation = 1;
  return train_one_rank(whole) / scenario.platform.ranks;
}

/// Faster devices, data that fits into many nodes' memory, and other batches may lift n ranks above n times one.
bool may_scale_beyond_its_ranks(const Scenario& scenario) {
  return scenario.effects.input || !scenario.effects.other_devices.empty() || scenario.workload.global_batch > 0;
}

class Runner {
 public:
  Runner(const Catalogue& catalogue, const RunOptions& options) : catalogue_(catalogue), options_(options) {}

  void add(const Document& document) {
    Scenario scenario = read_scenario(document.root(), catalogue_);
    scenario.folding = options_.folding;
    std::vector<Fidelity> fidelities = options_.fidelities;
    if (fidelities.empty()) fidelities.push_back(scenario.fidelity);
    for (const Fidelity fidelity : fidelities) {
      scenarios_.push_back(scenario);
      scenarios_.back().fidelity = fidelity;
      documents_.push_back(document);
    }
  }

  RunResult run() {
    RunResult result;
    result.scenario = scenarios_.front().name;
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      const Scenario& scenario = scenarios_[i];
      if (options_.progress) options_.progress(static_cast<int>(i), static_cast<int>(scenarios_.size()));
      const bool last = i + 1 == scenarios_.size();
      result.timeline_file = scenario.strategy.timeline_file;
      if (last && (options_.record_timeline || scenario.strategy.timeline_file)) {
        result.timeline = std::make_unique<Timeline>(timeline_capacity);
      }
      result.points.push_back(point(scenario, result.timeline.get()));
      TrainingPoint& done = result.points.back();
      if (scenario.run) done.run = whole_run(scenario, done);
      if (scenario.explain || options_.explain) {
        done.explanation = explain(documents_[i], catalogue_, scenario, done);
        done.explanation->critical_path = done.critical_path;
      }
      merge_settings(result.settings, effective_settings(scenario));
      for (const std::string& ignored : scenario.ignored) {
        if (std::ranges::find(result.ignored, ignored) == result.ignored.end()) result.ignored.push_back(ignored);
      }
    }
    return result;
  }

 private:
  static TrainingPoint point(const Scenario& scenario, Timeline* timeline) {
    TrainingPoint point = train(scenario, timeline);
    if (scenario.learning) point.learning = learn(scenario);
    point.scaling_efficiency = single_rank_share(scenario) / point.iteration;
    // Servers update for their workers, and without a barrier nobody waits for the slowest.
    if (!scenario.strategy.servers && !may_scale_beyond_its_ranks(scenario) && point.scaling_efficiency > 1 + 1e-9) {
      throw InvariantError(
          fmt::format("{} ranks scale with an efficiency of {}", point.ranks, point.scaling_efficiency));
    }
    return point;
  }

  const Catalogue& catalogue_;
  const RunOptions& options_;
  std::vector<Scenario> scenarios_;
  std::vector<Document> documents_;  // what each was read from
};

}  // namespace

RunResult run_document(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  Runner runner(catalogue, options);
  for (const Document& configuration : expand_sweep(document)) runner.add(configuration);
  return runner.run();
}

}  // namespace farandole
