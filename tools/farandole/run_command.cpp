// farandole run: a scenario to result points.
#include <algorithm>
#include <iostream>
#include <memory>

#include <unistd.h>

#include "output_options.hpp"
#include "report/chrome_trace.hpp"
#include "report/comparison.hpp"
#include "report/training_report.hpp"
#include "scenario/run.hpp"

namespace farandole {
namespace {

struct RunArguments {
  std::string scenario;
  std::vector<std::string> settings;
  std::string launch;
  std::string fidelity;
  std::string seed;
  std::string timeline;
  bool quiet = false;
  bool no_fold = false;
  bool explain = false;
  OutputOptions output;
};

bool has_member(const Document& document, std::string_view key) {
  const auto members = document.root().members();
  return std::ranges::any_of(members, [&](const auto& member) { return member.first == key; });
}

Document read_document(const RunArguments& arguments) {
  Document document = Document::read(arguments.scenario);
  for (const std::string& assignment : arguments.settings) set_value(document, assignment);
  if (!arguments.launch.empty()) {
    document.set("/platform/launch", Node{arguments.launch, 0, std::make_shared<const std::string>("--launch")});
  }
  if (!arguments.seed.empty()) {
    if (!has_member(document, "measure")) document.set("/measure", "{}");
    document.set("/measure/seed", arguments.seed);
  }
  return document;
}

void show_progress(int done, int all) {
  std::cerr << "\r" << done << " of " << all << " points" << (done + 1 == all ? "\r" : "") << std::flush;
}

void clear_progress() {
  std::cerr << "\r                              \r" << std::flush;
}

void write_timeline(const RunResult& result, const std::string& file, bool quiet) {
  write_file(file, [&](std::ostream& out) {
    write_chrome_trace(out, *result.timeline, {result.scenario, result.settings});
  });
  if (quiet) return;
  const TrainingPoint& last = result.points.back();
  std::cerr << "timeline of rank 0: " << file << " (" << last.model << ", " << last.ranks << " ranks, " << last.fidelity
            << "; " << result.timeline->spans().size() << " spans, " << result.timeline->dropped()
            << " events beyond the cap left out)\n";
}

std::optional<std::string> timeline_file(const RunArguments& arguments, const RunResult& result) {
  if (!arguments.timeline.empty()) return arguments.timeline;
  return result.timeline_file;
}

void run(const RunArguments& arguments) {
  const Format format = arguments.output.chosen_format();
  const Document document = read_document(arguments);
  RunOptions options;
  options.fidelities = parse_fidelities(arguments.fidelity);
  if (arguments.no_fold) options.folding = FoldingPolicy::never;
  options.explain = arguments.explain;
  options.record_timeline = !arguments.timeline.empty();
  const bool progress = !arguments.quiet && isatty(STDERR_FILENO) != 0;
  if (progress) options.progress = show_progress;
  const RunResult result = run_document(document, Catalogue(), options);
  if (progress) clear_progress();
  if (!arguments.quiet) {
    for (const std::string& ignored : result.ignored) std::cerr << "ignored, no meaning here: " << ignored << "\n";
  }
  arguments.output.write([&](std::ostream& out) {
    const auto write = options.fidelities.size() > 1 ? write_training_comparison : write_training;
    write(out, format, {result.scenario, result.settings}, result.points);
  });
  if (const auto file = timeline_file(arguments, result)) write_timeline(result, *file, arguments.quiet);
}

}  // namespace

void add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      app.add_subcommand("run", "Simulate a scenario: iteration time, throughput, scaling efficiency, and why");
  command->add_option("scenario", arguments->scenario, "a file such as scenarios/horovod-512-roce25.json")
      ->required()
      ->type_name("SCENARIO.json");
  command->add_option("--set", arguments->settings, "replace a value of the scenario; may be repeated")
      ->type_name("/POINTER=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--launch", arguments->launch,
                   "a horovodrun, mpirun or aprun line, pasted: sets ranks and placement")
      ->type_name("LINE");
  command->add_option("--fidelity", arguments->fidelity, fidelity_choices)->type_name("LEVEL");
  command->add_flag("--no-fold", arguments->no_fold,
                    "simulate every rank, even where one can stand for many (slower, the same to rounding)");
  command->add_flag("--explain", arguments->explain,
                    "waterfall from ideal to actual, critical path, and what would help, of every point");
  command->add_option("--seed", arguments->seed, "the seed of all that is random")->type_name("N");
  command->add_option("--timeline", arguments->timeline, "write a Chrome trace of rank 0, as HOROVOD_TIMELINE does")
      ->type_name("FILE")
      ->envname("HOROVOD_TIMELINE");
  command->add_flag("--quiet", arguments->quiet, "no messages and no progress on stderr");
  arguments->output.add_to(*command);
  command->footer(
      "Example:\n"
      "  farandole run scenarios/horovod-512-roce25.json --set /workload/batch_per_rank=32 --format csv");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace farandole
