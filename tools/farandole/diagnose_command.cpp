// farandole diagnose: is this step as long as it should be, and if not, why?
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/read_measurements.hpp"
#include "command.hpp"
#include "config/text.hpp"
#include "cost_options.hpp"
#include "diagnosis.hpp"
#include "question_answer.hpp"
#include "step_account.hpp"
#include "step_log.hpp"
#include "trace_reader.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

struct DiagnoseArguments {
  ScenarioArguments scenario;
  std::vector<std::string> measured;
  std::string synthetic;
  std::string kernels;
  std::vector<std::string> allreduce;
  std::string nic;
  std::string copy;
  std::string steps;
  std::string trace;
  std::vector<std::string> ruled_out;
  CostOptions cost;
  OutputOptions output;
  PageOptions pages;
};

constexpr double worth_a_row = 0.005;  // of what is not likely
constexpr std::size_t least_rows = 5;
constexpr double needs_no_more = 0.95;
constexpr double width_of_95 = 1.53;                  // of an 80 % interval, of a normal distribution
constexpr double likely_enough = 0.5;                 // to call a job healthy
constexpr std::size_t most_shown_of_an_option = 300;  // characters; JSON has all

/// "1.2 s on 8 ranks": what stands before "on", and the ranks; 0 where it says none.
std::pair<std::string, int> split_at_ranks(const std::string& option, const std::string& text) {
  const std::size_t place = text.find(" on ");
  if (place == std::string::npos) return {text, 0};
  std::istringstream words(text.substr(place + 4));
  int ranks = 0;
  std::string unit;
  std::string more;
  words >> ranks >> unit;
  if (ranks < 1 || (!unit.empty() && unit != "ranks" && unit != "rank" && unit != "GPUs") || words >> more)
    refuse_option(option, "a number of ranks behind \"on\", as in \"... on 8 ranks\"", text);
  return {text.substr(0, place), ranks};
}

double positive_time(const OptionValue& option) {
  const auto time = read<Seconds>(option.value());
  if (!(time > Seconds(0))) option.value().fail("a time above zero");
  return time.si();
}

Observation read_step(const std::string& text) {
  const auto [time, ranks] = split_at_ranks("--measured", text);
  return {Observation::Of::step, ranks, {}, positive_time(OptionValue("--measured", time))};
}

bool is_file(const std::string& text) {
  std::error_code none;
  return std::filesystem::is_regular_file(text, none);
}

/// Of a file as nccl-tests and others write, the row whose size is nearest to that which is asked for.
std::optional<Observation> read_allreduces(const std::string& path) {
  if (!is_file(path)) return std::nullopt;
  std::vector<MeasuredTime> rows = read_measurements(path, {"allreduce", {}, {}, {}});
  std::erase_if(rows, [](const MeasuredTime& row) { return row.operation != "allreduce" || row.doubt; });
  if (rows.empty()) refuse_option("--allreduce", "a file with allreduces", path);
  const MeasuredTime& nearest = *std::ranges::min_element(
      rows, {}, [](const MeasuredTime& row) { return std::abs(std::log(row.bytes / usual_size_of_allreduces)); });
  return Observation{Observation::Of::allreduce, nearest.ranks, nearest.bytes, nearest.time.si()};
}

Observation read_allreduce(const std::string& text) {
  if (const auto of_file = read_allreduces(text)) return *of_file;
  const auto [what, ranks] = split_at_ranks("--allreduce", text);
  const std::size_t in = what.find(" in ");
  if (in == std::string::npos)
    refuse_option("--allreduce", "a size and a time, as \"256 MiB in 1.9 ms\", or a file of nccl-tests", text);
  const std::string size = what.substr(0, in);
  const OptionValue size_value("--allreduce", size);
  const auto bytes = read<Bytes>(size_value.value());
  if (!(bytes > Bytes(0))) size_value.value().fail("a size above zero");
  return {Observation::Of::allreduce, ranks, bytes, positive_time(OptionValue("--allreduce", what.substr(in + 4)))};
}

