#include "scenario/run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scenario/effective_settings.hpp"
#include "scenario/sweep.hpp"
#include "scenario/train.hpp"
#include "simulate/invariant.hpp"

namespace farandole {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // events; about 15 MB of JSON, which browsers still open

/// Configurations that share a 1-rank reference run.
struct Reference {
  std::string key;
  Seconds iteration;
};

std::string reference_key(const Scenario& s) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}/{}/{}", s.workload.model.name, s.workload.model.variant,
                     s.workload.batch_per_rank, name(s.workload.precision), s.platform.device.name,
                     s.platform.platform.measurements, s.effects.step_jitter, s.seed, s.measure.iterations,
                     s.measure.warmup, s.strategy.accumulation);
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
  TrainingPoint point(const Scenario& scenario, Timeline* timeline) {
    TrainingPoint point = train(scenario, timeline);
    point.scaling_efficiency = reference(scenario) / point.iteration;
    if (point.scaling_efficiency > 1 + 1e-9) {
      throw InvariantError(
          fmt::format("{} ranks scale with an efficiency of {}", point.ranks, point.scaling_efficiency));
    }
    return point;
  }

  Seconds reference(const Scenario& scenario) {
    const std::string key = reference_key(scenario);
    const auto found = std::ranges::find(references_, key, &Reference::key);
    if (found != references_.end()) return found->iteration;
    references_.push_back({key, train_one_rank(scenario)});
    return references_.back().iteration;
  }

  const Catalogue& catalogue_;
  const RunOptions& options_;
  std::vector<Scenario> scenarios_;
  std::vector<Reference> references_;
};

}  // namespace

RunResult run_document(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  Runner runner(catalogue, options);
  for (const Document& configuration : expand_sweep(document)) runner.add(configuration);
  return runner.run();
}

}  // namespace farandole
