// farandole compare: a measured trace beside the prediction for its scenario.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "compare_timeline.hpp"
#include "comparison_of_trace.hpp"
#include "config/text.hpp"
#include "cost_options.hpp"
#include "question_answer.hpp"
#include "scenario/anchor.hpp"

namespace farandole {
namespace {

constexpr std::size_t most_unnamed = 10;
constexpr std::size_t most_of_a_name = 80;
constexpr double agreement = 0.01;     // of the step
constexpr double worth_a_bar = 0.002;  // the same

struct CompareArguments {
  std::string trace;
  std::vector<std::string> others;
  ScenarioArguments scenario;
  std::string steps;
  std::string timeline;
  CostOptions cost;
  OutputOptions output;
  PageOptions pages;
};

std::string ms_text(double seconds) {
  return grouped(seconds * milliseconds_per_second, 3);
}

std::string signed_ms(double seconds) {
  const std::string text = ms_text(seconds);
  return seconds > 0 && text != "0.000" ? "+" + text : text;
}

std::string ratio_text(double measured, double predicted) {
  return predicted > 0 ? fmt::format("{:.3f}", measured / predicted) : std::string();
}

std::string percent_of(double part, double whole) {
  return grouped(part / whole * 100, 1);
}

std::string short_name(const std::string& name) {
  return name.size() <= most_of_a_name ? name : name.substr(0, utf8_prefix(name.substr(0, most_of_a_name))) + "...";
}

std::string step_sentence(const TraceComparison& all) {
  const TrainingPoint& point = all.point;
  const double measured = all.account().seconds;
  const double predicted = all.expected.seconds;
  std::string band;
  if (point.bands) {
    const Interval& iteration = point.bands->iteration;
    band = measured >= iteration.low && measured <= iteration.high ? ", within its 80 % interval"
                                                                   : ", outside its 80 % interval";
  }
  return fmt::format("{} on {}, {}: a step takes {} ms, {} ms predicted ({}{}).", point.model, ranks_text(point.ranks),
                     point.platform, ms_text(measured), ms_text(predicted), signed_percent(measured / predicted - 1, 1),
                     band);
}

std::string part_sentence(const TraceComparison& all) {
  const ComparedPart& most = all.parts.front();
  if (std::abs(most.difference()) <= agreement * all.account().seconds)
    return "No part of it differs by more than 1 % of the step.";
  return fmt::format("The largest difference is {}, {} ms: {}.", most.name, signed_ms(most.difference()),
                     most.points_at);
}

std::string slowest_sentence(const TraceComparison& all) {
  const auto [least, most] = std::ranges::minmax(all.accounts, {}, &StepAccount::unexposed);
  return fmt::format("The slowest of {} traces is {}: without exposed communication their steps take {} to {} ms.",
                     all.traces.size(), all.measured().name, ms_text(least.unexposed()), ms_text(most.unexposed()));
}

std::vector<std::string> compare_headline(const TraceComparison& all) {
  std::vector<std::string> sentences{step_sentence(all), part_sentence(all)};
  if (all.measured().steps.empty())
    sentences.push_back(fmt::format("The trace marks no steps: all of it counts as {}.", all.account().steps));
  if (all.traces.size() > 1) sentences.push_back(slowest_sentence(all));
  if (!all.peak.empty()) {
    const double ideal = all.peak.front().measured;
    const bool is_possible = ideal <= all.account().seconds;
    sentences.push_back(is_possible
                            ? fmt::format("MFU is {} %, {} % predicted.", percent_of(ideal, all.account().seconds),
                                          percent_of(ideal, all.expected.seconds))
                            : fmt::format("The model's FLOP alone take {} ms at the peak: is this the trace of another "
                                          "model, batch or precision?",
                                          ms_text(ideal)));
  }
  return sentences;
}

Grid parts_grid(const TraceComparison& all) {
  Grid grid{"A step, part by part",
            {{"part", Align::left},
             {"measured (ms)"},
             {"predicted (ms)"},
             {"difference (ms)"},
             {"ratio"},
             {"points at", Align::left}},
            {}};
  const auto row = [&](const ComparedPart& part) {
    grid.rows.push_back({Cell(part.name), Cell(ms_text(part.measured), part.measured),
                         Cell(ms_text(part.predicted), part.predicted),
                         Cell(signed_ms(part.difference()), part.difference()),
                         Cell(ratio_text(part.measured, part.predicted)), Cell(part.points_at)});
  };
  for (const ComparedPart& part : all.parts) row(part);
  row({"step", all.account().seconds, all.expected.seconds});
  return grid;
}

struct ComparedCollective {
  std::string name;
  double measured = 0;
  double predicted = 0;
  double measured_exposed = 0;
  double predicted_exposed = 0;
};

std::vector<ComparedCollective> compared_collectives(const TraceComparison& all) {
  std::map<std::string, ComparedCollective> collectives;
  const auto exposed = [&](const StepAccount& account, const std::string& name) {
    return account.part(all.detail == TraceDetail::communication ? name : exposed_word + name);
  };
  for (const auto& [name, seconds] : all.account().collectives) collectives[name].measured = seconds;
  for (const auto& [name, seconds] : all.expected.collectives) collectives[name].predicted = seconds;
  std::vector<ComparedCollective> result;
  for (auto& [name, one] : collectives) {
    one.name = name;
    one.measured_exposed = exposed(all.account(), name);
    one.predicted_exposed = exposed(all.expected, name);
    result.push_back(one);
  }
  std::ranges::stable_sort(result, std::greater{},
                           [](const ComparedCollective& one) { return std::max(one.measured, one.predicted); });
  return result;
}

Grid collectives_grid(const TraceComparison& all) {
  Grid grid{"Communication of a step, behind computation or not",
            {{"collective", Align::left},
             {"measured (ms)"},
             {"predicted (ms)"},
             {"ratio"},
             {"exposed: measured (ms)"},
             {"predicted (ms)"}},
            {}};
  for (const ComparedCollective& one : compared_collectives(all)) {
    grid.rows.push_back({Cell(one.name), Cell(ms_text(one.measured), one.measured),
                         Cell(ms_text(one.predicted), one.predicted), Cell(ratio_text(one.measured, one.predicted)),
                         Cell(ms_text(one.measured_exposed), one.measured_exposed),
                         Cell(ms_text(one.predicted_exposed), one.predicted_exposed)});
  }
  return grid;
}

/// A row, and what is left of the device's peak after it.
Grid peak_grid(const TraceComparison& all) {
  Grid grid{"From the peak to the step: the first row's share is the MFU",
            {{"what a step consists of", Align::left},
             {"measured (ms)"},
             {"of the step (%)"},
             {"predicted (ms)"},
             {"of the step (%)"}},
            {}};
  const auto row = [&](const PeakShare& share) {
    grid.rows.push_back({Cell(share.name), Cell(ms_text(share.measured), share.measured),
                         Cell(percent_of(share.measured, all.account().seconds)),
                         Cell(ms_text(share.predicted), share.predicted),
                         Cell(percent_of(share.predicted, all.expected.seconds))});
  };
  for (const PeakShare& share : all.peak) row(share);
  row({"step", all.account().seconds, all.expected.seconds});
  return grid;
}

std::vector<std::pair<std::string, double>> largest_unnamed(const TraceComparison& all) {
  std::vector<std::pair<std::string, double>> kernels(all.account().unnamed.begin(), all.account().unnamed.end());
  std::ranges::stable_sort(kernels, std::greater{}, &std::pair<std::string, double>::second);
  if (kernels.size() > most_unnamed) kernels.resize(most_unnamed);
  return kernels;
}

Grid unnamed_grid(const TraceComparison& all) {
  Grid grid{fmt::format("Other kernels: the largest of {} that no rule names", all.account().unnamed.size()),
            {{"ms of a step"}, {"kernel", Align::left}},
            {}};
  for (const auto& [name, seconds] : largest_unnamed(all))
    grid.rows.push_back({Cell(ms_text(seconds), seconds), Cell(short_name(name))});
  return grid;
}

/// The slowest first.
std::vector<std::size_t> ranks_in_order(const TraceComparison& all) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.traces.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const StepAccount& account = all.accounts[i];
    return i == all.slowest ? -1.0 : account.exposed / account.seconds;
  });
  return order;
}

