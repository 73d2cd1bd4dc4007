// farandole validate: predictions beside measurements.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "calibration/published.hpp"
#include "calibration/validation.hpp"
#include "collective_bands.hpp"
#include "config/section.hpp"
#include "measured_arguments.hpp"
#include "output_options.hpp"
#include "page_options.hpp"
#include "progress_bar.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "scenario/catalogue.hpp"

namespace farandole {
namespace {

/// What the command reads.
Targets measured_targets(const MeasuredArguments& measured) {
  Targets targets;
  for (const std::string& file : measured.files) targets.reads("a file of measurements", file);
  if (!measured.topology.empty()) targets.reads("the topology", measured.topology);
  return targets;
}

struct ValidateArguments {
  MeasuredArguments measured;
  bool published = false;
  bool cold = false;
  std::string tolerance;
  std::string hold_out;
  OutputOptions output;
  PageOptions pages;
};

/// What is validated, and what the result says of it.
struct Validation {
  std::vector<ValidationPoint> points;
  Settings settings;
  RatioPairs ratios{};
};

/// Where the topology was not calibrated, those of published tables.
std::vector<ValidationPoint> with_bands(std::vector<ValidationPoint> points, const Document& file,
                                        const std::vector<MeasuredTime>& measurements) {
  const Topology topology = read_topology(file.root(), file.source());
  const CollectiveBands bands(topology, Catalogue());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto band = points[i].band ? std::nullopt : bands.of(measurements[i]);
    if (band) points[i].band = Band{points[i].predicted * band->least, points[i].predicted * band->most};
  }
  return points;
}

Validation validate_measured(const ValidateArguments& arguments) {
  const Document topology = arguments.measured.topology_file();
  const auto measurements = arguments.measured.read();
  Settings settings{{"topology", arguments.measured.topology}};
  if (arguments.hold_out.empty())
    return {with_bands(validate(topology, measurements), topology, measurements), settings};
  settings["hold_out"] = arguments.hold_out;
  return {cross_validate(topology, measurements, hold_out_named(arguments.hold_out)), settings};
}

/// `--set` replaces a value of every scenario, also one within an object that a scenario has not.
void adapt(Document& scenario, const std::vector<std::string>& settings) {
  for (const std::string& assignment : settings) {
    const std::string pointer = pointer_of(assignment);
    for (auto end = pointer.find('/', 1); end != std::string::npos; end = pointer.find('/', end + 1)) {
      const std::string parent = pointer.substr(0, end);
      if (!scenario.find(parent)) scenario.set(parent, "{}");
    }
    set_value(scenario, assignment);
  }
}

Validation validate_all_published(const MeasuredArguments& arguments, bool cold) {
  PublishedRequest request{arguments.only, [&](Document& scenario) { adapt(scenario, arguments.settings); }, {}};
  request.cold = cold;
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
  if (cold) settings["cold"] = "collectives: from datasheets and libraries' constants alone";
  for (const std::string& assignment : arguments.settings)
    settings["set " + assignment.substr(0, assignment.find('='))] = assignment.substr(assignment.find('=') + 1);
  Validation validation{{}, settings};
  request.ratios = &validation.ratios;
  validation.points = validate_published(Catalogue(), request);
  return validation;
}

/// What was typed, as far as results depend on it.
std::string typed_validation(const ValidateArguments& arguments, const MeasuredArguments& measured) {
  return "farandole validate" + given("", measured.files) + (arguments.published ? " --published" : "") +
         (arguments.cold ? " --cold" : "") + given("--topology", {measured.topology}) + given("--only", measured.only) +
         given("--set", measured.settings) + given("--hold-out", {arguments.hold_out});
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
  Targets targets = measured_targets(arguments.measured);
  arguments.output.add_to(targets);
  arguments.pages.add_to(targets);
  targets.check();
  const OptionValue tolerance("--tolerance", arguments.tolerance);
  const double most = arguments.tolerance.empty() ? INFINITY : read<Fraction>(tolerance.value()).value;
  const auto [points, settings, ratios] =
      arguments.published ? validate_all_published(arguments.measured, arguments.cold) : validate_measured(arguments);
  arguments.output.write([&, &points = points, &settings = settings, &ratios = ratios](std::ostream& out) {
    write_validation(out, format, {"validate", settings, {}, {}, arguments.output.settings}, points, ratios);
  });
  arguments.pages.write(
      validation_page({"validate", settings}, typed_validation(arguments, arguments.measured), points, ratios));
  if (worst_error(points) > most) {
    throw OutOfTolerance(fmt::format("the worst error is {:.1f} %, outside the tolerance of {}",
                                     100 * worst_error(points), arguments.tolerance));
  }
}

}  // namespace

void add_validate(CLI::App& app) {
  auto arguments = std::make_shared<ValidateArguments>();
  CLI::App* command = app.add_subcommand("validate", "Compare predictions with measurements");
  arguments->measured.add_to(*command);
  CLI::Option* published = command->add_flag("--published", arguments->published,
                                             "compare every run and table of scenarios/published instead; --only names "
                                             "its files, --set changes every scenario");
  for (const char* name : {"measured", "--topology", "--op", "--algorithm", "--ranks", "--nodes"}) {
    published->excludes(command->get_option(name));
  }
  command
      ->add_flag("--cold", arguments->cold,
                 "predict tables of collectives from datasheets and libraries' constants alone, without measurements "
                 "of a machine")
      ->needs(published);
  command->add_option("--tolerance", arguments->tolerance, "exit with 3 if a counted row is further off, as \"10 %\"")
      ->type_name("SHARE");
  command
      ->add_option("--hold-out", arguments->hold_out,
                   "fit to the other measurements first, leaving out sizes, scales or operations in turn")
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
