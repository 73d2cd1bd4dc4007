#include "scenario/anchor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <boost/math/tools/toms748_solve.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/section.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/train.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr double agreement = 0.1;     // device times of the same batch that agree: what runs of a day differ by
constexpr double least_share = 1e-4;  // of the step that a device may take, and the most
constexpr double most_share = 1e4;
constexpr int accuracy_bits = 40;
constexpr std::uintmax_t most_runs = 60;

struct TimedRun {
  Value where;
  int ranks = 1;
  std::optional<int> nodes;
  int batch = 1;
  int accumulation = 1;
  Seconds iteration;
  std::string text;
  std::optional<Normalisation> normalisation{};
};

/// The scenario, and how its iteration time follows from a device's.
class Prediction {
 public:
  Prediction(const Document& document, const Catalogue& catalogue)
      : document_(as_measured(document)), catalogue_(&catalogue) {
    for (const char* part : {"/workload/measured", "/sweep", "/question", "/optimise", "/run", "/economics",
                             "/learning", "/measure/explain"}) {
      document_.remove(part);
    }
    scenario_ = read_scenario(document_.root(), catalogue);
  }

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

  /// With so much time of the device for a step of the run.
  [[nodiscard]] Seconds iteration(const TimedRun& run, Seconds device) const {
    Document document = document_;
    document.remove("/platform/launch");
    document.remove("/workload/global_batch");
    document.set("/platform/ranks", fmt::format("{}", run.ranks));
    document.set("/workload/batch_per_rank", fmt::format("{}", run.batch));
    if (run.accumulation != scenario_.strategy.accumulation) {
      document.set("/strategy/accumulation", fmt::format("{}", run.accumulation));
    }
    if (run.normalisation) document.set("/workload/normalisation", fmt::format("\"{}\"", name(*run.normalisation)));
    document.set("/workload/device_steps",
                 fmt::format(R"([{{"batch": {}, "time": "{:.15g} s"}}])", run.batch, device.si()));
    const TrainingPoint point = train(read_scenario(document.root(), *catalogue_), nullptr);
    if (run.nodes && *run.nodes != point.nodes) {
      run.where.fail(fmt::format("{} nodes, on which {} ranks are placed", point.nodes, run.ranks),
                     fmt::format("{}", *run.nodes));
    }
    return point.iteration;
  }

  /// Of all ranks in a step.
  [[nodiscard]] static double samples(const TimedRun& run) {
    return static_cast<double>(run.ranks) * run.batch * run.accumulation;
  }

 private:
  Document document_;
  const Catalogue* catalogue_;
  Scenario scenario_;
};

int read_ranks_of_run(Section& row, const std::optional<int>& nodes, const Scenario& scenario) {
  if (const auto ranks = row.maybe("ranks")) return read_at_least(*ranks, 1);
  return nodes ? *nodes * scenario.platform.platform.devices_per_node : scenario.platform.ranks;
}

double read_positive(const Value& where) {
  const auto number = read<double>(where);
  if (!(number > 0)) where.fail("a positive number");
  return number;
}

TimedRun read_run(const Value& where, const Prediction& prediction) {
  Section section(where);
  TimedRun run{where, 1, {}, 1, 1, {}, {}};
  if (const auto kind = section.maybe("normalisation")) run.normalisation = read_normalisation(*kind);
  if (const auto nodes = section.maybe("nodes")) run.nodes = read_at_least(*nodes, 1);
  run.ranks = read_ranks_of_run(section, run.nodes, prediction.scenario());
  const auto batch = section.maybe("batch_per_rank");
  run.batch = batch ? read_at_least(*batch, 1) : prediction.scenario().workload.batch_per_rank;
  const auto accumulation = section.maybe("accumulation");
  run.accumulation = accumulation ? read_at_least(*accumulation, 1) : prediction.scenario().strategy.accumulation;
  const auto rate = section.maybe("samples_per_second");
  const auto seconds = section.maybe("iteration_seconds");
  if (rate.has_value() == seconds.has_value()) where.fail("either \"samples_per_second\" or \"iteration_seconds\"");
  if (seconds) {
    run.iteration = Seconds(read_positive(*seconds));
    run.text = format(run.iteration);
  } else {
    const double samples_per_second = read_positive(*rate);
    run.iteration = Seconds(Prediction::samples(run) / samples_per_second);
    run.text = fmt::format("{:.6g} samples/s", samples_per_second);
  }
  section.finish();
  run.text += fmt::format(" of {} rank{}, batch {}", run.ranks, run.ranks == 1 ? "" : "s", run.batch);
  if (accumulation) run.text += fmt::format(", {} passes a step", run.accumulation);
  return run;
}

/// What the row would have to say, for an iteration that takes so long.
std::string rate_of(const TimedRun& run, Seconds iteration) {
  return fmt::format("{:.6g} samples/s ({} an iteration)", Prediction::samples(run) / iteration.si(),
                     format(iteration));
}

[[noreturn]] void refuse_unreachable(const TimedRun& run, const char* bound, double excess, const std::string& how) {
  const Seconds reached = run.iteration + Seconds(excess);
  run.where.fail(fmt::format("at {} {}, which {} ranks reach {}", bound, rate_of(run, reached), run.ranks, how),
                 run.text);
}