Grid ranks_grid(const TraceComparison& all) {
  Grid grid{"Traces, the slowest first",
            {{"trace", Align::left},
             {"step (ms)"},
             {"kernels and copies (ms)"},
             {"exposed communication (ms)"},
             {"idle (ms)"}},
            {}};
  for (const std::size_t i : ranks_in_order(all)) {
    const StepAccount& account = all.accounts[i];
    grid.rows.push_back({Cell(all.traces[i].name), Cell(ms_text(account.seconds), account.seconds),
                         Cell(ms_text(account.busy()), account.busy()), Cell(ms_text(account.exposed), account.exposed),
                         Cell(ms_text(account.idle()), account.idle())});
  }
  return grid;
}

std::string measured_note(const TraceComparison& all) {
  const DeviceTrace& trace = all.measured();
  const int steps = all.account().steps;
  const std::string counted = fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
  if (!trace.steps.empty())
    return fmt::format("measured: {} ({}), the mean of {} by its marks ({})", trace.name, trace.kind, counted,
                       trace.steps_by);
  const StepWindow all_of_it = trace.all();
  return fmt::format("measured: {} ({}) marks no steps: all of it, {} ms, counts as {} (--steps)", trace.name,
                     trace.kind, ms_text(all_of_it.end - all_of_it.begin), counted);
}

