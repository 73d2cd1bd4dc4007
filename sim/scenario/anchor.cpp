#include "scenario/anchor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <boost/math/tools/toms748_solve.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/section.hpp"
#include "scenario/compared_settings.hpp"
#include "scenario/model_error.hpp"
#include "scenario/read_parts.hpp"
#include "scenario/train.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// What the device that ran is, and what steps that were inferred of it are estimated to take.
struct Origin {
  std::string model;
  std::string variant;
  std::string device;
  std::string generation;
  Precision precision = Precision::fp32;
  bool compiled = false;
  Normalisation normalisation = Normalisation::separate;
  FlopPerSecond peak;
  BytesPerSecond memory_bandwidth;
  std::vector<Seconds> estimates;
};

Origin origin_of(const WorkloadSpec& workload, const Device& device, Normalisation normalisation,
                 const std::vector<DeviceStep>& steps) {
  Origin origin{workload.model.name, workload.model.variant, device.name, device.generation,       workload.precision,
                workload.compiled,   normalisation,          {},          device.memory_bandwidth, {}};
  Device unmeasured = device;
  unmeasured.measurements.clear();
  if (device.kernels) unmeasured.assumed_efficiency = 0;  // what a scenario assumes is no property of a device
  for (const DeviceStep& step : steps) {
    const ComputeDemand demand{workload.precision, step.batch,       "", usual_dispatch(device), {}, Recompute::none,
                               normalisation,      workload.compiled};
    origin.estimates.push_back(compute_times(workload.model, unmeasured, demand).total());
  }
  origin.peak = device.peak.at(workload.precision);
  return origin;
}

Origin read_origin(const Value& where) {
  Section section(where);
  Origin origin;
  origin.model = section.required<std::string>("model");
  origin.variant = section.required<std::string>("variant");
  origin.device = section.required<std::string>("device");
  origin.generation = section.required<std::string>("generation");
  origin.precision = read_precision(section.child("precision"));
  origin.compiled = section.required<bool>("compile");
  origin.normalisation = read_normalisation(section.child("normalisation"));
  origin.peak = section.required<FlopPerSecond>("peak");
  origin.memory_bandwidth = section.required<BytesPerSecond>("memory_bandwidth");
  origin.estimates = mapped(section.child("estimates").elements(), read<Seconds>);
  section.finish();
  return origin;
}

/// No program gains more than all its products or all it moves do.
double least_factor(const Origin& from, const Origin& to) {
  const double products = from.peak / to.peak;
  const double moves =
      from.memory_bandwidth / to.memory_bandwidth * (element_size(to.precision) / element_size(from.precision));
  return std::min({products, moves, 1.0});
}

/// What measured ratios lie from estimated ones, in the fitted kernels' file: tools/kernel_bands.py.
TimeBand band_of(const Origin& from, const Origin& to, double compiled, const Catalogue& catalogue) {
  const Document& fitted = *catalogue.find_read(catalogue.root() / "topologies/devices/kernels/fitted.json");
  Section carried = Section(Section(fitted.root()).child("carried"));
  TimeBand band;
  const auto add = [&](double factor) { band = together(band, {1 / factor, factor}); };
  const bool is_relative = from.generation == to.generation;
  if (from.device != to.device) add(carried.required<double>(is_relative ? "same_generation" : "other_generation"));
  if (from.precision != to.precision) add(carried.required<double>("precision"));
  if (from.compiled != to.compiled) add(std::max(compiled, 1 / compiled));  // as uncertain as what it changes
  const auto errors = difference_errors(catalogue).kinds;
  const auto variant = errors.find(from.variant == to.variant ? "" : "sequence or variant");
  if (variant != errors.end()) add(std::exp(variant->second.high));
  return band;
}

std::string in_one_phrase(const Origin& origin) {
  return fmt::format("{} in {}{}", origin.device, name(origin.precision), origin.compiled ? ", compiled" : "");
}

}  // namespace

