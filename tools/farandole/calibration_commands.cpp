// farandole calibrate and farandole validate: measurements into a topology file, and predictions beside measurements.
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "calibration/fit.hpp"
#include "calibration/published.hpp"
#include "calibration/validation.hpp"
#include "config/section.hpp"
#include "measured_arguments.hpp"
#include "output_options.hpp"
#include "page_options.hpp"
#include "progress_bar.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "scenario/catalogue.hpp"
#include "timeline/quantile.hpp"

namespace farandole {
namespace {

struct CalibrateArguments {
  MeasuredArguments measured;
  std::string output;
  std::string date = "not given";
  std::string hold_out;
  bool force = false;
};

std::string interval(const FittedParameter& parameter) {
  constexpr double both_sides = 1.96;  // standard deviations that hold 95 % of a normal distribution
  if (parameter.unidentified) return "kept: " + *parameter.unidentified;
  const double width = both_sides * parameter.standard_error;
  if (parameter.value <= 0) return "at its lower bound";
  const std::string low = shown(parameter.parameter, std::max(0.0, parameter.value - width));
  const std::string high = shown(parameter.parameter, parameter.value + width);
  return parameter.parameter.kind == ParameterKind::time_per_byte ? high + " .. " + low : low + " .. " + high;
}

CalibrationSummary summary_of(const std::vector<double>& errors, const std::vector<MeasuredTime>& measurements) {
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

std::vector<CalibrationLine> lines_of(const Fit& found) {
  std::vector<CalibrationLine> lines;
  for (const FittedParameter& parameter : all_parameters(found)) {
    lines.push_back({parameter.parameter.name, shown(parameter.parameter, parameter.before),
                     shown(parameter.parameter, parameter.value), interval(parameter)});
  }
  return lines;
}

/// A fit that leaves so much is no calibration.
[[noreturn]] void refuse_to_write(const CalibrationSummary& summary, const std::string& file) {
  throw OutOfTolerance(fmt::format(
      "{} is not written: the fit leaves a median error of {:.1f} %, above {:.0f} %, so that this topology does not "
      "describe what was measured; --force writes it all the same",
      file, 100 * summary.median, 100 * most_error_left));
}

/// What both commands read.
Targets targets_of(const MeasuredArguments& measured) {
  Targets targets;
  for (const std::string& file : measured.files) targets.reads("a file of measurements", file);
  if (!measured.topology.empty()) targets.reads("the topology", measured.topology);
  return targets;
}

void calibrate(const CalibrateArguments& arguments) {
  Targets targets = targets_of(arguments.measured);
  targets.writes("--output", arguments.output);
  targets.check();
  const Document topology = arguments.measured.topology_file();
  const auto measurements = arguments.measured.read();
  const Fit found = fit(topology, measurements);
  Provenance provenance{arguments.date, {}, {}};
  for (const std::string& file : arguments.measured.files)
    provenance.sources.push_back(std::filesystem::path(file).filename().string());
  CalibrationSummary summary = summary_of(found.errors, measurements);
  provenance.forced = summary.median > most_error_left;
  if (!arguments.hold_out.empty()) {
    const auto errors = held_out(topology, measurements, hold_out_named(arguments.hold_out));
    const CalibrationSummary held = summary_of(errors, measurements);
    provenance.held_out = {arguments.hold_out, held.median, held.p90, held.worst};
    summary.held_out = {arguments.hold_out, held.median, held.p90, held.worst};
  }
  Settings settings{{"topology", arguments.measured.topology}};
  if (const auto library = found.topology.find("/transport/library")) {
    settings["transport.library"] = read<std::string>(*library);
  }
  const bool is_written = !provenance.forced || arguments.force;
  if (is_written) {
    const Document calibrated = calibrated_file(found, provenance);
    write_output(std::filesystem::path(arguments.output), std::cout,
                 [&](std::ostream& out) { out << calibrated.to_ordered_json().dump(2) << '\n'; });
  }
  write_calibration(std::cout, {"calibrate", settings}, lines_of(found), summary);
  if (!is_written) refuse_to_write(summary, arguments.output);
}

struct ValidateArguments {
  MeasuredArguments measured;
  bool published = false;
  std::string tolerance;
  std::string hold_out;
  OutputOptions output;
  PageOptions pages;
};

/// What is validated, and what the result says of it.
struct Validation {
  std::vector<ValidationPoint> points;
  Settings settings;
};

Validation validate_measured(const ValidateArguments& arguments) {
  const Document topology = arguments.measured.topology_file();
  const auto measurements = arguments.measured.read();
  Settings settings{{"topology", arguments.measured.topology}};
  if (arguments.hold_out.empty()) return {validate(topology, measurements), settings};
  settings["hold_out"] = arguments.hold_out;
  return {cross_validate(topology, measurements, hold_out_named(arguments.hold_out)), settings};
}

/// `--set` replaces a value of every scenario, also one within an object that a scenario has not.
void adapt(Document& scenario, const std::vector<std::string>& settings) {
  for (const std::string& assignment : settings) {
    const std::string pointer = assignment.substr(0, assignment.find('='));
    for (auto end = pointer.find('/', 1); end != std::string::npos; end = pointer.find('/', end + 1)) {
      const std::string parent = pointer.substr(0, end);
      if (!scenario.find(parent)) scenario.set(parent, "{}");
    }
    set_value(scenario, assignment);
  }
}

Validation validate_all_published(const MeasuredArguments& arguments) {
  PublishedRequest request{arguments.only, [&](Document& scenario) { adapt(scenario, arguments.settings); }, {}};
  ProgressBar bar;
  if (isatty(STDERR_FILENO) != 0) {
    request.progress = [&](int done, int all) {
      bar.show(done + 1, all);
      if (done + 1 == all) bar.clear();
    };
  }
  Settings settings{{"published", "scenarios/published"},
                    {"error", "of the time of a step or a collective, predicted / published - 1"},
                    {"baseline", "linear scaling: a step takes what it takes on one device"}};
  for (const std::string& assignment : arguments.settings)
    settings["set " + assignment.substr(0, assignment.find('='))] = assignment.substr(assignment.find('=') + 1);
  return {validate_published(Catalogue(), request), settings};
}

/// What was typed, as far as results depend on it.
std::string typed(const ValidateArguments& arguments, const MeasuredArguments& measured) {
  return "farandole validate" + given("", measured.files) + (arguments.published ? " --published" : "") +
         given("--topology", {measured.topology}) + given("--only", measured.only) + given("--set", measured.settings) +
         given("--hold-out", {arguments.hold_out});
}

void refuse_half_a_request(const ValidateArguments& arguments) {
  if (arguments.published) return;
  if (arguments.measured.files.empty()) refuse_option("validate", "files with measurements or --published", "neither");
  if (arguments.measured.topology.empty()) refuse_option("--topology", "the topology of the measurements", "nothing");
}

void validate_and_write(const ValidateArguments& arguments) {
  refuse_half_a_request(arguments);
  const Format format = arguments.output.chosen_format();
  arguments.pages.check();
  Targets targets = targets_of(arguments.measured);
  arguments.output.add_to(targets);
  arguments.pages.add_to(targets);
  targets.check();
  const OptionValue tolerance("--tolerance", arguments.tolerance);
  const double most = arguments.tolerance.empty() ? INFINITY : read<Fraction>(tolerance.value()).value;
  const auto [points, settings] =
      arguments.published ? validate_all_published(arguments.measured) : validate_measured(arguments);
  arguments.output.write([&, &points = points, &settings = settings](std::ostream& out) {
    write_validation(out, format, {"validate", settings, {}, {}, arguments.output.settings}, points);
  });
  arguments.pages.write(validation_page({"validate", settings}, typed(arguments, arguments.measured), points));
  if (worst_error(points) > most) {
    throw OutOfTolerance(fmt::format("the worst error is {:.1f} %, outside the tolerance of {}",
                                     100 * worst_error(points), arguments.tolerance));
  }
}

}  // namespace

void add_calibrate(CLI::App& app) {
  auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit a topology's rates and latencies to measurements");
  arguments->measured.add_to(*command);
  command->get_option("measured")->required();
  command->get_option("--topology")->required();
  command->add_option("--output", arguments->output, "the calibrated topology file")->type_name("FILE")->required();
  command->add_option("--date", arguments->date, "when it was measured, for the file's record")->type_name("DATE");
  command
      ->add_option("--hold-out", arguments->hold_out,
                   "also predict every measurement from others alone, leaving out sizes, scales or operations in turn")
      ->type_name("WHAT");
  command->add_flag("--force", arguments->force,
                    "write the file even if the fit leaves a median error above 30 %; it then says so");
  command->footer(
      "Example:\n"
      "  farandole calibrate measured.json --topology ethernet-25g --date 2026-11-21 --output my-cluster.json");
  command->callback([arguments] { calibrate(*arguments); });
}

void add_validate(CLI::App& app) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command = app.add_subcommand("validate", "Set predictions beside measurements");
  arguments->measured.add_to(*command);
  CLI::Option* published = command->add_flag(
      "--published", arguments->published,
      "instead: every run and table of scenarios/published; --only names its files, --set changes every scenario");
  for (const char* name : {"measured", "--topology", "--op", "--algorithm", "--ranks", "--nodes"}) {
    published->excludes(command->get_option(name));
  }
  command->add_option("--tolerance", arguments->tolerance, "exit with 3 if a counted row is further off, as \"10 %\"")
      ->type_name("SHARE");
  command
      ->add_option("--hold-out", arguments->hold_out,
                   "fit to the others first, leaving out sizes, scales or operations in turn")
      ->type_name("WHAT")
      ->excludes(published);
  arguments->output.add_to(*command);
  arguments->pages.add_to(*command);
  command->footer(
      "Example:\n"
      "  farandole validate measured.json --topology my-cluster.json --tolerance \"15 %\"\n"
      "  farandole validate --published --only tf-2017-dgx1");
  command->callback([arguments] { validate_and_write(*arguments); });
}

}  // namespace farandole
