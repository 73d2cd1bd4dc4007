#include "scenario/run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "scenario/effective_settings.hpp"
#include "scenario/sweep.hpp"
#include "scenario/train.hpp"
#include "simulate/invariant.hpp"

namespace farandole {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // events; about 15 MB of JSON, which browsers still open

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
    point.scaling_efficiency = train_one_rank(scenario) / point.iteration;
    // Servers update for their workers, and without a barrier nobody waits for the slowest.
    if (!scenario.strategy.servers && point.scaling_efficiency > 1 + 1e-9) {
      throw InvariantError(
          fmt::format("{} ranks scale with an efficiency of {}", point.ranks, point.scaling_efficiency));
    }
    return point;
  }

  const Catalogue& catalogue_;
  const RunOptions& options_;
  std::vector<Scenario> scenarios_;
};

}  // namespace

RunResult run_document(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  Runner runner(catalogue, options);
  for (const Document& configuration : expand_sweep(document)) runner.add(configuration);
  return runner.run();
}

}  // namespace farandole
