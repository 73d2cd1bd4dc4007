// farandole calibrate: measurements, of collectives and of training, into a topology file.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/fit.hpp"
#include "calibration/next_measurement.hpp"
#include "calibration/posterior.hpp"
#include "config/section.hpp"
#include "measured_arguments.hpp"
#include "output_options.hpp"
#include "report/reports.hpp"
#include "scenario/catalogue.hpp"
#include "timeline/quantile.hpp"
#include "timeline/validation.hpp"

namespace farandole {
namespace {

struct CalibrateArguments {
  MeasuredArguments measured;
  std::string output;
  std::string date = "not given";
  std::string hold_out;
  bool force = false;
  std::vector<std::string> training;  // files with runs; taken out of `measured`
  RunSources runs{};
  std::vector<std::string> priors;
  std::string format = "table";
};

std::string interval(const FittedParameter& parameter) {
  constexpr double both_sides = 1.96;  // standard deviations that hold 95 % of a normal distribution
  if (parameter.unidentified) return "unchanged: " + *parameter.unidentified;
  const double width = both_sides * parameter.standard_error;
  if (parameter.value <= 0) return "at its lower bound";
  const std::string low = shown(parameter.parameter, std::max(0.0, parameter.value - width));
  const std::string high = shown(parameter.parameter, parameter.value + width);
  return parameter.parameter.kind == ParameterKind::time_per_byte ? high + " .. " + low : low + " .. " + high;
}

CalibrationSummary summary_of_errors(const std::vector<double>& errors, const std::vector<MeasuredTime>& measurements) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    if (!measurements[i].doubt) sizes.push_back(std::abs(errors[i]));
  }
  const auto counted = static_cast<int>(sizes.size());
  return {counted, static_cast<int>(measurements.size()) - counted, median(sizes), quantile(sizes, 0.9),
          quantile(sizes, 1)};
}

/// The errors of every measurement, predicted from others alone.
std::vector<double> held_out(const Document& topology, const std::vector<MeasuredTime>& measurements,
                             HoldOut hold_out) {
  std::vector<double> errors;
  for (const ValidationPoint& point : cross_validate(topology, measurements, hold_out)) errors.push_back(point.error);
  return errors;
}

std::vector<CalibrationLine> lines_of(const Fit& found, const std::vector<MeasuredTime>& measurements) {
  std::vector<CalibrationLine> lines;
  for (const FittedParameter& parameter : all_parameters(found)) {
    lines.push_back({parameter.parameter.name, parameter.parameter.pointer,
                     shown(parameter.parameter, parameter.before), shown(parameter.parameter, parameter.value),
                     interval(parameter), parameter.unidentified});
  }
  for (const NextMeasurement& next : propose_for(found, measurements)) {
    const auto line = std::ranges::find(lines, next.pointer, &CalibrationLine::pointer);
    if (line == lines.end()) continue;
    line->proposal = next.what;
    line->left_after = next.left;
  }
  return lines;
}

void add_scatter(CalibrationSummary& summary, const char* what,
                 const std::vector<std::optional<ScatterOfSizes>>& classes) {
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (!classes[c]) continue;
    summary.scatter.push_back(
        {what, size_classes[c].name, classes[c]->deviation, classes[c]->standard_error, classes[c]->settings});
  }
}

/// A fit that leaves `most_error_left` is no calibration, nor is one that changes nothing and leaves this.
constexpr double most_error_unchanged = 0.05;

[[noreturn]] void refuse_to_write(const CalibrationSummary& summary, const std::string& file, bool changes) {
  if (!changes) {
    throw OutOfTolerance(fmt::format(
        "{} is not written: the fit changes nothing, as nothing of this topology is settled by what was measured, and "
        "leaves a median error of {:.1f} %; --force writes it all the same",
        file, 100 * summary.median));
  }
  throw OutOfTolerance(fmt::format(
      "{} is not written: the fit leaves a median error of {:.1f} %, above {:.0f} %, so that this topology does not "
      "describe what was measured; --force writes it all the same",
      file, 100 * summary.median, 100 * most_error_left));
}