/// What steps were inferred of, and are estimated to take there: `workload.anchored_device`. `source`: of the node.
static Node anchor_device(const Scenario& scenario, const std::vector<DeviceStep>& steps, const std::string& source) {
  const WorkloadSpec& workload = scenario.workload;
  const auto normalisation =
      steps.front().normalisation.value_or(workload.normalisation.value_or(Normalisation::separate));
  const Origin origin = origin_of(workload, scenario.platform.device, normalisation, steps);
  const auto from = std::make_shared<const std::string>(source);
  const auto text = [&](std::string value) { return Node{std::move(value), 0, from}; };
  Node::Array estimates;
  for (const Seconds time : origin.estimates) estimates.push_back(text(fmt::format("{:.17g} s", time.si())));
  return {Node::Object{{"model", text(origin.model)},
                       {"variant", text(origin.variant)},
                       {"device", text(origin.device)},
                       {"generation", text(origin.generation)},
                       {"precision", text(name(origin.precision))},
                       {"compile", Node{origin.compiled, 0, from}},
                       {"normalisation", text(name(origin.normalisation))},
                       {"peak", text(fmt::format("{:.17g} FLOP/s", origin.peak.si()))},
                       {"memory_bandwidth", text(fmt::format("{:.17g} B/s", origin.memory_bandwidth.si()))},
                       {"estimates", Node{std::move(estimates), 0, from}}},
          0, from};
}

void carry_anchor(WorkloadSpec& workload, const Value& where, const Device& device, const Catalogue& catalogue) {
  const Origin from = read_origin(where);
  if (from.model != workload.model.name) {
    workload.device_steps.clear();
    workload.anchored_on.clear();
    workload.anchors.clear();
    return;
  }
  const Origin to = origin_of(workload, device, from.normalisation, workload.device_steps);
  const bool is_variant = from.variant != to.variant;  // sequences of another length are other work
  const double least = from.compiled == to.compiled && !is_variant ? least_factor(from, to) : 0;
  double largest = 1;
  for (std::size_t i = 0; i < to.estimates.size(); ++i) {
    const double factor = std::max(least, to.estimates[i] / from.estimates.at(i));
    workload.device_steps[i].time *= factor;
    workload.device_steps[i].update *= factor;
    if (std::abs(std::log(factor)) > std::abs(std::log(largest))) largest = factor;
  }
  if (largest == 1 && from.precision == to.precision && !is_variant) return;
  workload.carried = band_of(from, to, largest, catalogue);
  workload.carried.least = std::max(workload.carried.least, std::min(1.0, least / largest));
  workload.anchored_on += fmt::format("; here {:.4g} times that, as {} is estimated to take of {}", largest,
                                      (is_variant ? to.variant + " on " : "") + in_one_phrase(to),
                                      (is_variant ? from.variant + " on " : "") + in_one_phrase(from));
}

namespace {

constexpr double agreement = 0.1;     // device times of the same batch that agree: what runs of a day differ by
constexpr double least_share = 1e-4;  // of the step that a device may take, and the most
constexpr double most_share = 1e4;
constexpr int accuracy_bits = 40;
constexpr std::uintmax_t most_runs = 60;
constexpr double reproduced = 1e-9;  // of a step
constexpr double exact = 1e-13;

struct TimedRun {
  Value where;
  int ranks = 1;
  std::optional<int> nodes;
  int batch = 1;
  int accumulation = 1;
  Seconds iteration;
  std::string text;
  std::optional<Normalisation> normalisation{};
  double beside = 1;  // AnchorRun::beside
  Seconds update{};   // DeviceStep::update
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

