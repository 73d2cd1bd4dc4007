#include "comparison_of_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "command.hpp"
#include "scenario/parts.hpp"
#include "workload/compute_time.hpp"

namespace farandole {
namespace {

constexpr std::size_t most_spans = 4'000'000;
constexpr double no_time = 1e-8;        // less is rounding
constexpr double worth_a_word = 0.005;  // of the step
constexpr double as_long = 0.1;         // a collective that differs by less takes as long as predicted

/// What a part that takes longer or shorter than predicted points at.
struct PartReason {
  std::string_view part;
  std::string_view longer;
  std::string_view shorter;
};
constexpr std::array part_reasons{
    PartReason{"matrix products", "lower clocks, another batch or precision, or collectives beside them",
               "the device does better than its file: give the measured step as \"measured\""},
    PartReason{"attention", "attention that is not fused, or longer sequences",
               "a faster attention kernel, or shorter sequences"},
    PartReason{"norms and elementwise", "kernels that are not fused, which torch.compile would",
               "kernels that are fused: the scenario's \"compile\""},
    PartReason{"copies and casts",
               "copies that the model's layers do not need: layouts, casts, buckets, host transfers",
               "fewer copies than the model's layers have"},
    PartReason{"optimizer", "an optimizer that is not fused, or has more state",
               "a fused optimizer, or one with less state"},
    PartReason{"other kernels", "kernels that no rule names: the table below has them", ""},
    PartReason{"computation", "a slower device, another batch or precision, or collectives beside it",
               "a faster device, or another batch or precision"},
    PartReason{"idle", "the device waits for its host: launches, input, synchronisation",
               "less waiting for hosts and other ranks than predicted"},
    PartReason{"computation or idle", "longer between collectives: a slower device, or a slower host",
               "shorter between collectives: a faster device, or another batch"},
};

std::map<KernelClass, double> layer_shares(const Scenario& scenario) {
  const ComputeTimes times = times_of(scenario);
  const Model& own = scenario.workload.of_rank();
  const Model& model = own.layers.size() == times.forward.size() ? own : scenario.workload.model;
  std::map<KernelClass, double> shares;
  if (model.layers.size() != times.forward.size() || times.passes() <= Seconds(0)) return shares;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    shares[class_of_layer(layer.type, layer.macs > 0)] += (times.forward[i] + times.backward[i]) / times.passes();
  }
  return shares;
}

class TraceComparer {
 public:
  TraceComparer(std::vector<DeviceTrace> traces, const ComparedRun& run, std::optional<int> steps)
      : run_(run), steps_(steps) {
    result_.traces = std::move(traces);
    for (const DeviceTrace& trace : result_.traces) result_.detail = std::max(result_.detail, trace.detail);
  }

  TraceComparison comparison() {
    refuse_steps_twice();
    predict();
    mark_pipelines();
    for (const DeviceTrace& trace : result_.traces) measure(trace);
    find_slowest();
    account_of_prediction();
    compare();
    if (result_.detail != TraceDetail::communication) descend_from_peak();
    return std::move(result_);
  }

 private:
  void refuse_steps_twice() const {
    for (const DeviceTrace& trace : result_.traces) {
      if (steps_ && !trace.steps.empty())
        refuse_option("--steps", fmt::format("a trace that marks no steps (this one has {})", trace.steps_by),
                      std::to_string(*steps_));
    }
  }

  void predict() {
    const RunPlan plan = plan_run(run_.document, run_.catalogue, run_.options);
    result_.notes = plan.notes;
    const PlannedPoint planned = read_point(plan.points.back(), run_.catalogue);
    Timeline timeline(most_spans, Timeline::Keep::spans);
    result_.point = run_point(planned, run_.catalogue, &timeline);
    result_.predicted = trace_of(timeline);
    result_.predicted.name = "predicted";
    warmup_ = planned.scenario.measure.warmup;
    if (result_.detail == TraceDetail::kernels) shares_ = layer_shares(planned.scenario);
    if (result_.predicted.detail == TraceDetail::communication)
      result_.detail = TraceDetail::communication;
    else if (shares_.empty())
      result_.detail = std::max(result_.detail, TraceDetail::computation);
  }

