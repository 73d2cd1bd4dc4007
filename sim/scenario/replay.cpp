#include "scenario/replay.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "backend/processor_load.hpp"
#include "backend/replay/all_ranks.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/parts.hpp"
#include "scenario/read_effects.hpp"
#include "scenario/train.hpp"

namespace farandole {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Messages between hosts are real here and cost what they cost.
StrategySite real_site(const Scenario& scenario, const Job& job, const std::string& backend, Timeline* timeline) {
  StrategySite site = site_of(scenario, job, scenario.platform.placement, timeline);
  site.control_latency = Seconds(0);
  site.library = upper(backend);
  return site;
}

struct Measured {
  std::vector<Iteration> iterations;
  std::optional<double> processors_busy;
};

/// The first iterations check the data, which takes time of its own.
Measured measure(Replay& replay, Endpoint& endpoint, const Measure& measure, int period) {
  replay.check_data(true);
  for (int i = 0; i < period; ++i) replay.run_iteration();
  replay.check_data(false);
  for (int i = 0; i < measure.warmup; ++i) replay.run_iteration();
  const Seconds begin = last_of_all(endpoint, replay.now());
  const ProcessorLoad load;
  std::vector<LocalIteration> own;
  for (int i = 0; i < measure.iterations; ++i) own.push_back(replay.run_iteration());
  Measured measured{{}, load.share()};
  replay.close();
  Seconds before = begin;
  for (const LocalIteration& iteration : own) {
    measured.iterations.push_back(iteration_of_all(endpoint, iteration, before));
    before = last_of_all(endpoint, iteration.end);
  }
  return measured;
}

std::int64_t sum_of_all(Endpoint& endpoint, std::int64_t own) {
  double sum = 0;
  for (const double of_a_rank : endpoint.everyones(static_cast<double>(own))) sum += of_a_rank;
  return static_cast<std::int64_t>(sum);
}

void predict(ReplayedPoint& point, const Scenario& scenario) {
  point.predicted = train(scenario, nullptr).iteration;
  point.predicted_at = name(scenario.fidelity);
  point.training.scaling_efficiency = single_rank_share(scenario) / point.training.iteration;
}

}  // namespace

void refuse_unreplayable(const RunPlan::Point& point, int ranks) {
  const Scenario& scenario = point.scenario;
  const Value root = point.document.root();
  const auto at = [&](const char* pointer) { return point.document.find(pointer).value_or(root); };
  if (scenario.platform.ranks != ranks) {
    at("/platform/ranks")
        .fail(fmt::format("the {} ranks that were started", ranks), fmt::format("{}", scenario.platform.ranks),
              fmt::format("; --set /platform/ranks={}", ranks));
  }
  if (scenario.strategy.servers) {
    at("/strategy/kind").fail("a strategy of collectives to replay", quoted(scenario.strategy.kind));
  }
  for (const auto& [operation, library] : scenario.libraries) {
    at(("/collectives/" + name(operation)).c_str())
        .fail("an algorithm to replay", quoted(scenario.collectives.at(operation).name),
              fmt::format("; --set /collectives/{}=ring", name(operation)));
  }
}

std::vector<std::string> left_out_of_replay(const Scenario& scenario) {
  return left_out_of_replay(scenario.effects);
}

ReplayedPoint replay(const Scenario& scenario, Session& session, const ReplayOptions& options, Timeline* timeline) {
  Endpoint& endpoint = session.endpoint();
  const ComputeTimes times = times_of(scenario);
  const Job job = travelling_job_of(scenario, times);
  const Variability variability = variability_of(scenario, times);
  std::optional<InputPipeline> input = input_of(scenario, scenario.platform.placement);
  const auto strategy =
      scenario.strategy.make(real_site(scenario, job, options.backend, endpoint.rank() == 0 ? timeline : nullptr));
  if (strategy->tuning() != nullptr) {
    throw InputError("HOROVOD_AUTOTUNE: expected settings that stay as they are in a replay, got ones that are tuned");
  }
  Replay replay({job, variability, *strategy, [&](Operation operation) { return schedule_of(scenario, operation); },
                 scenario.strategy.negotiates, input ? &*input : nullptr, endpoint.rank() == 0 ? timeline : nullptr,
                 scenario.strategy.streams},
                session);
  const int period = scenario.strategy.period;
  const Measured measured = measure(replay, endpoint, whole_periods(options.measure, period), period);
  const TrainingRun run = condense(measured.iterations, job);
  ReplayedPoint point;
  point.training = described(scenario, job, times);
  point.training.fidelity = "replay";
  point.training.nodes = session.nodes();
  std::vector<WeightedDuration> durations;
  for (const Seconds duration : run.durations) durations.push_back({duration, 1});
  take_results(point.training, run, durations, scenario);
  point.backend = options.backend;
  point.repetitions = run.durations;
  point.wrong = sum_of_all(endpoint, replay.wrong());
  point.processors_busy = measured.processors_busy;
  if (endpoint.rank() == 0) predict(point, scenario);
  return point;
}

}  // namespace farandole