  /// With so much time of the device for a step of the run, and that much more for its update.
  [[nodiscard]] Seconds iteration(const TimedRun& run, Seconds device, Seconds update = 0_s) const {
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
                 fmt::format(R"([{{"batch": {}, "time": "{:.15g} s", "update": "{:.15g} s"}}])", run.batch, device.si(),
                             update.si()));
    const TrainingPoint point =
        train(read_scenario(document.root(), *catalogue_, &scenario_.platform.platform), nullptr);
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

TimedRun read_run(const Value& where, const Prediction& prediction) {
  Section section(where);
  TimedRun run{where, 1, {}, 1, 1, {}, {}};
  if (const auto kind = section.maybe("normalisation")) run.normalisation = read_normalisation(*kind);
  if (const auto nodes = section.maybe("nodes")) run.nodes = read_at_least(*nodes, 1);
  const PlatformSpec& spec = prediction.scenario().platform;
  const auto ranks = section.maybe("ranks");
  run.ranks = ranks ? read_at_least(*ranks, 1) : run.nodes ? *run.nodes * spec.platform.devices_per_node : spec.ranks;
  run.batch = prediction.scenario().workload.batch_per_rank;
  if (const auto batch = section.maybe("batch_per_rank")) run.batch = read_at_least(*batch, 1);
  const auto accumulation = section.maybe("accumulation");
  run.accumulation = accumulation ? read_at_least(*accumulation, 1) : prediction.scenario().strategy.accumulation;
  const auto rate = section.maybe("samples_per_second");
  const auto seconds = section.maybe("iteration_seconds");
  if (rate.has_value() == seconds.has_value()) where.fail("either \"samples_per_second\" or \"iteration_seconds\"");
  if (seconds) {
    run.iteration = Seconds(read_above_zero<double>(*seconds));
    run.text = format(run.iteration);
  } else {
    const double samples_per_second = read_above_zero<double>(*rate);
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

using Excess = std::function<double(double time)>;

/// The last two places between which it changes its sign.
std::pair<double, double> sign_change(const Excess& excess, double low, double high, double below, double above) {
  if (below == 0 || above == 0) return below == 0 ? std::pair(low, low) : std::pair(high, high);
  std::uintmax_t runs = most_runs;
  return boost::math::tools::toms748_solve(excess, low, high, below, above,
                                           boost::math::tools::eps_tolerance<double>(accuracy_bits), runs);
}

/// A step jumps where another collective comes first, to one side of the measured time and to the other: then its
/// update takes what is missing on the shorter side.
Seconds across_a_jump(TimedRun& run, const Prediction& prediction, std::pair<double, double> sides) {
  const auto excess = [&](double device, double update) {
    return (prediction.iteration(run, Seconds(device), Seconds(update)) - run.iteration).si();
  };
  const double device = excess(sides.first, 0) < 0 ? sides.first : sides.second;
  const double missing = -excess(device, 0);
  double most = missing;
  double above = excess(device, most);
  while (above < 0 && most < run.iteration.si()) above = excess(device, most *= 2);
  if (above < 0) refuse_unreachable(run, "most", above, "with the device times nearest to it");
  const auto [from, to] = sign_change([&](double update) { return excess(device, update); }, 0, most, -missing, above);
  run.update = Seconds((from + to) / 2);
  const double left = excess(device, run.update.si());
  if (std::abs(left) <= reproduced * run.iteration.si()) return Seconds(device);
  refuse_unreachable(run, left > 0 ? "least" : "most", left, "with the device times nearest to it");
}

/// Where a rank updates less than a device alone would, the device takes longer than the step.
Seconds device_time(TimedRun& run, const Prediction& prediction) {
  const double pass = (run.iteration / run.accumulation).si();
  const auto excess = [&](double device) {
    const double found = (prediction.iteration(run, Seconds(device)) - run.iteration).si();
    return std::abs(found) <= exact * run.iteration.si() ? 0 : found;  // the search ends
  };
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
  const auto [from, to] = sign_change(excess, low, high, below, above);
  const Seconds found((from + to) / 2);
  if (std::abs(excess(found.si())) <= reproduced * run.iteration.si()) return found;
  return across_a_jump(run, prediction, {from, to});
}

/// Of runs with the same batch: what the fewest ranks say, in the geometric mean where there are several runs of
/// theirs, as of other numbers of ranks, whose bias is what they take beside.
DeviceStep together(std::span<TimedRun* const> runs, const Prediction& prediction) {
  std::map<int, std::vector<std::pair<TimedRun*, Seconds>>> by_ranks;
  for (TimedRun* run : runs) by_ranks[run->ranks].emplace_back(run, device_time(*run, prediction));
  const auto [first, of_first] = by_ranks.begin()->second.front();
  std::optional<Seconds> fewest;
  for (const auto& [ranks, inferred] : by_ranks) {
    double sum = 0;
    for (const auto& [run, time] : inferred) {
      sum += std::log(time.si());
      if (std::abs(time / of_first - 1) <= agreement) continue;
      run->where.fail(fmt::format("about {}, as the device time of \"{}\" gives ({} a step)",
                                  rate_of(*run, prediction.iteration(*run, of_first)), first->text, format(of_first)),
                      fmt::format("{} ({} a step)", run->text, format(time)));
    }
    const Seconds mean(std::exp(sum / static_cast<double>(inferred.size())));
    if (!fewest) fewest = mean;
    for (const auto& [run, time] : inferred) run->beside = mean / *fewest;
  }
  return {first->batch, *fewest, first->normalisation, false, first->update};
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

std::vector<DeviceStep> infer(std::vector<TimedRun>& runs, const Prediction& prediction) {
  std::map<int, std::vector<TimedRun*>> by_batch;
  for (TimedRun& run : runs) by_batch[run.batch].push_back(&run);
  std::vector<DeviceStep> steps;
  for (const auto& [batch, of_batch] : by_batch) {
    steps.push_back(together(of_batch, prediction));
    if (steps.size() < 2) continue;
    refuse_contradicting_runs(steps[steps.size() - 2], steps.back(), *of_batch.front(), prediction);
  }
  return steps;
}

std::string in_words(const std::vector<TimedRun>& runs, const std::vector<DeviceStep>& steps) {
  const auto in_short = [](const DeviceStep& step) {
    return fmt::format("{} for {} samples", format(step.time), step.batch);
  };
  return fmt::format("{}; one device alone takes {}", fmt::join(mapped(runs, &TimedRun::text), ", "),
                     fmt::join(mapped(steps, in_short), ", "));
}

std::string in_json(const std::vector<DeviceStep>& steps) {
  const auto row = [](const DeviceStep& step) {
    const std::string kind =
        step.normalisation ? fmt::format(R"(, "normalisation": "{}")", name(*step.normalisation)) : "";
    const std::string update = step.update > 0_s ? fmt::format(R"(, "update": "{:.15g} s")", step.update.si()) : "";
    return fmt::format(R"({{"batch": {}, "time": "{:.15g} s"{}{}}})", step.batch, step.time.si(), kind, update);
  };
  return fmt::format("[{}]", fmt::join(mapped(steps, row), ", "));
}

std::string in_json(const std::vector<TimedRun>& runs) {
  const auto row = [](const TimedRun& run) {
    return fmt::format(
        R"({{"ranks": {}, "batch_per_rank": {}, "accumulation": {}, "iteration": "{:.15g} s", "beside": {:.17g}}})",
        run.ranks, run.batch, run.accumulation, run.iteration.si(), run.beside);
  };
  return fmt::format("[{}]", fmt::join(mapped(runs, row), ", "));
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
  std::vector<TimedRun> runs = read_runs(*measured, prediction);
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

namespace {

constexpr std::string_view rows_at = "/workload/measured";
constexpr std::string_view kept_at = "/workload/measured_under";

/// What an element of an array is kept with: the array.
std::string object_member(const Document& document, std::string pointer) {
  for (auto slash = pointer.rfind('/'); slash != std::string::npos && slash > 0; slash = pointer.rfind('/')) {
    const auto parent = document.find(pointer.substr(0, slash));
    if (!parent || !parent->is_array()) break;
    pointer.resize(slash);
  }
  return pointer;
}

/// Of what the change makes, the outermost object; where all around it is there, the value itself.
std::string first_missing(const Document& document, std::string pointer) {
  for (auto slash = pointer.rfind('/'); slash > 0 && !document.find(pointer.substr(0, slash));
       slash = pointer.rfind('/'))
    pointer.resize(slash);
  return pointer;
}

void put_back(Document& document, const std::string& pointer, const Value& value) {
  if (is_within(pointer, rows_at) || is_within(pointer, kept_at)) value.fail("a setting, not the rows themselves");
  const bool was_there = !std::holds_alternative<std::nullptr_t>(value.node().value);
  if (!was_there && object_member(document, pointer) != pointer)
    value.fail("an array as a whole, or an element's value");
  was_there ? document.set(pointer, value.node()) : document.remove(pointer);
}

}  // namespace

void keep_measured(Document& changed, const Document& before, const std::string& pointer) {
  if (!before.find(rows_at) || is_within(pointer, kept_at)) return;
  if (pointer == rows_at) return changed.remove(kept_at);
  if (is_within(pointer, rows_at) || !changed.find(rows_at) || is_within(rows_at, pointer)) return;
  const std::string at = object_member(before, first_missing(before, pointer));
  const auto was = before.find(at);
  Node::Object kept{{at, was ? was->node() : Node{nullptr, 0, {}}}};
  if (const auto earlier = before.find(kept_at)) {
    const auto& members = std::get<Node::Object>(earlier->node().value);
    const auto holds = [&](const Node::Member& member) { return is_within(at, member.key); };
    if (std::ranges::any_of(members, holds)) return;
    kept.insert(kept.end(), members.begin(), members.end());
  }
  changed.set(kept_at, Node{std::move(kept), 0, {}});
}

Document as_measured(const Document& document) {
  Document result = document;
  const auto kept = document.find(kept_at);
  if (!kept) return result;
  result.remove(kept_at);
  for (const auto& [pointer, value] : kept->members()) put_back(result, pointer, value);
  return result;
}

}}  // namespace farandole::scenario