  [[nodiscard]] int predicted_steps() const {
    const StepWindow all = result_.predicted.all();
    return std::max(1, static_cast<int>(std::lround((all.end - all.begin) / result_.point.iteration.si())));
  }

  /// Our timelines of pipelines mark no steps; each has as many pieces of computation as one of the prediction.
  void mark_pipelines() {
    if (steps_ || !result_.predicted.steps.empty() || result_.predicted.work.empty()) return;
    const std::size_t pieces = piece_begins(result_.predicted).size();
    const auto steps = static_cast<std::size_t>(predicted_steps());
    if (pieces == 0 || pieces % steps != 0) return;
    bool are_marked = false;
    for (DeviceTrace& trace : result_.traces) {
      if (!trace.is_ours || !trace.steps.empty()) continue;
      mark_pieces(trace, pieces / steps);
      are_marked = are_marked || !trace.steps.empty();
    }
    if (are_marked) mark_pieces(result_.predicted, pieces / steps);
  }

  static std::vector<double> piece_begins(const DeviceTrace& trace) {
    std::vector<double> begins;
    for (const DeviceWork& work : trace.work) {
      if (work.work.kind == KernelClass::computation) begins.push_back(work.begin);
    }
    return begins;
  }

  static void mark_pieces(DeviceTrace& trace, std::size_t of_a_step) {
    const std::vector<double> begins = piece_begins(trace);
    for (std::size_t i = of_a_step; i < begins.size(); i += of_a_step)
      trace.steps.push_back({begins[i - of_a_step], begins[i]});
    trace.steps_by = fmt::format("{} pieces of computation", of_a_step);
  }

  void measure(const DeviceTrace& trace) {
    const bool is_marked = !trace.steps.empty();
    result_.windows.push_back(is_marked ? trace.steps : std::vector{trace.all()});
    const int steps = is_marked ? static_cast<int>(trace.steps.size()) : steps_.value_or(1);
    result_.accounts.push_back(account_of(trace, result_.detail, result_.windows.back(), steps));
  }

  /// Ranks wait for one another in collectives: the one that waits least keeps the others waiting.
  void find_slowest() {
    const auto slowest = std::ranges::max_element(result_.accounts, {}, &StepAccount::unexposed);
    result_.slowest = static_cast<std::size_t>(slowest - result_.accounts.begin());
  }

  /// Our own timeline is compared step by step; of a prediction all steps count but those that warm up.
  void account_of_prediction() {
    const DeviceTrace& trace = result_.predicted;
    std::vector<StepWindow>& windows = result_.predicted_windows;
    windows = trace.steps;
    int steps = static_cast<int>(windows.size());
    const std::size_t measured = result_.measured().steps.size();
    if (windows.empty()) {
      if (trace.work.empty()) throw std::runtime_error("the simulated run has no timeline to compare with");
      windows = {trace.all()};
      steps = predicted_steps();
    } else if (result_.measured().is_ours && measured > 0) {
      windows.resize(std::min(measured, windows.size()));
      steps = static_cast<int>(windows.size());
    } else if (steps > warmup_) {
      windows.erase(windows.begin(), windows.begin() + warmup_);
      steps -= warmup_;
    }
    result_.expected = account_of(trace, result_.detail, windows, steps);
    if (result_.detail == TraceDetail::kernels) divide(result_.expected);
  }

  void divide(StepAccount& account) const {
    const std::string whole(words_of(KernelClass::computation));
    const double seconds = account.part(whole);
    account.parts.erase(whole);
    for (const auto& [kind, share] : shares_) account.parts[std::string(words_of(kind))] += share * seconds;
  }