/// Where a rank updates less than a device alone would, the device takes longer than the step.
Seconds device_time(const TimedRun& run, const Prediction& prediction) {
  const double pass = (run.iteration / run.accumulation).si();
  const auto excess = [&](double device) { return (prediction.iteration(run, Seconds(device)) - run.iteration).si(); };
  double low = pass;
  double high = pass;
  double below = excess(pass);
  double above = below;
  while (above < 0) {
    if (high > most_share * pass) {
      refuse_unreachable(run, "least", above, fmt::format("with a device that takes {}", format(Seconds(high))));
    }
    low = high;
    below = above;
    above = excess(high *= 2);
  }
  while (below > 0) {
    if (low < least_share * pass) refuse_unreachable(run, "most", below, "without any computation");
    high = low;
    above = below;
    below = excess(low /= 2);
  }
  if (below == 0) return Seconds(low);
  if (above == 0) return Seconds(high);
  std::uintmax_t runs = most_runs;
  const auto [from, to] = boost::math::tools::toms748_solve(
      excess, low, high, below, above, boost::math::tools::eps_tolerance<double>(accuracy_bits), runs);
  return Seconds((from + to) / 2);
}

struct Inferred {
  TimedRun run;
  Seconds time;
};

/// Of runs with the same batch, the geometric mean.
DeviceStep together(const std::vector<Inferred>& runs, const Prediction& prediction) {
  const Inferred& first = runs.front();
  double sum = 0;
  for (const Inferred& one : runs) {
    sum += std::log(one.time.si());
    if (std::abs(one.time / first.time - 1) <= agreement) continue;
    one.run.where.fail(
        fmt::format("about {}, as the device time of \"{}\" gives ({} a step)",
                    rate_of(one.run, prediction.iteration(one.run, first.time)), first.run.text, format(first.time)),
        fmt::format("{} ({} a step)", one.run.text, format(one.time)));
  }
  return {first.run.batch, Seconds(std::exp(sum / static_cast<double>(runs.size()))), first.run.normalisation};
}

void refuse_contradicting_runs(const DeviceStep& low, const DeviceStep& high, const TimedRun& run,
                               const Prediction& prediction) {
  const Seconds most = low.time * (static_cast<double>(high.batch) / low.batch);
  if (high.time > low.time && high.time <= most * (1 + device_step_noise)) return;
  run.where.fail(fmt::format("less than {} and at least {}, as batch {} takes a device {}",
                             rate_of(run, prediction.iteration(run, low.time)),
                             rate_of(run, prediction.iteration(run, most)), low.batch, format(low.time)),
                 run.text);
}

std::vector<DeviceStep> infer(const std::vector<TimedRun>& runs, const Prediction& prediction) {
  std::map<int, std::vector<Inferred>> by_batch;
  for (const TimedRun& run : runs) by_batch[run.batch].push_back({run, device_time(run, prediction)});
  std::vector<DeviceStep> steps;
  for (const auto& [batch, inferred] : by_batch) {
    steps.push_back(together(inferred, prediction));
    if (steps.size() < 2) continue;
    refuse_contradicting_runs(steps[steps.size() - 2], steps.back(), inferred.front().run, prediction);
  }
  return steps;
}

std::string in_words(const std::vector<TimedRun>& runs, const std::vector<DeviceStep>& steps) {
  std::vector<std::string> measured;
  std::vector<std::string> inferred;
  for (const TimedRun& run : runs) measured.push_back(run.text);
  for (const DeviceStep& step : steps) {
    inferred.push_back(fmt::format("{} for {} samples", format(step.time), step.batch));
  }
  return fmt::format("{}; one device alone takes {}", fmt::join(measured, ", "), fmt::join(inferred, ", "));
}

std::string in_json(const std::vector<DeviceStep>& steps) {
  std::vector<std::string> rows;
  for (const DeviceStep& step : steps) {
    const std::string kind =
        step.normalisation ? fmt::format(R"(, "normalisation": "{}")", name(*step.normalisation)) : "";
    rows.push_back(fmt::format(R"({{"batch": {}, "time": "{:.15g} s"{}}})", step.batch, step.time.si(), kind));
  }
  return fmt::format("[{}]", fmt::join(rows, ", "));
}

std::string in_json(const std::vector<TimedRun>& runs) {
  std::vector<std::string> rows;
  for (const TimedRun& run : runs) {
    rows.push_back(fmt::format(R"({{"ranks": {}, "batch_per_rank": {}, "accumulation": {}, "iteration": "{:.15g} s"}})",
                               run.ranks, run.batch, run.accumulation, run.iteration.si()));
  }
  return fmt::format("[{}]", fmt::join(rows, ", "));
}

std::vector<TimedRun> read_runs(const Value& measured, const Prediction& prediction) {
  std::vector<TimedRun> runs;
  for (const Value& row : measured.elements()) {
    runs.push_back(read_run(row, prediction));
    if (runs.back().normalisation != runs.front().normalisation) row.fail("the \"normalisation\" of the first run");
  }
  if (runs.empty()) measured.fail("at least one run");
  return runs;
}

}  // namespace

Document anchored(const Document& document, const Catalogue& catalogue) {
  const auto measured = document.find("/workload/measured");
  if (!measured) return document;
  if (const auto steps = document.find("/workload/device_steps")) {
    steps->fail("either \"measured\" runs or \"device_steps\"");
  }
  const Prediction prediction(document, catalogue);
  const std::vector<TimedRun> runs = read_runs(*measured, prediction);
  const std::vector<DeviceStep> steps = infer(runs, prediction);
  Document result = document;
  for (const char* part : {"/workload/measured", "/workload/measured_under"}) result.remove(part);
  // Where the values are from: not from an option, which a sweep may not replace.
  const std::string inferred = "workload.measured";
  result.set("/workload/device_steps", Document::parse(in_json(steps), inferred).root().node());
  result.set("/workload/anchored_on", Node{in_words(runs, steps), 0, std::make_shared<const std::string>(inferred)});
  result.set("/workload/anchored_runs", Document::parse(in_json(runs), inferred).root().node());
  result.set("/workload/anchored_device", anchor_device(prediction.scenario(), steps, inferred));
  return result;
}

}}  // namespace farandole::scenario