std::string detail_note(TraceDetail detail) {
  switch (detail) {
    case TraceDetail::kernels:
      return "a moment counts once: for a kernel, else for a collective, which is exposed then, else for a copy "
             "engine, else it is "
             "idle; predicted computation is divided by the model's layers";
    case TraceDetail::computation:
      return "a moment counts once: for computation, else for a collective, which is exposed then, else it is idle; "
             "kernels are "
             "not told apart";
    default:
      return "the trace has communication alone: what is behind computation is not known of it";
  }
}

std::vector<std::string> compare_notes(const TraceComparison& all) {
  const TrainingPoint& point = all.point;
  std::vector<std::string> notes{measured_note(all)};
  std::string predicted =
      fmt::format("predicted: rank 0 as it is simulated, {} step{}; farandole run says {} ms in the mean",
                  all.expected.steps, all.expected.steps == 1 ? "" : "s", ms_text(point.iteration.si()));
  if (point.bands)
    predicted +=
        fmt::format(", {} .. {} ms in 80 %", ms_text(point.bands->iteration.low), ms_text(point.bands->iteration.high));
  notes.push_back(predicted);
  notes.push_back(detail_note(all.detail));
  if (all.traces.size() > 1)
    notes.emplace_back(
        "slowest: whose step without exposed communication is longest; the others wait for it in theirs");
  if (!all.peak.empty())
    notes.emplace_back(
        "MFU: six FLOP for each multiply-add of the model, attention over the whole sequence (PaLM, appendix B)");
  if (std::ranges::any_of(all.peak,
                          [](const PeakShare& share) { return std::min(share.measured, share.predicted) < 0; }))
    notes.emplace_back(
        "a share below zero: fewer FLOP than are counted (Winograd's convolutions), or a peak of another precision");
  notes.insert(notes.end(), all.notes.begin(), all.notes.end());
  return notes;
}

