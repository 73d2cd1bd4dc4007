// farandole explore: a scenario as a page that simulates, whose settings are turned in a browser.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "cost_options.hpp"
#include "explore_controls.hpp"
#include "plan_messages.hpp"
#include "question_answer.hpp"
#include "report/output_file.hpp"
#include "report/pages.hpp"
#include "scenario/run.hpp"
#include "simulate/library/library.hpp"
#include "targets.hpp"

namespace farandole {
namespace {

/// Deep enough for a scenario that names its files by "../..".
constexpr const char* working_folder = "/a/b/c/d/e/f/g/h";

struct ExploreArguments {
  ScenarioArguments scenario;
  std::string html;
  bool quiet = false;
  CostOptions cost;
};

bool is_page_of_ours(const std::filesystem::path& file) {
  std::string begin(1000, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find("content=\"farandole explore\"") != std::string::npos;
}

RunOptions options_of_page(const Budget& budget) {
  RunOptions options;
  options.budget = budget;
  options.bands = false;
  options.network = NetworkSolver::own;
  return options;
}

/// The last configuration of the sweep, with as many iterations as a page has time for.
PlannedPoint first_point(const Document& written, const Catalogue& catalogue, const Budget& budget) {
  const RunPlan plan = plan_run(written, catalogue, options_of_page(budget));
  const PlannedPoint last = read_point(plan.points.back(), catalogue);
  Document document = last.document;
  take_few_iterations(document, last.scenario.measure);  // every move of a slider runs some twenty points
  document.set("/measure/bands", "false");
  document.remove("/question");
  return read_point(plan_run(document, catalogue, options_of_page(budget)).points.front(), catalogue);
}

Record to_record(const Control& control) {
  Record values = Record::array();
  for (const ControlValue& value : control.values) values.push_back({{"text", value.text}, {"set", value.set}});
  return {{"id", control.id},
          {"label", control.label},
          {"is_ordered", control.is_ordered},
          {"values", values},
          {"at", control.at}};
}

/// All that was read, and every library, one of which may be chosen in the page, by its path in the simulator's memory.
Record files_read(const Catalogue& catalogue) {
  Record files = Record::object();
  std::map<std::filesystem::path, std::string> texts = catalogue.texts();
  for (const Library* library : libraries()) texts.insert(library->texts.begin(), library->texts.end());
  for (const auto& [file, text] : texts) {
    const auto inside = file.lexically_relative(catalogue.root());
    const bool is_data = !inside.empty() && inside.begin()->string() != "..";
    files[is_data ? ("/data" / inside).string() : file.string()] = text;
  }
  return files;
}

/// Along which the curve goes: what the slider of ranks has.
Record ranks_of(const std::vector<Control>& controls, int own) {
  Record ranks = Record::array();
  const auto found = std::ranges::find(controls, "ranks", &Control::id);
  if (found == controls.end()) return {own};
  for (const ControlValue& value : found->values) ranks.push_back(std::stoi(value.text));
  return ranks;
}

ExplorePage explored_page(const ExploreArguments& arguments, const Document& written, const Catalogue& catalogue) {
  const PlannedPoint first = first_point(written, catalogue, arguments.cost.most());
  const TrainingPoint point = run_point(first, catalogue, nullptr);
  const std::vector<Control> controls = controls_of(written, first, catalogue);
  ExplorePage page;
  page.kicker = fmt::format("{}: explore", first.scenario.name);
  page.note = fmt::format(
      "Every move is simulated in this page by the program's own code: {} iterations, without intervals, links shared "
      "by "
      "Farandole's own solver (--network own). A copied scenario gives the same numbers on the command line.",
      first.scenario.measure.iterations);
  Record& data = page.data;
  data["source"] = std::filesystem::path(arguments.scenario.file).filename().string();
  data["scenario"] = first.document.to_ordered_json();
  data["folder"] = working_folder;
  data["controls"] = Record::array();
  for (const Control& control : controls) data["controls"].push_back(to_record(control));
  data["ranks"] = ranks_of(controls, point.ranks);
  data["expected"] = {{"iteration_seconds", point.iteration.si()},
                      {"samples_per_second", point.samples_per_second},
                      {"scaling_efficiency", point.scaling_efficiency}};
  data["files"] = files_read(catalogue);
  return page;
}

void refuse_what_cannot_be_explored(const Document& document, const std::string& file) {
  if (document.find("/optimise")) {
    throw InputError(Place{file, 0, "/optimise"}, "no search in a scenario to explore", "\"optimise\"");
  }
}

void explore(const ExploreArguments& arguments) {
  require_simulator();
  const Document document = arguments.scenario.read();
  refuse_what_cannot_be_explored(document, arguments.scenario.file);
  const Catalogue catalogue;
  const ExplorePage page =
      arguments.cost.within(arguments.scenario.file, [&] { return explored_page(arguments, document, catalogue); });
  std::string file = arguments.html;
  if (file.empty()) {
    file = std::filesystem::path(arguments.scenario.file).stem().string() + ".explore.html";
    require_free("--html", file, is_page_of_ours, "; --html FILE names another");
  }
  Targets targets;
  targets.reads("the scenario", arguments.scenario.file);
  for (const auto& [read, text] : catalogue.texts()) targets.reads("a file of the scenario", read);
  targets.writes("--html", file);
  targets.check();
  write_file(file, [&](std::ostream& out) { write_explore_page(out, page); });
  if (!arguments.quiet) std::cerr << "page: " << file << "\n";
}

}  // namespace

void add_explore(CLI::App& app) {
  auto* command = app.add_subcommand("explore", "Write a page that simulates a scenario while you move its settings");
  auto arguments = std::make_shared<ExploreArguments>();
  arguments->scenario.add_to(*command, "the scenario file");
  command
      ->add_option("--html", arguments->html, "the page, one file to open offline; SCENARIO.explore.html unless said")
      ->type_name("FILE");
  arguments->cost.add_budget_to(*command);
  command->add_flag("--quiet", arguments->quiet, "no messages on stderr");
  command->footer(
      "Sliders for ranks, network, batch, fusion, algorithm, precision, stragglers and whatever the scenario sweeps;\n"
      "efficiency curve, waterfall and one iteration follow. The page simulates by itself, compiled to WebAssembly.\n"
      "Example:\n"
      "  farandole explore scenarios/horovod-512-roce25.json --html page.html");
  command->callback([arguments] { explore(*arguments); });
}

}  // namespace farandole