std::vector<std::string> names_of(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(std::filesystem::path(file).filename().string());
  return names;
}

void write_calibrated_file(const std::string& file, const Document& calibrated) {
  write_output(std::filesystem::path(file), std::cout,
               [&](std::ostream& out) { out << calibrated.to_ordered_json().dump(2) << '\n'; });
}

/// What the tables gave, and the file that says so.
struct FromTables {
  Document file;
  Document topology;
  std::vector<CalibrationLine> lines;
  CalibrationSummary summary;
  std::vector<FittedParameter> parameters;
};

FromTables fit_tables(const CalibrateArguments& arguments, const Document& topology) {
  const auto measurements = arguments.measured.read();
  const Fit found = fit(topology, measurements);
  CalibrationSource provenance{arguments.date, names_of(arguments.measured.files), {}};
  CalibrationSummary summary = summary_of_errors(found.errors, measurements);
  add_scatter(summary, "between rows", found.scatter.between_rows);
  add_scatter(summary, "of repetitions", found.scatter.of_repetitions);
  provenance.forced = summary.median > most_error_left;
  if (!arguments.hold_out.empty()) {
    const auto errors = held_out(topology, measurements, hold_out_named(arguments.hold_out));
    const CalibrationSummary held = summary_of_errors(errors, measurements);
    provenance.held_out = {arguments.hold_out, held.median, held.p90, held.worst};
    summary.held_out = provenance.held_out;
  }
  return {calibrated_file(found, provenance), found.topology, lines_of(found, measurements), summary, found.parameters};
}

/// A number that tables settled has what they gave as its prior, and never surer than their own repetitions.
void take_from_tables(std::vector<Unknown>& unknowns, const FromTables& tables) {
  constexpr double surest = 0.05;
  for (const FittedParameter& fitted : tables.parameters) {
    const auto same = std::ranges::find(unknowns, fitted.parameter.pointer,
                                        [](const Unknown& unknown) { return unknown.parameter.pointer; });
    if (same == unknowns.end() || fitted.unidentified || !(fitted.value > 0)) continue;
    same->centre = std::log(fitted.value);
    same->width = std::max(surest, fitted.standard_error / fitted.value);
    same->source = "the tables";
  }
}

/// Of what a machine's numbers leave of runs, most is the jobs' own, and goes with them.
void note_what_stays(const InferenceReport& report) {
  for (const RunLine& run : report.runs) {
    if (!run.note.empty() || std::abs(run.after) <= run.noise) continue;
    fmt::print(
        stderr,
        "note: {} stays {:+.1f} % off: no number of the machine that was tried explains it. Give the job's runs to its "
        "scenario, as \"measured\" of \"workload\", and predictions of it start from them\n",
        run.name, 100 * run.after);
  }
}

/// From runs, with what tables gave, if there were any, as priors.
void calibrate_on_runs(const CalibrateArguments& arguments, Format format, const Document& file,
                       const std::optional<FromTables>& tables, const Settings& settings) {
  const Catalogue catalogue;
  const Document& topology = tables ? tables->topology : file;
  std::vector<Unknown> unknowns = unknowns_of(topology, arguments.priors);
  if (tables) take_from_tables(unknowns, *tables);
  if (unknowns.empty()) refuse_option("--prior", "a prior, as the topology has no number to infer", "nothing");
  const Inferred found = infer_runs(topology, arguments.training, arguments.runs, std::move(unknowns), catalogue);
  std::vector<std::string> sources = names_of(arguments.measured.files);
  std::ranges::copy(names_of(arguments.training), std::back_inserter(sources));
  write_calibrated_file(arguments.output, calibrated_file(tables ? tables->file : file, found.unknowns, found.posterior,
                                                          found.fitted, {arguments.date, sources, {}}));
  const InferenceReport report = report_of(found);
  write_inference(std::cout, format, {"calibrate", settings}, report);
  note_what_stays(report);
}