Record compare_chart(const TraceComparison& all) {
  Record rows = Record::array();
  for (const ComparedPart& part : all.parts) {
    if (std::max(part.measured, part.predicted) < worth_a_bar * all.account().seconds) continue;
    for (const auto& [side, seconds] : {std::pair("measured", part.measured), std::pair("predicted", part.predicted)}) {
      const std::string name = part.name + ", " + side;
      rows.push_back({{"series", name}, {"x", name}, {"y", seconds * milliseconds_per_second}});
    }
  }
  return {{"axis", ""},   {"measure", "time of a step"},
          {"unit", "ms"}, {"share", false},
          {"rows", rows}, {"accent", all.parts.front().name + ", measured"}};
}

/// Of what was measured.
Record peak_chart(const TraceComparison& all) {
  Record rows = Record::array();
  for (const PeakShare& share : all.peak) rows.push_back({{"name", share.name}, {"seconds", share.measured}});
  return {{"rows", rows}, {"total", all.account().seconds}};
}

Record pair_record(double measured, double predicted) {
  return {{"measured_seconds", measured}, {"predicted_seconds", predicted}};
}

Record named_pair(const std::string& name, double measured, double predicted) {
  Record record{{"name", name}};
  record.update(pair_record(measured, predicted));
  return record;
}

Record parts_record(const TraceComparison& all) {
  Record parts = Record::array();
  for (const ComparedPart& part : all.parts) {
    Record record = named_pair(part.name, part.measured, part.predicted);
    record["ratio"] = part.predicted > 0 ? Record(part.measured / part.predicted) : Record();
    record["points_at"] = part.points_at;
    parts.push_back(record);
  }
  return parts;
}

Record collectives_record(const TraceComparison& all) {
  Record collectives = Record::array();
  for (const ComparedCollective& one : compared_collectives(all)) {
    Record record = named_pair(one.name, one.measured, one.predicted);
    record["measured_exposed_seconds"] = one.measured_exposed;
    record["predicted_exposed_seconds"] = one.predicted_exposed;
    collectives.push_back(record);
  }
  return collectives;
}

Record traces_record(const TraceComparison& all) {
  Record traces = Record::array();
  for (const std::size_t i : ranks_in_order(all)) {
    const StepAccount& account = all.accounts[i];
    const DeviceTrace& trace = all.traces[i];
    traces.push_back({{"name", trace.name},
                      {"kind", trace.kind},
                      {"steps", account.steps},
                      {"marked_by", trace.steps.empty() ? Record() : Record(trace.steps_by)},
                      {"step_seconds", account.seconds},
                      {"busy_seconds", account.busy()},
                      {"exposed_seconds", account.exposed},
                      {"idle_seconds", account.idle()}});
  }
  return traces;
}

Record compare_record(const TraceComparison& all) {
  Record unnamed = Record::array();
  for (const auto& [name, seconds] : largest_unnamed(all)) unnamed.push_back({{"name", name}, {"seconds", seconds}});
  Record peak = Record::array();
  for (const PeakShare& share : all.peak) peak.push_back(named_pair(share.name, share.measured, share.predicted));
  Record mfu;
  if (!all.peak.empty()) {
    const double ideal = all.peak.front().measured;
    mfu = {{"measured", ideal / all.account().seconds}, {"predicted", ideal / all.expected.seconds}};
  }
  return {{"step", pair_record(all.account().seconds, all.expected.seconds)},
          {"parts", parts_record(all)},
          {"communication", collectives_record(all)},
          {"mfu", mfu},
          {"from_peak", peak},
          {"other_kernels", unnamed},
          {"traces", traces_record(all)},
          {"predicted_steps", all.expected.steps},
          {"point", to_record(all.point)}};
}