Observation read_rate(const std::string& option, const std::string& text, Observation::Of of) {
  return {of, 0, unit_of_transfers, (unit_of_transfers / rate_option(option, text)).si()};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The median of a log.
Observation read_steps(const std::string& path) {
  return {Observation::Of::step, 0, {}, median(step_seconds(read_text(path), path))};
}

/// The median of all steps of all devices, and of their kernels.
std::vector<Observation> read_profile(const std::string& path) {
  std::vector<double> steps;
  std::vector<double> kernels;
  bool has_kernels = true;
  for (const DeviceTrace& trace : read_trace(path)) {
    if (trace.steps.empty())
      refuse_option("--trace", "a trace that marks its steps, as torch.profiler's step() does", path);
    for (const StepWindow& window : trace.steps) {
      const StepAccount account = account_of(trace, trace.detail, {window}, 1);
      steps.push_back(account.seconds);
      kernels.push_back(account.busy());
    }
    has_kernels = has_kernels && trace.detail != TraceDetail::communication;
  }
  std::vector<Observation> all{{Observation::Of::step, 0, {}, median(steps)}};
  if (has_kernels) all.push_back({Observation::Of::kernels, 0, {}, median(kernels)});
  return all;
}

std::vector<Observation> observations_of(const DiagnoseArguments& arguments) {
  std::vector<Observation> all;
  if (!arguments.steps.empty()) all.push_back(read_steps(arguments.steps));
  if (!arguments.trace.empty()) std::ranges::copy(read_profile(arguments.trace), std::back_inserter(all));
  for (const std::string& text : arguments.measured) all.push_back(read_step(text));
  if (!arguments.synthetic.empty()) {
    const OptionValue option("--synthetic", arguments.synthetic);
    all.push_back({Observation::Of::step_on_synthetic_data, 0, {}, positive_time(option)});
  }
  if (!arguments.kernels.empty()) {
    const OptionValue option("--kernels", arguments.kernels);
    all.push_back({Observation::Of::kernels, 0, {}, positive_time(option)});
  }
  for (const std::string& text : arguments.allreduce) all.push_back(read_allreduce(text));
  if (all.empty())
    refuse_option("--measured",
                  "what a step takes, as --measured \"1.2 s\" (or --steps FILE, --trace FILE, or --allreduce)",
                  "nothing");
  if (!arguments.nic.empty()) all.push_back(read_rate("--nic", arguments.nic, Observation::Of::write));
  if (!arguments.copy.empty()) all.push_back(read_rate("--copy", arguments.copy, Observation::Of::copy));
  return all;
}

std::string step_ms(double seconds) {
  return grouped(seconds * milliseconds_per_second, seconds < 0.01 ? 3 : 1);
}

/// In milliseconds; of a transfer its rate, with the unit.
std::string shown(const Observation& one, double seconds) {
  return one.is_transfer() ? fmt::format("{:.3g} GB/s", unit_of_transfers.si() / seconds / 1e9) : step_ms(seconds);
}

std::string shown_with_unit(const Observation& one, double seconds) {
  return shown(one, seconds) + (one.is_transfer() ? "" : " ms");
}

std::string name_of(const Observation& one) {
  switch (one.of) {
    case Observation::Of::step:
      return fmt::format("step on {}", ranks_text(one.ranks));
    case Observation::Of::step_on_synthetic_data:
      return fmt::format("step on {}, synthetic data", ranks_text(one.ranks));
    case Observation::Of::kernels:
      return "computation of a step";
    case Observation::Of::write:
      return "rate of the slowest NIC";
    case Observation::Of::copy:
      return "copies from host to device";
    case Observation::Of::allreduce:
      break;
  }
  return fmt::format("allreduce of {} on {}", format(one.bytes), ranks_text(one.ranks));
}

std::string how_sure(double probability) {
  return probability > 0.99   ? "over 99 %"
         : probability < 0.01 ? "under 1 %"
                              : fmt::format("{:.0f} %", probability * 100);
}

std::string with_severity(const Hypothesis& one) {
  const std::string& severity = one.likeliest().text;
  return severity.empty() ? one.says : fmt::format("{} ({})", one.says, severity);
}

std::vector<std::string> diagnose_headline(const Diagnosis& answer) {
  const Observation& first = answer.observations.front();
  const double expected = answer.healthy().likeliest().seconds.front();
  std::vector<std::string> sentences{fmt::format("{} on {}: {} takes {} ms where {} ms are to be expected ({}).",
                                                 answer.model, answer.platform, name_of(first), step_ms(first.seconds),
                                                 step_ms(expected), signed_percent(first.seconds / expected - 1, 1))};
  const Hypothesis& likely = answer.hypotheses.front();
  if (answer.is_unexplained) {
    sentences.emplace_back("Nothing of what is known here explains that: is the scenario the job that was measured?");
  } else if (likely.name == healthy_name) {
    const Interval& band = answer.bands.front();
    const auto is_inside = [&](double width) {
      return first.seconds >= expected * std::pow(band.low / expected, width) &&
             first.seconds <= expected * std::pow(band.high / expected, width);
    };
    const bool is_likely = likely.probability >= likely_enough;
    const char* verdict = is_inside(1) && is_likely ? "That is as it should be,"
                          : is_inside(1)
                              ? "That is inside its 80 % interval, and no cause stands out: that nothing is wrong is"
                          : is_inside(width_of_95)
                              ? "That is outside its 80 % interval, inside that of 95, and no cause stands out: that "
                                "nothing is wrong is"
                              : "No cause stands out: that nothing is wrong is";
    sentences.push_back(fmt::format("{} as likely as {}.", verdict, how_sure(likely.probability)));
  } else {
    sentences.push_back(
        fmt::format("The likeliest cause: {}, {}.", with_severity(likely), how_sure(likely.probability)));
  }
  if (!answer.next) return sentences;
  const std::string which = answer.next->other == 1
                                ? "the first two apart"
                                : fmt::format("that from \"{}\"", answer.hypotheses[answer.next->other].says);
  const Observation& what = answer.next->what;
  sentences.push_back(fmt::format("What tells {}: {} ({} or {}).", which, name_of(what),
                                  shown_with_unit(what, answer.next->first),
                                  shown_with_unit(what, answer.next->second)));
  return sentences;
}

Grid measured_grid(const Diagnosis& answer) {
  Grid grid{"What was measured",
            {{"of", Align::left}, {"measured (ms)"}, {"expected (ms)"}, {"80 % interval (ms)"}, {"difference"}},
            {}};
  for (std::size_t place = 0; place < answer.observations.size(); ++place) {
    const Observation& one = answer.observations[place];
    const double expected = answer.healthy().likeliest().seconds[place];
    const Interval& band = answer.bands[place];
    const bool is_rate = one.is_transfer();
    grid.rows.push_back({Cell(name_of(one)), Cell(shown(one, one.seconds)), Cell(shown(one, expected)),
                         Cell(fmt::format("{} .. {}", shown(one, is_rate ? band.high : band.low),
                                          shown(one, is_rate ? band.low : band.high))),
                         Cell(signed_percent((is_rate ? expected / one.seconds : one.seconds / expected) - 1, 1))});
  }
  return grid;
}

bool is_shown(const Diagnosis& answer, std::size_t place) {
  const Hypothesis& one = answer.hypotheses[place];
  return place < least_rows || one.probability >= worth_a_row || one.name == healthy_name;
}

Grid suspects_grid(const Diagnosis& answer) {
  Grid grid{"Suspects", {{"cause", Align::left}, {"how bad", Align::left}, {"probability (%)"}}, {}};
  for (const Observation& one : answer.observations)
    grid.columns.push_back({name_of(one) + (one.is_transfer() ? "" : " (ms)")});
  grid.columns.push_back({"where to look", Align::left});
  for (std::size_t place = 0; place < answer.hypotheses.size(); ++place) {
    if (!is_shown(answer, place)) continue;
    const Hypothesis& one = answer.hypotheses[place];
    std::vector<Cell> row{Cell(one.says), Cell(one.likeliest().text),
                          Cell(fmt::format("{:.1f}", one.probability * 100))};
    for (std::size_t which = 0; which < answer.observations.size(); ++which)
      row.emplace_back(shown(answer.observations[which], one.likeliest().seconds[which]));
    row.emplace_back(one.look);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Record diagnose_chart(const Diagnosis& answer) {
  Record rows = Record::array();
  for (std::size_t place = 0; place < answer.hypotheses.size(); ++place) {
    const Hypothesis& one = answer.hypotheses[place];
    if (is_shown(answer, place)) rows.push_back({{"series", one.says}, {"x", one.says}, {"y", one.probability}});
  }
  return {{"axis", ""},   {"measure", "probability"},
          {"unit", ""},   {"share", true},
          {"rows", rows}, {"accent", answer.hypotheses.front().says}};
}

Record observation_record(const Observation& one) {
  constexpr std::array names{"step", "step_on_synthetic_data", "kernels", "allreduce", "nic_write", "host_copy"};
  Record record{{"of", names[static_cast<std::size_t>(one.of)]}, {"ranks", one.ranks}};
  if (!one.is_step()) record["bytes"] = one.bytes.si();
  return record;
}

Record next_record(const Diagnosis& answer) {
  const TellingMeasurement& next = *answer.next;
  Record record = observation_record(next.what);
  record.update({{"command", next.command},
                 {"between", {answer.hypotheses[0].name, answer.hypotheses[next.other].name}},
                 {"first_seconds", next.first},
                 {"second_seconds", next.second},
                 {"apart", next.apart}});
  return record;
}

Record diagnose_record(const Diagnosis& answer) {
  Record measured = Record::array();
  for (std::size_t place = 0; place < answer.observations.size(); ++place) {
    Record record = observation_record(answer.observations[place]);
    record.update({{"measured_seconds", answer.observations[place].seconds},
                   {"expected_seconds", answer.healthy().likeliest().seconds[place]},
                   {"band", {answer.bands[place].low, answer.bands[place].high}}});
    measured.push_back(record);
  }
  Record suspects = Record::array();
  for (const Hypothesis& one : answer.hypotheses) {
    Record severities = Record::array();
    for (const PredictedSeverity& severity : one.severities)
      severities.push_back(
          {{"severity", severity.text}, {"set", set_record(severity.set)}, {"predicted_seconds", severity.seconds}});
    suspects.push_back({{"name", one.name},
                        {"cause", one.says},
                        {"probability", one.probability},
                        {"prior", one.prior},
                        {"likeliest", one.best},
                        {"severities", severities},
                        {"look", one.look}});
  }
  return {{"configuration", set_record(answer.configuration)},
          {"measured", measured},
          {"suspects", suspects},
          {"unexplained", answer.is_unexplained},
          {"next", answer.next ? next_record(answer) : Record()}};
}

QuestionAnswer diagnose_answer(const Diagnosis& answer, const std::string& scenario) {
  QuestionAnswer result{
      "diagnose", scenario, diagnose_headline(answer), {measured_grid(answer), suspects_grid(answer)}, {}, {},
      {},         {},       diagnose_record(answer)};
  result.notes = {
      "probability: how likely each cause is before (assumed: nobody publishes a record of causes), times how likely "
      "the "
      "measured times are where it is there; steps share the error of their devices' compute times",
      "the step of fewer ranks has the first nodes, and neither the slow device nor the bad NIC"};
  if (answer.next) {
    result.notes.push_back(fmt::format("next: {}: {} if \"{}\", {} if \"{}\"; these are {:.1f} of its errors apart",
                                       answer.next->command, shown_with_unit(answer.next->what, answer.next->first),
                                       answer.hypotheses[0].says,
                                       shown_with_unit(answer.next->what, answer.next->second),
                                       answer.hypotheses[answer.next->other].says, answer.next->apart));
  } else if (!answer.is_unexplained && answer.hypotheses[0].probability < needs_no_more) {
    result.notes.push_back("no further measurement tells the likeliest apart: look where the table says");
  }
  result.notes.insert(result.notes.end(), answer.notes.begin(), answer.notes.end());
  if (!answer.configuration.empty()) result.options.push_back("all: " + set_options(answer.configuration));
  for (std::size_t place = 0; place < answer.hypotheses.size() && place < least_rows; ++place) {
    const Hypothesis& one = answer.hypotheses[place];
    const std::string option = set_options(one.likeliest().set);
    if (option.empty()) continue;
    result.options.push_back(one.name + ": " +
                             (option.size() > most_shown_of_an_option ? "see \"set\" of --format json" : option));
  }
  result.chart = Chart{"bars", "suspects", "How likely each cause is"};
  result.drawn = diagnose_chart(answer);
  return result;
}

void answer_diagnose(const DiagnoseArguments& arguments) {
  check_forms(arguments.output, arguments.pages);
  Targets files;
  files.reads("the scenario", arguments.scenario.file);
  if (!arguments.steps.empty()) files.reads("--steps", arguments.steps);
  if (!arguments.trace.empty()) files.reads("--trace", arguments.trace);
  for (const std::string& text : arguments.allreduce) {
    if (is_file(text)) files.reads("--allreduce", text);
  }
  arguments.output.add_to(files);
  arguments.pages.add_to(files);
  files.check();
  const Catalogue catalogue;
  DiagnosisOptions options;
  options.observations = observations_of(arguments);
  options.ruled_out = arguments.ruled_out;
  options.run.budget = arguments.cost.most();
  options.run.network = arguments.cost.solver();
  options.longest_point = arguments.cost.longest_point();
  const Diagnosis answer = arguments.cost.within(
      arguments.scenario.file, [&] { return diagnose(arguments.scenario.read(), catalogue, options); });
  write_question_answer(diagnose_answer(answer, arguments.scenario.file), arguments.output, arguments.pages);
}

}  // namespace

void add_diagnose(CLI::App& app) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* command = app.add_subcommand("diagnose", "Find why a measured step takes longer than it should");
  arguments->scenario.add_to(*command, "the scenario file; of a sweep, its last configuration counts");
  command
      ->add_option(
          "--measured", arguments->measured,
          "what a step takes, as \"1.2 s\", or of the same job on fewer ranks \"1.1 s on 8 ranks\"; may be repeated")
      ->type_name("TIME")
      ->allow_extra_args(false);
  command->add_option("--synthetic", arguments->synthetic, "what a step of the same job takes on synthetic data")
      ->type_name("TIME");
  command
      ->add_option("--kernels", arguments->kernels,
                   "device time of the computation's kernels in a step, by a profile of a rank that waits for others")
      ->type_name("TIME");
  command
      ->add_option("--allreduce", arguments->allreduce,
                   "what all_reduce_perf takes, as \"256 MiB in 1.9 ms\", or \"... on 16 ranks\", or a file of what it "
                   "printed; may be repeated")
      ->type_name("SIZE in TIME")
      ->allow_extra_args(false);
  command->add_option("--nic", arguments->nic, "what ib_write_bw gets from node to node, by the slowest NIC")
      ->type_name("RATE");
  command->add_option("--copy", arguments->copy, "what nvbandwidth gets from the host to a device")->type_name("RATE");
  command
      ->add_option(
          "--steps", arguments->steps,
          "a log whose median counts: a step's time on every line, MLPerf's log, or a table of W&B with _step and "
          "_runtime")
      ->type_name("FILE");
  command
      ->add_option("--trace", arguments->trace,
                   "a trace that marks its steps, as farandole compare reads them: step and kernels")
      ->type_name("FILE");
  command
      ->add_option("--rule-out", arguments->ruled_out,
                   "a suspect that it cannot be, by its name in JSON; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  arguments->cost.add_network_to(*command);
  arguments->cost.add_to(*command);
  arguments->output.add_file_to(*command, "table or json");
  arguments->pages.add_to(*command);
  command->footer("Example:\n  farandole diagnose scenarios/llama3-8b-fsdp-h100.json --measured '1.9 s'");
  command->callback([arguments] { answer_diagnose(*arguments); });
}

}  // namespace farandole