/// Runs of training apart from tables of collectives.
void tell_apart(CalibrateArguments& arguments) {
  const auto is_table = [](const std::string& file) { return !holds_training(file); };
  std::vector<std::string>& files = arguments.measured.files;
  const auto first = std::ranges::stable_partition(files, is_table).begin();
  arguments.training.assign(first, files.end());
  files.erase(first, files.end());
  if (arguments.training.empty() && !arguments.priors.empty())
    refuse_option("--prior", "runs of training beside it", arguments.priors.front());
}

void calibrate(CalibrateArguments arguments) {
  const auto format = parse_format(arguments.format);
  if (!format || *format == Format::csv) refuse_option("--format", "table or json", arguments.format);
  Targets targets;
  for (const std::string& file : arguments.measured.files) targets.reads("a file of measurements", file);
  const Document topology = arguments.measured.topology_file();
  targets.reads("the topology", topology.source());
  if (!arguments.runs.scenario.empty()) targets.reads("the scenario", arguments.runs.scenario);
  if (arguments.output.empty()) refuse_option("--output", "a file", arguments.output);
  targets.writes("--output", arguments.output);
  targets.check();
  tell_apart(arguments);
  arguments.runs.topology = arguments.measured.topology;
  Settings settings{{"topology", arguments.measured.topology}};
  std::optional<FromTables> tables;
  if (!arguments.measured.files.empty()) {
    tables = fit_tables(arguments, topology);
    if (const auto library = tables->topology.find("/transport/library"))
      settings["transport.library"] = read<std::string>(*library);
  }
  const bool changes = !tables || tables->topology.to_json() != topology.to_json();
  const double most = changes ? most_error_left : most_error_unchanged;
  const bool is_written = !tables || tables->summary.median <= most || arguments.force;
  if (tables && is_written && arguments.training.empty()) write_calibrated_file(arguments.output, tables->file);
  if (tables && (*format == Format::table || arguments.training.empty()))
    write_calibration(std::cout, *format, {"calibrate", settings}, tables->lines, tables->summary);
  if (!is_written) refuse_to_write(tables->summary, arguments.output, changes);
  if (!arguments.training.empty()) calibrate_on_runs(arguments, *format, topology, tables, settings);
}

}  // namespace

void add_calibrate(CLI::App& app) {
  auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command =
      app.add_subcommand("calibrate", "Fit a topology's numbers to measured collectives and training runs");
  arguments->measured.add_to(*command);
  command->get_option("measured")->required();
  command->get_option("--topology")->required();
  command->add_option("--output", arguments->output, "the calibrated topology file")->type_name("FILE")->required();
  command->add_option("--date", arguments->date, "when it was measured, for the file's record")->type_name("DATE");
  command
      ->add_option(
          "--hold-out", arguments->hold_out,
          "also predict every measurement from the others alone, leaving out sizes, scales or operations in turn")
      ->type_name("WHAT");
  command->add_flag("--force", arguments->force,
                    "write the file even if the fit leaves a median error above 30 %; it then says so");
  command->add_option("--scenario", arguments->runs.scenario, "the scenario of the runs in a table of runs (CSV)")
      ->type_name("FILE");
  command
      ->add_option("--prior", arguments->priors,
                   "the 80 % interval of a number before runs of training are seen; may be repeated")
      ->type_name("/POINTER=LOW..HIGH")
      ->allow_extra_args(false);
  command->add_flag("--all-rows", arguments->runs.all_rows,
                    "fit also to those rows of published files that are kept to compare with");
  command->add_option("--format", arguments->format, "table or json")->type_name("FORMAT")->capture_default_str();
  command->footer(
      "Example:\n"
      "  farandole calibrate measured.json --topology ethernet-25g --date 2026-11-21 --output my-cluster.json\n"
      "  farandole calibrate runs.csv --scenario mine.json --topology my-cluster.json --output inferred.json");
  command->callback([arguments] { calibrate(*arguments); });
}

}  // namespace farandole