  void compare() {
    std::set<std::string> names;
    for (const StepAccount* account : {&result_.account(), &std::as_const(result_.expected)}) {
      for (const auto& [name, seconds] : account->parts) {
        if (seconds > no_time) names.insert(name);
      }
    }
    for (const std::string& name : names) {
      ComparedPart part{name, result_.account().part(name), result_.expected.part(name)};
      if (std::abs(part.difference()) > worth_a_word * result_.account().seconds) part.points_at = reason_of(part);
      result_.parts.push_back(std::move(part));
    }
    std::ranges::stable_sort(result_.parts, std::greater{},
                             [](const ComparedPart& part) { return std::abs(part.difference()); });
  }

  [[nodiscard]] std::string reason_of(const ComparedPart& part) const {
    for (const PartReason& reason : part_reasons) {
      if (part.name == reason.part) return std::string(part.difference() > 0 ? reason.longer : reason.shorter);
    }
    return reason_of_collective(part);
  }

  [[nodiscard]] std::string reason_of_collective(const ComparedPart& part) const {
    const std::string collective =
        part.name.starts_with(exposed_word) ? part.name.substr(std::string(exposed_word).size()) : part.name;
    const auto total = [&](const StepAccount& account) {
      const auto found = account.collectives.find(collective);
      return found == account.collectives.end() ? 0.0 : found->second;
    };
    const double measured = total(result_.account());
    const double predicted = total(result_.expected);
    if (predicted <= 0)
      return fmt::format("no {} is predicted: another strategy or setting than the scenario's", collective);
    if (measured <= 0)
      return fmt::format("no {} was measured: another strategy or setting than the scenario's", collective);
    const double ratio = measured / predicted;
    if (ratio > 1 + as_long)
      return fmt::format("{} takes {:.2f} times as long: network, algorithm, or waiting for slower ranks", collective,
                         ratio);
    if (ratio < 1 - as_long)
      return fmt::format("{} takes {:.2f} times as long: less traffic, or a faster network", collective, ratio);
    return part.difference() > 0
               ? fmt::format("{} takes as long, less of it behind computation: order, buckets, prefetch", collective)
               : fmt::format("{} takes as long, more of it behind computation", collective);
  }

  void descend_from_peak() {
    const Utilisation& use = result_.point.utilisation;
    if (!use.mfu || *use.mfu <= 0) return;
    const double ideal = *use.mfu * result_.point.iteration.si();
    const double again = std::max(0.0, use.hfu.value_or(*use.mfu) - *use.mfu) * result_.point.iteration.si();
    result_.peak.push_back({"the model's FLOP at the peak", ideal, ideal});
    if (again > 0) result_.peak.push_back({"recomputation at the peak", again, again});
    PeakShare below{
        result_.detail == TraceDetail::kernels ? "products and attention below the peak" : "the rest of computation",
        -ideal - again, -ideal - again};
    std::vector<PeakShare> others;
    for (const ComparedPart& part : result_.parts) {
      const bool has_flop = part.name == words_of(KernelClass::product) ||
                            part.name == words_of(KernelClass::attention) ||
                            part.name == words_of(KernelClass::computation);
      PeakShare& share = has_flop ? below : others.emplace_back(PeakShare{part.name});
      share.measured += part.measured;
      share.predicted += part.predicted;
    }
    std::ranges::stable_sort(others, std::greater{}, &PeakShare::measured);
    result_.peak.push_back(below);
    result_.peak.insert(result_.peak.end(), others.begin(), others.end());
  }

  const ComparedRun& run_;
  std::optional<int> steps_;
  TraceComparison result_;
  int warmup_ = 0;
  std::map<KernelClass, double> shares_;
};

}  // namespace

TraceComparison compare_traces(std::vector<DeviceTrace> traces, const ComparedRun& run, std::optional<int> steps) {
  return TraceComparer(std::move(traces), run, steps).comparison();
}

}  // namespace farandole