QuestionAnswer compare_answer(const TraceComparison& all, const CompareArguments& arguments) {
  QuestionAnswer result{
      "compare", arguments.scenario.file, compare_headline(all), {parts_grid(all)}, compare_notes(all), {}, {},
      {},        compare_record(all)};
  if (all.detail != TraceDetail::communication && !compared_collectives(all).empty())
    result.grids.push_back(collectives_grid(all));
  if (!all.peak.empty()) result.grids.push_back(peak_grid(all));
  if (!all.account().unnamed.empty()) result.grids.push_back(unnamed_grid(all));
  if (all.traces.size() > 1) result.grids.push_back(ranks_grid(all));
  result.options.push_back("predicted: farandole run " + shell_word(arguments.scenario.file) +
                           given("--set", arguments.scenario.settings) + " --timeline FILE");
  result.chart = Chart{"bars", "parts", "A step in milliseconds, part by part, the largest difference first"};
  result.drawn = compare_chart(all);
  if (!all.peak.empty()) {
    result.second_chart =
        Chart{"waterfall", "peak", "The measured step, from what its FLOP take at the peak of the device"};
    result.second_drawn = peak_chart(all);
  }
  return result;
}

void check_compared_files(const CompareArguments& arguments) {
  Targets files;
  files.reads("the trace", arguments.trace);
  for (const std::string& file : arguments.others) files.reads("--trace", file);
  files.reads("the scenario", arguments.scenario.file);
  files.writes("--timeline", arguments.timeline);
  arguments.output.add_to(files);
  arguments.pages.add_to(files);
  files.check();
}

std::vector<DeviceTrace> traces_given(const CompareArguments& arguments) {
  std::vector<DeviceTrace> traces = read_trace(arguments.trace);
  for (const std::string& file : arguments.others) {
    for (DeviceTrace& trace : read_trace(file)) traces.push_back(std::move(trace));
  }
  return traces;
}

void answer_compare(const CompareArguments& arguments) {
  check_forms(arguments.output, arguments.pages);
  check_compared_files(arguments);
  std::optional<int> steps;
  if (!arguments.steps.empty()) steps = whole_number("--steps", arguments.steps, 1);
  std::vector<DeviceTrace> traces = traces_given(arguments);
  const Catalogue catalogue;
  Document document = arguments.cost.within(arguments.scenario.file, [&] {
    return anchored(expand_sweep(arguments.scenario.read()).back().document, catalogue);
  });
  document.remove("/question");
  RunOptions options;
  options.budget = arguments.cost.most();
  options.network = arguments.cost.solver();
  const TraceComparison all = arguments.cost.within(arguments.scenario.file, [&] {
    return compare_traces(std::move(traces), {document, catalogue, options}, steps);
  });
  write_question_answer(compare_answer(all, arguments), arguments.output, arguments.pages);
  if (arguments.timeline.empty()) return;
  write_file(arguments.timeline, [&](std::ostream& out) {
    write_compared_timeline(out, {{"measured", all.measured(), all.windows[all.slowest]},
                                  {"predicted", all.predicted, all.predicted_windows}});
  });
}

}  // namespace

void add_compare(CLI::App& app) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare a measured trace with its prediction: kernels, exposed communication, idle");
  command
      ->add_option("trace", arguments->trace,
                   "of one rank: PyTorch's profiler (JSON), Chakra (JSON of chakra_trace_link), Horovod's timeline, "
                   "farandole run "
                   "--timeline, or nsys stats --report cuda_gpu_trace --format csv")
      ->required()
      ->type_name("TRACE");
  arguments->scenario.add_to(*command, "the scenario file; of a sweep, its last configuration counts");
  command->add_option("--trace", arguments->others, "of another rank; may be repeated: the slowest is compared")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--steps", arguments->steps, "in the trace, where it marks none (default: 1)")->type_name("N");
  command
      ->add_option("--timeline", arguments->timeline,
                   "write both as one Chrome trace for Perfetto: measured and predicted")
      ->type_name("FILE");
  arguments->cost.add_network_to(*command);
  arguments->cost.add_budget_to(*command);
  arguments->output.add_file_to(*command, "table or json");
  arguments->pages.add_to(*command);
  command->footer(
      "Example:\n"
      "  farandole run scenarios/llama3-8b-fsdp-h100.json --timeline trace.json\n"
      "  farandole compare trace.json scenarios/llama3-8b-fsdp-h100.json --timeline both.json");
  command->callback([arguments] { answer_compare(*arguments); });
}

}  // namespace farandole
